//! Steps of the duties. Each returns `true` if there was work.

use std::time::Duration;

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::upkeep::{BATCH, SWEPT_TABLES};
use kontor_auth::{ApprovalMailOutcome, PasswordSendOutcome};
use kontor_organization::TaskMailOutcome;
use kontor_subscriptions::ports::SubscriptionReader;
use kontor_web::agent_actions::execute;

use super::{StepContext, StepError, Worker, on_a_thread, pause};

/// Maximum number of subscriptions in a step, so that a worker that is stopping does not keep others waiting.
const MAX_SUBSCRIPTIONS: u32 = 200;

/// Records the heartbeat of the worker and the age of waiting work.
pub(super) async fn live(worker: &Worker) -> Result<bool, StepError> {
    worker.database.record_heartbeat(&worker.name, worker.clock.now()).await?;
    let backlog = worker.deliveries.backlog().await?;
    let age = |since: Option<DateTime<Utc>>| {
        let age = since.map_or(0, |since| (worker.clock.now() - since).num_milliseconds().max(0));
        Duration::from_millis(age.unsigned_abs()).as_secs_f64()
    };
    metrics::gauge!("kontor_outbox_backlog_age_seconds").set(age(backlog.oldest_event));
    metrics::gauge!("kontor_delivery_backlog_age_seconds").set(age(backlog.oldest_due));
    let parked = SubscriptionReader::parked(&worker.database).await?;
    metrics::gauge!("kontor_subscriptions_parked").set(u32::try_from(parked).unwrap_or(u32::MAX));
    Ok(false)
}

/// Creates deliveries from events.
pub(super) async fn fan_out(worker: &Worker) -> Result<bool, StepError> {
    Ok(worker.deliveries.dispatch().await?.events > 0)
}

/// Sends due deliveries until none is left.
pub(super) async fn deliver(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let stop = context.stop;
    let round = worker.deliveries.deliver_while(&worker.name, || !stop.is_cancelled(), || pause(stop)).await?;
    Ok(round.leased > 0)
}

/// Resolves the unknown outcome of a charge.
pub(super) async fn charges(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let round = worker.charges.reconcile(context.owner, 1).await?;
    for (purpose, why) in round.suspicious {
        tracing::error!(%purpose, %why, "a payment needs review; see `kontor payment --help`");
    }
    Ok(round.checked > 0)
}

/// Requests a refund, or reads its state.
pub(super) async fn refunds(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let round = worker.refunds.reconcile(context.owner, 1).await?;
    let problems = u64::try_from(round.suspicious.len()).unwrap_or(u64::MAX);
    metrics::counter!("kontor_refund_problems_total").increment(problems);
    for (purpose, why) in round.suspicious {
        tracing::error!(%purpose, %why, "a payment needs review; see `kontor payment --help`");
    }
    Ok(round.checked > 0)
}

/// Compares hourly with the refunds that the acquirer lists: an operator may have made one in its console.
pub(super) async fn compare_refunds(worker: &Worker) -> Result<bool, StepError> {
    let Some(compared) = worker.refunds.compare_when_due().await? else { return Ok(false) };
    for (purpose, why) in compared.suspicious {
        tracing::error!(%purpose, %why, "a payment needs review; see `kontor payment --help`");
    }
    if compared.recorded > 0 {
        tracing::info!(refunds = compared.recorded, "refunds made at the acquirer are recorded");
    }
    if let Some(why) = compared.broken_off {
        tracing::warn!(%why, "the refunds listed by the acquirer could not be compared");
    }
    Ok(false)
}

/// Charges due subscriptions, retries failed charges, or ends the subscriptions.
pub(super) async fn subscriptions(worker: &Worker) -> Result<bool, StepError> {
    let round = worker.subscriptions.run(MAX_SUBSCRIPTIONS).await?;
    for (id, why) in round.failed {
        tracing::error!(subscription = %id, %why, "a subscription could not be processed; it will be retried");
    }
    Ok(round.found > 0)
}

/// Requests a receipt, or reads its state.
pub(super) async fn receipts(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let round = worker.receipts.reconcile(context.owner, 1).await?;
    for (purpose, why) in round.suspicious {
        tracing::error!(%purpose, %why, "a receipt needs review; see `kontor receipt --help`");
    }
    Ok(round.checked > 0)
}

/// Sends a temporary password. The log names no login, so that it does not reveal which ones exist.
pub(super) async fn send_passwords(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let round = worker.passwords.send_due(context.owner).await?;
    if let PasswordSendOutcome::Failed(error) = &round {
        tracing::warn!(%error, "a temporary password was not sent");
    }
    Ok(round != PasswordSendOutcome::Idle)
}

