//! Common parts of commands: their options, a runtime, logs, termination, and atomic writes of files.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Read};
use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use kontor_kernel::ProjectId;
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
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
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

// As above.
#[derive(Args)]
pub struct OfProject {
    /// Project.
    #[arg(long)]
    project: i64,
    #[command(flatten)]
    pub output: Output,
}

impl OfProject {
    /// Returns the selected project.
    pub fn project(&self) -> Result<ProjectId, Failure> {
        project(self.project)
    }
}

/// Reads the option `--project`.
pub(super) fn project(number: i64) -> Result<ProjectId, Failure> {
    ProjectId::new(number).map_err(|error| format!("--project {error}").into())
}

/// Writes a temporary file in the same folder and renames it when it is completely on disk. On failure the temporary
/// file is deleted, and an existing file stays.
pub(super) fn write_whole(path: &Path, content: &mut impl Read) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    io::copy(content, &mut file)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that returns some bytes, then fails as if the disk were full.
    struct FailingReader(bool);

    impl Read for FailingReader {
        fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            place[0] = b'a';
            Ok(1)
        }
    }

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.csv");
        assert!(write_whole(&path, &mut FailingReader(false)).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        write_whole(&path, &mut &b"whole"[..]).unwrap();
        assert!(write_whole(&path, &mut FailingReader(false)).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
