//! Jobs: the thread that reads or writes the file, and the runtime it waits for.

use std::sync::Arc;

use kontor_catalog::bulk::{ExportRunner, JobRunner, LeasedExport, LeasedJob, Progress, RunOutcome, Waits};
use kontor_kernel::StoreError;
use tokio::runtime::Handle;

/// A thread that may block waits for the runtime it came from.
pub struct OnRuntime(pub Handle);

impl Waits for OnRuntime {
    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

/// Works on a job until it is over, or until `watch` wants no more.
pub async fn work(
    runner: Arc<JobRunner>,
    leased: LeasedJob,
    mut watch: impl FnMut(Progress) -> bool + Send + 'static,
) -> Result<RunOutcome, StoreError> {
    let runtime = OnRuntime(Handle::current());
    let done = tokio::task::spawn_blocking(move || runner.run(&runtime, &leased, &mut watch));
    done.await.unwrap_or_else(|error| Err(StoreError::Failed(error.to_string())))
}

/// Makes the file of an export, until `watch` wants no more.
pub async fn export(
    runner: Arc<ExportRunner>,
    leased: LeasedExport,
    mut watch: impl FnMut(Progress) -> bool + Send + 'static,
) -> Result<RunOutcome, StoreError> {
    let runtime = OnRuntime(Handle::current());
    let done = tokio::task::spawn_blocking(move || runner.run(&runtime, &leased, &mut watch));
    done.await.unwrap_or_else(|error| Err(StoreError::Failed(error.to_string())))
}