/// Sends an employee an e-mail about tasks.
pub(super) async fn send_task_mails(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let round = worker.task_mails.send_due(context.owner).await?;
    match &round {
        TaskMailOutcome::Failed(error) => tracing::warn!(%error, "an employee could not be notified of tasks"),
        TaskMailOutcome::GivenUp => tracing::warn!("an employee could not be notified of tasks for a day; giving up"),
        TaskMailOutcome::Idle | TaskMailOutcome::Nothing | TaskMailOutcome::Sent => {}
    }
    Ok(round != TaskMailOutcome::Idle)
}

/// Sends an employee an e-mail about calls of agents that wait for their approval.
pub(super) async fn send_approval_mails(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let outcome = worker.approval_mails.send_due(context.owner).await?;
    if let ApprovalMailOutcome::Failed(error) = &outcome {
        tracing::warn!(%error, "an employee could not be notified of calls that wait for approval");
    }
    Ok(outcome != ApprovalMailOutcome::Idle)
}

/// Runs an import.
pub(super) async fn import(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let tidied = worker.jobs.remove_finished_files().await?;
    // An expired lease cannot be used again, even by the process that held it.
    let owner = format!("{}:{}:{}", worker.name, context.slot, context.round);
    let Some(leased) = worker.jobs.lease(None, &owner).await? else { return Ok(tidied > 0) };
    let (job, jobs, stop) = (leased.job.id, worker.jobs.clone(), context.stop.clone());
    let outcome = on_a_thread(move |runtime| jobs.run(runtime, &leased, &mut |_| !stop.is_cancelled())).await?;
    tracing::info!(%job, ?outcome, "an import");
    Ok(true)
}

/// Creates the file of an export.
pub(super) async fn export(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let tidied = worker.exports.remove_finished_files().await?;
    let owner = format!("{}:export:{}:{}", worker.name, context.slot, context.round);
    let Some(leased) = worker.exports.lease(&owner).await? else { return Ok(tidied > 0) };
    let (job, exports, stop) = (leased.held.job, worker.exports.clone(), context.stop.clone());
    let outcome = on_a_thread(move |runtime| exports.run(runtime, &leased, &mut |_| !stop.is_cancelled())).await?;
    tracing::info!(%job, ?outcome, "an export");
    Ok(true)
}

/// Removes the contents of deleted files and of aborted uploads.
pub(super) async fn files(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let round = worker.files.sweep(context.owner).await?;
    for (leftover, error) in &round.failed {
        tracing::warn!(file = %leftover.id, %error, "a file could not be removed; it will be retried");
    }
    Ok(round.removed > 0)
}

/// Cancels orders whose payment was canceled and not requested again, and contact form orders that were not confirmed
/// in time.
pub(super) async fn cancel_orders(worker: &Worker) -> Result<bool, StepError> {
    let unasked = worker.database.cancel_unpaid_orders(worker.clock.now()).await?;
    if unasked > 0 {
        tracing::info!(orders = unasked, "canceled orders whose payment was not requested again");
    }
    let unconfirmed = worker.database.cancel_unconfirmed(worker.clock.now()).await?;
    if unconfirmed > 0 {
        tracing::info!(orders = unconfirmed, "canceled unconfirmed orders from the contact form");
    }
    Ok(unasked + unconfirmed > 0)
}

/// Continues an approved call of an agent whose process died before it stored the result.
pub(super) async fn continue_agent_call(worker: &Worker) -> Result<bool, StepError> {
    let Some(action) = worker.agent_calls.take_interrupted().await? else { return Ok(false) };
    execute(&worker.in_process, &worker.agent_calls, action).await.map_err(|error| error.to_string())?;
    Ok(true)
}

/// Continues the refresh of warehouse offers.
pub(super) async fn refresh_offers(worker: &Worker) -> Result<bool, StepError> {
    Ok(worker.database.refresh_offers_next().await?)
}

/// Deletes expired rows in batches with pauses for other writers.
pub(super) async fn sweep(worker: &Worker, context: StepContext<'_>) -> Result<bool, StepError> {
    let mut failure = None;
    for swept in SWEPT_TABLES {
        // A table that cannot be swept does not stop the sweep of the others.
        loop {
            match worker.database.sweep(swept, worker.clock.now(), worker.retention).await {
                Ok(deleted) if deleted >= BATCH && !context.stop.is_cancelled() => pause(context.stop).await,
                Ok(_) => break,
                Err(error) => {
                    failure = failure.or(Some(error));
                    break;
                }
            }
        }
    }
    let files = worker.jobs.sweep().await?;
    if files > 0 {
        tracing::info!(files, "removed files without a job");
    }
    failure.map_or(Ok(false), |error| Err(error.into()))
}
