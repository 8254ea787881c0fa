//! Common parts of commands: their options, a runtime, logs, termination.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;
use std::sync::Arc;

use clap::Args;
use kontor_traces::{SpanExporter, TraceLayer};
use tokio::runtime::Runtime;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::Failure;
use crate::adapters::{SystemClock, SystemRandom};
use crate::config::Config;

/// Creates a runtime for everything that is not an HTTP worker thread.
pub fn runtime() -> Result<Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Sends structured logs to standard error, including panics of every thread. Returns the exporter of traces, if there
/// is a collector.
pub fn log(config: &Config) -> Result<Option<SpanExporter>, Failure> {
    let filter: Targets = config.log.parse()?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let traces = TraceLayer::new(Arc::new(SystemRandom::new()), Arc::new(SystemClock));
    let (traces, exporter) = if config.traces_url.is_empty() {
        (traces, None)
    } else {
        let (traces, exporter) = SpanExporter::new(traces, &config.traces_url, config.sampling())?;
        (traces, Some(exporter))
    };
    let spans = Targets::new().with_target(kontor_traces::TARGET, LevelFilter::INFO);
    let chosen = tracing_subscriber::registry().with(traces.with_filter(spans));
    if config.log_format == "text" {
        chosen.with(lines.with_filter(filter)).try_init()
    } else {
        chosen.with(lines.json().with_filter(filter)).try_init()
    }?;
    std::panic::set_hook(Box::new(report_panic));
    Ok(exporter)
}

/// Logs a panic. Threads and tasks with a waiting caller also return an error; for all others this is the only sign.
fn report_panic(panic: &PanicHookInfo<'_>) {
    metrics::counter!("kontor_panics_total").increment(1);
    let (thread, backtrace) = (std::thread::current(), Backtrace::capture());
    let thread = thread.name().unwrap_or("unnamed");
    if backtrace.status() == BacktraceStatus::Captured {
        tracing::error!(%panic, thread, %backtrace, "a thread or a task panicked");
    } else {
        tracing::error!(%panic, thread, "a thread or a task panicked");
    }
}

/// Waits for a termination signal.
pub async fn wait_for_termination() -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminate.recv() => {}
    }
    Ok(())
}

// Without a doc comment: it would appear in the help of the commands.
#[derive(Args, Clone)]
pub struct Output {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Database.
    #[arg(long)]
    pub database: Option<String>,
}
