//! Table of the worker's duties, and the loop that runs them.

use std::convert::Infallible;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{IDLE, StepContext, StepError, Worker, steps};
use crate::service::supervision::sleep;

/// Recurring task of a worker.
pub(super) struct Duty {
    /// Name in the log and in `/metrics`.
    pub name: &'static str,
    /// Number of steps that run concurrently, so that a slow one does not block others.
    pub at_once: u32,
    /// Pause after a step without work. Concurrent steps share it: together they poll as often as one step alone.
    pub pause: Duration,
    /// `true` if it pauses while the time is moved.
    pub by_time: bool,
    /// Function that runs one step.
    pub step: Step,
}

/// Returns `true` if there was work: then the next step follows at once.
pub(super) type Step = for<'a> fn(&'a Worker, StepContext<'a>) -> BoxFuture<'a, Result<bool, StepError>>;

/// All duties. They run concurrently: one that fails, panics or is slow stops no other.
pub(super) const DUTIES: &[Duty] = &[
    Duty {
        name: "life",
        at_once: 1,
        pause: Duration::from_secs(5),
        by_time: false,
        step: |worker, _| Box::pin(steps::live(worker)),
    },
    Duty {
        name: "events",
        at_once: 1,
        pause: IDLE,
        by_time: false,
        step: |worker, _| Box::pin(steps::fan_out(worker)),
    },
    // Deliveries have slots of their own.
    Duty {
        name: "deliveries",
        at_once: 1,
        pause: IDLE,
        by_time: false,
        step: |worker, context| Box::pin(steps::deliver(worker, context)),
    },
    Duty {
        name: "charges",
        at_once: 4,
        pause: IDLE,
        by_time: true,
        step: |worker, context| Box::pin(steps::charges(worker, context)),
    },
    Duty {
        name: "refunds",
        at_once: 2,
        pause: IDLE,
        by_time: true,
        step: |worker, context| Box::pin(steps::refunds(worker, context)),
    },
    Duty {
        name: "orders",
        at_once: 1,
        pause: Duration::from_secs(5),
        by_time: true,
        step: |worker, _| Box::pin(steps::cancel_orders(worker)),
    },
    Duty {
        name: "refund_comparisons",
        at_once: 1,
        pause: Duration::from_secs(1),
        by_time: true,
        step: |worker, _| Box::pin(steps::compare_refunds(worker)),
    },
    Duty {
        name: "subscriptions",
        // Number of charges that wait for the acquirer at the same time.
        at_once: 4,
        pause: Duration::from_millis(500),
        by_time: true,
        step: |worker, _| Box::pin(steps::subscriptions(worker)),
    },
    Duty {
        name: "receipts",
        at_once: 2,
        pause: IDLE,
        by_time: true,
        step: |worker, context| Box::pin(steps::receipts(worker, context)),
    },
    Duty {
        name: "passwords",
        at_once: 1,
        pause: IDLE,
        by_time: false,
        step: |worker, context| Box::pin(steps::send_passwords(worker, context)),
    },
    Duty {
        name: "tasks",
        at_once: 1,
        pause: Duration::from_secs(1),
        by_time: true,
        step: |worker, context| Box::pin(steps::send_task_mails(worker, context)),
    },
    Duty {
        name: "approval_mails",
        at_once: 1,
        pause: Duration::from_secs(1),
        by_time: true,
        step: |worker, context| Box::pin(steps::send_approval_mails(worker, context)),
    },
    Duty {
        name: "agent_calls",
        at_once: 2,
        pause: Duration::from_secs(1),
        by_time: true,
        step: |worker, _| Box::pin(steps::continue_agent_call(worker)),
    },
    // Concurrent imports belong to different projects: a large project blocks no other.
    Duty {
        name: "imports",
        at_once: 2,
        pause: Duration::from_millis(400),
        by_time: false,
        step: |worker, context| Box::pin(steps::import(worker, context)),
    },
    Duty {
        name: "exports",
        at_once: 2,
        pause: Duration::from_millis(400),
        by_time: false,
        step: |worker, context| Box::pin(steps::export(worker, context)),
    },
    Duty {
        name: "files",
        at_once: 1,
        pause: Duration::from_secs(2),
        by_time: false,
        step: |worker, context| Box::pin(steps::files(worker, context)),
    },
    Duty {
        name: "shelves",
        at_once: 1,
        pause: Duration::from_secs(2),
        by_time: false,
        step: |worker, _| Box::pin(steps::refresh_offers(worker)),
    },
    Duty {
        name: "upkeep",
        at_once: 1,
        pause: Duration::from_mins(1),
        by_time: true,
        step: |worker, context| Box::pin(steps::sweep(worker, context)),
    },
];

/// Interval for renewing the leases of a step: several times within the shortest lease of half a minute.
const RENEW_EVERY: Duration = Duration::from_secs(10);

/// Renews the leases of a step, so that none expires while it runs.
async fn renew(worker: &Worker, owner: &str) -> Infallible {
    loop {
        tokio::time::sleep(RENEW_EVERY).await;
        if let Err(error) = worker.database.renew_leases(owner, worker.clock.now()).await {
            tracing::warn!(%error, owner, "the leases of a step could not be renewed");
        }
    }
}

impl Duty {
    /// Runs step after step until `stop` is cancelled.
    pub(super) async fn attend(&self, worker: &Worker, slot: u32, stop: &CancellationToken) {
        sleep(self.pause * slot, stop).await;
        let mut supervised = worker.supervisor.task(self.name);
        let mut round = 0;
        while !stop.is_cancelled() {
            let turn = match worker.turns.as_ref().filter(|_| self.by_time) {
                Some(turns) => match turns.step(stop).await {
                    None => break,
                    turn => turn,
                },
                None => None,
            };
            round += 1;
            let owner = format!("{}:{}:{slot}:{round}", worker.name, self.name);
            let context = StepContext { slot, round, owner: &owner, stop };
            // The call itself may also panic.
            let work = async {
                tokio::select! {
                    outcome = (self.step)(worker, context) => outcome,
                    never = renew(worker, &owner) => match never {},
                }
            };
            let outcome = supervised.round(work).await;
            drop(turn);
            let name = self.name;
            let idle = self.pause * self.at_once;
            let (result, pause) = match outcome {
                Ok(Ok(true)) => ("busy", None),
                Ok(Ok(false)) => ("idle", Some(idle)),
                Ok(Err(error)) => {
                    tracing::warn!(%error, duty = name, "a worker task failed; the worker continues");
                    ("failed", Some(idle))
                }
                Err(pause) => ("panicked", Some(pause)),
            };
            metrics::counter!("kontor_worker_steps_total", "duty" => name, "outcome" => result).increment(1);
            if let Some(pause) = pause {
                sleep(pause, stop).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_duty_has_a_name_of_its_own_and_rests_when_there_is_nothing_to_do() {
        let names: BTreeSet<_> = DUTIES.iter().map(|duty| duty.name).collect();
        assert_eq!(names.len(), DUTIES.len());
        assert!(DUTIES.iter().all(|duty| duty.at_once > 0 && duty.pause >= IDLE));
    }
}
