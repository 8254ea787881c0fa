//! What every long-running command needs: a runtime, logs, an end.

use tokio::runtime::Runtime;
use tracing_subscriber::EnvFilter;

use super::Failure;
use crate::config::Config;

/// A runtime for everything that is not an HTTP worker thread.
pub fn runtime() -> Result<Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Sends structured logs to standard error.
pub fn log(config: &Config) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(&config.log)?;
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if config.log_format == "text" { logs.try_init() } else { logs.json().try_init() }
}

/// Waits for the signal to end.
pub async fn ended() -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminate.recv() => {}
    }
    Ok(())
}
