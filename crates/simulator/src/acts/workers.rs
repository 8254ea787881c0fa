//! Duties of workers. A worker may die at any port and leave a lease behind.

use chrono::TimeDelta;
use kontor_adapter_diesel::upkeep::SWEPT_TABLES;
use kontor_kernel::Clock as _;

use super::{Act, ActResult, Effect, Scene};
use crate::invariants;

/// All duties of a worker.
pub const DUTIES: [Duty; 6] =
    [Duty::Charges, Duty::Refunds, Duty::Receipts, Duty::Subscriptions, Duty::Events, Duty::Upkeep];

/// A duty of a worker.
#[derive(Debug, Clone, Copy)]
pub enum Duty {
    /// Resolves charge outcomes.
    Charges,
    /// Sends refunds.
    Refunds,
    /// Sends receipts.
    Receipts,
    /// Charges subscriptions.
    Subscriptions,
    /// Fans events out and delivers them.
    Events,
    /// Cancels abandoned orders, and sweeps.
    Upkeep,
}

/// Runs one round of a duty, of at most `most` records.
pub fn works(scene: Scene, duty: Duty, most: u32) -> Act {
    Box::pin(async move {
        let services = &scene.services;
        let reported = |checked: u32| format!("{checked} looked at");
        match duty {
            Duty::Charges => {
                ActResult::of("charges", services.charges.reconcile("w", most).await, |round| reported(round.checked))
            }
            Duty::Refunds => {
                ActResult::of("refunds", services.refunds.reconcile("w", most).await, |round| reported(round.checked))
            }
            Duty::Receipts => {
                ActResult::of("receipts", services.receipts.reconcile("w", most).await, |round| reported(round.checked))
            }
            Duty::Subscriptions => {
                let ran = services.scheduler.run(most).await;
                let failed = ran.as_ref().map(|ran| ran.failed.clone()).unwrap_or_default();
                let did =
                    ActResult::of("subscriptions", ran, |ran| format!("{} found, {} charged", ran.found, ran.charged));
                match failed.first() {
                    Some((id, why)) => {
                        let why = format!("subscription {id}: {why}");
                        ActResult { effect: Effect::Broken(invariants::STORAGE, why), ..did }
                    }
                    None => did,
                }
            }
            Duty::Events => {
                services.slot.restart();
                let fanned = services.deliveries.dispatch().await;
                let did = ActResult::of("events", fanned, |fanned| format!("{} events", fanned.events));
                if matches!(did.effect, Effect::Broken(..)) {
                    return did;
                }
                let sent = services.deliveries.deliver_due("w").await;
                ActResult::of("events", sent, |sent| format!("{sent:?}"))
            }
            Duty::Upkeep => {
                let now = services.clock.now();
                let given_up = services.database.cancel_unpaid_orders(now).await;
                if let Err(error) = services.database.cancel_unconfirmed(now).await {
                    return ActResult::of("upkeep", Err::<(), _>(error), |()| String::new());
                }
                for table in SWEPT_TABLES {
                    // The rules read these tables, so their rows stay for the whole run.
                    let kept = ["outbox_events", "webhook_deliveries", "notifications"].contains(&table.table);
                    if !kept && let Err(error) = services.database.sweep(table, now, TimeDelta::days(7)).await {
                        return ActResult::of("upkeep", Err::<(), _>(error), |()| String::new());
                    }
                }
                ActResult::of("upkeep", given_up, |orders| format!("{orders} orders given up"))
            }
        }
    })
}
