//! Jobs: a thread that reads or writes the file, and the runtime that it waits for.

use std::sync::Arc;

use kontor_catalog::bulk::{BlockOn, ExportRunner, JobRunner, LeasedExport, LeasedJob, Progress, RunOutcome};
use kontor_kernel::StoreError;
use tokio::runtime::Handle;

/// Waits on a blocking thread for the runtime that started it.
pub struct OnRuntime(pub Handle);

impl BlockOn for OnRuntime {
    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

/// Runs an import until it ends or `watch` returns `false`.
pub async fn work(
    runner: Arc<JobRunner>,
    leased: LeasedJob,
    mut watch: impl FnMut(Progress) -> bool + Send + 'static,
) -> Result<RunOutcome, StoreError> {
    let runtime = OnRuntime(Handle::current());
    let done = tokio::task::spawn_blocking(move || runner.run(&runtime, &leased, &mut watch));
    done.await.unwrap_or_else(|error| Err(StoreError::Failed(error.to_string())))
}

/// Creates the file of an export until it ends or `watch` returns `false`.
pub async fn export(
    runner: Arc<ExportRunner>,
    leased: LeasedExport,
    mut watch: impl FnMut(Progress) -> bool + Send + 'static,
) -> Result<RunOutcome, StoreError> {
    let runtime = OnRuntime(Handle::current());
    let done = tokio::task::spawn_blocking(move || runner.run(&runtime, &leased, &mut watch));
    done.await.unwrap_or_else(|error| Err(StoreError::Failed(error.to_string())))
}
