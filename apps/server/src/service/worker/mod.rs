//! The worker: everything that happens without a request. Any number of processes may run one; leases keep them apart.

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
use kontor_organization::TaskMails;
use kontor_payments::{ChargeService, ReceiptService, RefundService};
use kontor_subscriptions::SubscriptionScheduler;
use kontor_webhooks::DeliveryWorker;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::supervision::Supervisor;
use super::turns::Turns;
use duties::DUTIES;

/// What a worker works with.
pub struct Worker {
    /// Names this process in leases; no other process may have the same name.
    pub name: String,
    /// The database, for the proof of life.
    pub database: Database,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Events and webhook deliveries.
    pub deliveries: DeliveryWorker,
    /// Charges whose outcome is not known yet.
    pub charges: Arc<ChargeService>,
    /// Refunds whose outcome is not known yet.
    pub refunds: RefundService,
    /// Subscriptions whose time has come.
    pub subscriptions: SubscriptionScheduler,
    /// Receipts that are not registered yet.
    pub receipts: ReceiptService,
    /// How long what is over is kept.
    pub retention: TimeDelta,
    /// Temporary passwords that employees asked for.
    pub passwords: Arc<TemporaryPasswords>,
    /// What employees are to be told of tasks.
    pub task_mails: TaskMails,
    /// Contents of files that nobody has any more.
    pub files: FileSweeper,
    /// Imports in the background.
    pub jobs: Arc<JobRunner>,
    /// Exports in the background.
    pub exports: Arc<ExportRunner>,
    /// Whom the steps that depend on the time take turns with, where somebody moves it.
    pub turns: Option<Turns>,
    /// Knows which duties are down.
    pub supervisor: Supervisor,
}

/// A worker that runs in the background.
pub struct RunningWorker {
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl RunningWorker {
    /// Lets the step in progress end, gives the leases back, ends.
    pub async fn stop(self) {
        self.stop.cancel();
        if let Err(error) = self.running.await {
            tracing::warn!(%error, "the worker ended badly");
        }
    }
}

impl Worker {
    /// Starts working in the background. `ended` is cancelled when the worker ends, whatever the reason.
    pub fn start(self, ended: DropGuard) -> RunningWorker {
        let stop = CancellationToken::new();
        let until = stop.clone();
        let running = tokio::spawn(async move {
            let _ended = ended;
            self.run(until).await;
        });
        RunningWorker { stop, running }
    }

    /// Works until told to stop. The duties run side by side: a slow receiver delays no payment.
    async fn run(self, stop: CancellationToken) {
        let slots = DUTIES.iter().flat_map(|duty| (0..duty.at_once).map(move |slot| (duty, slot)));
        join_all(slots.map(|(duty, slot)| duty.attend(&self, slot, &stop))).await;
        if let Err(error) = self.deliveries.release(&self.name).await {
            tracing::warn!(%error, "leases could not be given back; they run out by themselves");
        }
        if let Err(error) = self.database.worker_gone(&self.name).await {
            tracing::warn!(%error, "the worker could not sign off");
        }
    }
}
