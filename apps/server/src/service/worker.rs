//! The worker: everything that happens without a request. Any number of processes may run one; leases keep them apart.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_adapter_diesel::Database;
use kontor_adapter_diesel::upkeep::{BATCH, PILES};
use kontor_auth::{PasswordRound, TemporaryPasswords};
use kontor_catalog::bulk::JobRunner;
use kontor_content::FileSweeper;
use kontor_kernel::{Clock, StoreError};
use kontor_payments::{ChargeService, RefundService};
use kontor_webhooks::DeliveryWorker;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::bulk;

/// How long an idle worker waits before it looks again.
const IDLE: Duration = Duration::from_millis(200);
/// How often a worker shows that it lives.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How often a worker looks for what has had its time.
const UPKEEP: Duration = Duration::from_mins(1);
/// How often a worker looks for contents of files that are to go.
const FILES: Duration = Duration::from_secs(2);
/// How often a worker looks for large warehouses that a process began to show elsewhere and did not finish.
const SHELVES: Duration = Duration::from_secs(2);
/// Charges asked about at the same time: one that the acquirer is slow about holds up no other.
const CHARGES_AT_ONCE: u32 = 4;
/// The same for refunds, which are rarer.
const REFUNDS_AT_ONCE: u32 = 2;

/// Imports at the same time, of different projects: a large one holds up no other.
const IMPORTS_AT_ONCE: u32 = 2;

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
    /// How long what is over is kept.
    pub retention: TimeDelta,
    /// Temporary passwords that employees asked for.
    pub passwords: Arc<TemporaryPasswords>,
    /// Contents of files that nobody has any more.
    pub files: FileSweeper,
    /// Imports in the background.
    pub jobs: Arc<JobRunner>,
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
    /// Starts working in the background.
    pub fn start(self) -> RunningWorker {
        let stop = CancellationToken::new();
        let running = tokio::spawn(self.run(stop.clone()));
        RunningWorker { stop, running }
    }

    /// Works until told to stop. The duties run side by side: a slow receiver delays no payment.
    async fn run(self, stop: CancellationToken) {
        let charges = join_all((0..CHARGES_AT_ONCE).map(|turn| self.reconcile_charges(turn, &stop)));
        let (deliver, fan_out) = (self.deliver(&stop), self.fan_out(&stop));
        let passwords = self.send_passwords(&stop);
        let refunds = join_all((0..REFUNDS_AT_ONCE).map(|turn| self.reconcile_refunds(turn, &stop)));
        let imports = join_all((0..IMPORTS_AT_ONCE).map(|turn| self.import(turn, &stop)));
        let (live, clean, files) = (self.live(&stop), self.clean(&stop), self.sweep_files(&stop));
        let shelves = self.shelve(&stop);
        tokio::join!(deliver, fan_out, charges, refunds, passwords, imports, live, clean, files, shelves);
        if let Err(error) = self.deliveries.release(&self.name).await {
            tracing::warn!(%error, "leases could not be given back; they run out by themselves");
        }
        if let Err(error) = self.database.worker_gone(&self.name).await {
            tracing::warn!(%error, "the worker could not sign off");
        }
    }

    /// Finds out how charges stand. Together those who do so look as often as one alone would.
    async fn reconcile_charges(&self, turn: u32, stop: &CancellationToken) {
        sleep(IDLE * turn, stop).await;
        while !stop.is_cancelled() {
            let checked = match self.charges.reconcile(&self.name, 1).await {
                Ok(round) => {
                    for (purpose, why) in round.suspicious {
                        tracing::error!(%purpose, %why, "a payment needs to be looked at");
                    }
                    round.checked
                }
                Err(error) => trouble("charges", &error),
            };
            if checked == 0 {
                sleep(IDLE * CHARGES_AT_ONCE, stop).await;
            }
        }
    }

    /// Asks for refunds, and how they stand.
    async fn reconcile_refunds(&self, turn: u32, stop: &CancellationToken) {
        sleep(IDLE * turn, stop).await;
        while !stop.is_cancelled() {
            let checked = match self.refunds.reconcile(&self.name, 1).await {
                Ok(round) => {
                    for (purpose, why) in round.suspicious {
                        tracing::error!(%purpose, %why, "a payment needs to be looked at");
                    }
                    round.checked
                }
                Err(error) => trouble("refunds", &error),
            };
            if checked == 0 {
                sleep(IDLE * REFUNDS_AT_ONCE, stop).await;
            }
        }
    }

    /// Works on imports, one after the other.
    async fn import(&self, turn: u32, stop: &CancellationToken) {
        sleep(IDLE * turn, stop).await;
        let mut round: u64 = 0;
        while !stop.is_cancelled() {
            round += 1;
            // A lease that ran out is lost even to the process that had it.
            let owner = format!("{}:{turn}:{round}", self.name);
            let busy = self.import_next(&owner, stop).await.unwrap_or_else(|error| trouble("imports", &error));
            if !busy {
                sleep(IDLE * IMPORTS_AT_ONCE * 2, stop).await;
            }
        }
    }

    async fn import_next(&self, owner: &str, stop: &CancellationToken) -> Result<bool, StoreError> {
        let tidied = self.jobs.tidy().await?;
        let Some(claimed) = self.jobs.claim(None, owner).await? else { return Ok(tidied > 0) };
        let (job, stop) = (claimed.job.id, stop.clone());
        let outcome = bulk::work(self.jobs.clone(), claimed, move |_| !stop.is_cancelled()).await?;
        tracing::info!(%job, ?outcome, "an import");
        Ok(true)
    }

    async fn deliver(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let round = self.deliveries.deliver_while(&self.name, || !stop.is_cancelled(), || sleep(IDLE, stop));
            let claimed = match round.await {
                Ok(round) => round.claimed,
                Err(error) => trouble("deliveries", &error),
            };
            pause_unless(claimed > 0, stop).await;
        }
    }

    async fn fan_out(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let found = match self.deliveries.dispatch().await {
                Ok(batch) => batch.events,
                Err(error) => trouble("events", &error),
            };
            pause_unless(found > 0, stop).await;
        }
    }

    /// Deletes what has had its time, batch after batch; others write in between.
    async fn clean(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            for pile in PILES {
                let sweep = || self.database.sweep(pile, self.clock.now(), self.retention);
                while sweep().await.unwrap_or_else(|error| trouble("upkeep", &error)) >= BATCH && !stop.is_cancelled() {
                    sleep(IDLE, stop).await;
                }
            }
            match self.jobs.sweep().await {
                Ok(0) => {}
                Ok(files) => tracing::info!(files, "files of imports that were never queued are gone"),
                Err(error) => trouble("files of imports", &error),
            }
            sleep(UPKEEP, stop).await;
        }
    }

    /// Goes on with what is shown of warehouses.
    async fn shelve(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            if !self.database.shelve_next().await.unwrap_or_else(|error| trouble("shelves", &error)) {
                sleep(SHELVES, stop).await;
            }
        }
    }

    /// Removes contents of deleted files, and of uploads that broke off.
    async fn sweep_files(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let removed = match self.files.sweep().await {
                Ok(round) => {
                    for (leftover, error) in &round.failed {
                        tracing::warn!(file = %leftover.id, %error, "a content stays for now; it is tried for again");
                    }
                    round.removed
                }
                Err(error) => trouble("files", &error),
            };
            if removed == 0 {
                sleep(FILES, stop).await;
            }
        }
    }

    /// Sends temporary passwords. The log names no login: whether it is known is nobody's business.
    async fn send_passwords(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let busy = match self.passwords.send_due().await {
                Ok(PasswordRound::Failed(error)) => {
                    tracing::warn!(%error, "a temporary password was not sent");
                    true
                }
                Ok(round) => round != PasswordRound::Idle,
                Err(error) => {
                    tracing::warn!(%error, "a round of temporary passwords failed; it goes on");
                    false
                }
            };
            pause_unless(busy, stop).await;
        }
    }

    async fn live(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.database.worker_seen(&self.name, self.clock.now()).await {
                tracing::warn!(%error, "the worker cannot show that it lives");
            }
            match self.deliveries.backlog().await {
                Ok(backlog) => {
                    let age = |since: Option<DateTime<Utc>>| {
                        let age = since.map_or(0, |since| (self.clock.now() - since).num_milliseconds().max(0));
                        Duration::from_millis(age.unsigned_abs()).as_secs_f64()
                    };
                    metrics::gauge!("kontor_outbox_backlog_age_seconds").set(age(backlog.oldest_event));
                    metrics::gauge!("kontor_delivery_backlog_age_seconds").set(age(backlog.oldest_due));
                }
                Err(error) => tracing::warn!(%error, "the backlog cannot be read"),
            }
            sleep(HEARTBEAT, stop).await;
        }
    }
}

fn trouble<T: Default>(duty: &str, error: &StoreError) -> T {
    tracing::warn!(%error, duty, "a round of the worker failed; it goes on");
    T::default()
}

/// Goes on at once while there is work.
async fn pause_unless(busy: bool, stop: &CancellationToken) {
    if !busy {
        sleep(IDLE, stop).await;
    }
}

async fn sleep(time: Duration, stop: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        () = stop.cancelled() => {}
    }
}
