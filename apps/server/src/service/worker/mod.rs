//! Worker: everything that happens without a request. Several processes may run a worker; leases prevent duplicate
//! work.

mod duties;
mod step_context;
mod steps;

use std::sync::Arc;

use chrono::TimeDelta;
use futures_util::future::join_all;
use kontor_adapter_diesel::Database;
use kontor_auth::TemporaryPasswords;
use kontor_catalog::bulk::{ExportRunner, JobRunner};
use kontor_content::FileSweeper;
use kontor_kernel::Clock;
use kontor_organization::TaskMailWorker;
use kontor_payments::{ChargeService, ReceiptService, RefundService};
use kontor_subscriptions::SubscriptionScheduler;
use kontor_webhooks::DeliveryWorker;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::supervision::Supervisor;
use super::time_lock::TimeLock;
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
    /// Unused file contents.
    pub files: FileSweeper,
    /// Background imports.
    pub jobs: Arc<JobRunner>,
    /// Background exports.
    pub exports: Arc<ExportRunner>,
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
