//! Worker: everything that happens without a request. Several processes may run a worker; leases prevent duplicate
//! work.

mod duties;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::future::join_all;
use kontor_adapter_diesel::Database;
use kontor_auth::{AgentActionService, ApprovalMailWorker, TemporaryPasswords};
use kontor_catalog::bulk::{BlockOn, ExportRunner, JobRunner, RunOutcome};
use kontor_content::FileSweeper;
use kontor_kernel::{Clock, StoreError};
use kontor_organization::TaskMailWorker;
use kontor_payments::{ChargeService, ReceiptService, RefundService};
use kontor_subscriptions::SubscriptionScheduler;
use kontor_web::InProcess;
use kontor_webhooks::DeliveryWorker;
use tokio::runtime::Handle;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::supervision::{Supervisor, sleep};
use duties::DUTIES;

/// Dependencies of a worker.
pub struct Worker {
    /// Unique name of this process in leases.
    pub name: String,
    /// Database, for the heartbeat.
    pub database: Database,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Events and webhook deliveries.
    pub deliveries: DeliveryWorker,
    /// Charges with an unknown outcome.
    pub charges: Arc<ChargeService>,
    /// Refunds with an unknown outcome.
    pub refunds: RefundService,
    /// Due subscriptions.
    pub subscriptions: SubscriptionScheduler,
    /// Receipts that are not registered yet.
    pub receipts: ReceiptService,
    /// Retention time of finished records.
    pub retention: TimeDelta,
    /// Temporary passwords that employees requested.
    pub passwords: Arc<TemporaryPasswords>,
    /// E-mails to employees about tasks.
    pub task_mails: TaskMailWorker,
    /// E-mails to employees about calls of agents that wait for approval.
    pub approval_mails: ApprovalMailWorker,
    /// Unused file contents.
    pub files: FileSweeper,
    /// Background imports.
    pub jobs: Arc<JobRunner>,
    /// Background exports.
    pub exports: Arc<ExportRunner>,
    /// Approved calls of agents.
    pub agent_calls: AgentActionService,
    /// Executes them.
    pub in_process: InProcess,
    /// Lock shared with a component that moves the time, if any.
    pub turns: Option<TimeLock>,
    /// Reports the duties that are down.
    pub supervisor: Supervisor,
}

/// Worker that runs in the background.
pub struct RunningWorker {
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl RunningWorker {
    /// Lets the current steps finish, releases the leases, and ends.
    pub async fn stop(self) {
        self.stop.cancel();
        if let Err(error) = self.running.await {
            tracing::warn!(%error, "the worker ended with an error");
        }
    }
}

impl Worker {
    /// Starts the worker in the background. `ended` is cancelled when the worker ends for any reason.
    pub fn start(self, ended: DropGuard) -> RunningWorker {
        let stop = CancellationToken::new();
        let until = stop.clone();
        let running = tokio::spawn(async move {
            let _ended = ended;
            self.run(until).await;
        });
        RunningWorker { stop, running }
    }

    /// Runs until `stop` is cancelled. The duties run concurrently: a slow receiver delays no payment.
    async fn run(self, stop: CancellationToken) {
        let slots = DUTIES.iter().flat_map(|duty| (0..duty.at_once).map(move |slot| (duty, slot)));
        join_all(slots.map(|(duty, slot)| duty.attend(&self, slot, &stop))).await;
        if let Err(error) = self.deliveries.release(&self.name).await {
            tracing::warn!(%error, "leases could not be released; they expire by themselves");
        }
        if let Err(error) = self.database.delete_worker(&self.name).await {
            tracing::warn!(%error, "the worker could not be deregistered");
        }
    }
}

/// Pause of a duty without work before it polls again.
const IDLE: Duration = Duration::from_millis(200);

/// Error of a failed step. It is logged, and the duty continues.
type StepError = Box<dyn std::error::Error + Send + Sync>;

/// Context of a step.
#[derive(Clone, Copy)]
struct StepContext<'a> {
    /// Index among the concurrent steps, from 0.
    pub slot: u32,
    /// Number of steps so far, including this one.
    pub round: u64,
    /// Unique name of this step in leases, which are renewed while it runs.
    pub owner: &'a str,
    /// Cancelled when the worker must end.
    pub stop: &'a CancellationToken,
}

/// Pauses a free delivery slot before it polls again.
async fn pause(stop: &CancellationToken) {
    sleep(IDLE, stop).await;
}

/// Waits on a blocking thread for the runtime that started it.
pub struct OnRuntime(pub Handle);

impl BlockOn for OnRuntime {
    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

/// Runs a job on a blocking thread, which reads or writes its file.
pub async fn on_a_thread(
    run: impl FnOnce(&OnRuntime) -> Result<RunOutcome, StoreError> + Send + 'static,
) -> Result<RunOutcome, StoreError> {
    let runtime = OnRuntime(Handle::current());
    let done = tokio::task::spawn_blocking(move || run(&runtime)).await;
    done.unwrap_or_else(|error| Err(StoreError::Failed(error.to_string())))
}

/// Time-dependent steps of the worker share the lock; moving the time takes it exclusively.
#[derive(Clone, Default)]
pub struct TimeLock(Arc<RwLock<()>>);

impl TimeLock {
    /// Takes the shared lock for a step. Returns `None` if `stop` is cancelled before.
    async fn step(&self, stop: &CancellationToken) -> Option<OwnedRwLockReadGuard<()>> {
        tokio::select! {
            turn = self.0.clone().read_owned() => Some(turn),
            () = stop.cancelled() => None,
        }
    }

    /// Takes the exclusive lock for moving the time: no step is running, and none begins.
    pub async fn alone(&self) -> OwnedRwLockWriteGuard<()> {
        self.0.clone().write_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn steps_share_the_lock_and_time_travel_is_exclusive() {
        let (turns, stop) = (TimeLock::default(), CancellationToken::new());
        let (one, other) = (turns.step(&stop).await, turns.step(&stop).await);
        assert!(one.is_some() && other.is_some());
        drop(one);
        let soon = Duration::from_millis(20);
        assert!(tokio::time::timeout(soon, turns.alone()).await.is_err(), "a step is under way");
        drop(other);
        let alone = turns.alone().await;
        assert!(tokio::time::timeout(soon, turns.step(&stop)).await.is_err(), "no step begins");
        stop.cancel();
        assert!(turns.step(&stop).await.is_none(), "whoever is to end does not wait");
        drop(alone);
    }
}
