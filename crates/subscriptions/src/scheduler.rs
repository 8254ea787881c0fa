//! Worker: due subscriptions are charged, tried again, or ended.

use std::collections::VecDeque;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{Clock, Random, StoreError, SubscriptionId};
use kontor_payments::ChargeService;

use crate::error::SubscriptionError;
use crate::policy::ChargeLimiter;
use crate::ports::{ChargeTerms, CommitContext, Decision, LeasedSubscription, SubscriptionSelector, SubscriptionStore};

/// Lease of a worker on a subscription.
const LEASE: TimeDelta = TimeDelta::minutes(2);
/// Subscriptions leased at the same time.
const LEASE_BATCH: u32 = 50;
/// Maximum failed attempts in a row; then the subscription is parked. With the pauses between them they take
/// most of a day.
const MAX_ATTEMPTS: u32 = 10;
/// Longest pause between two attempts.
const MAX_BACKOFF: TimeDelta = TimeDelta::hours(6);

/// Time of the next attempt after this many failed ones in a row: the pause doubles. `None` after the last one.
fn retry_at(attempts: u32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    (attempts < MAX_ATTEMPTS).then(|| now + TimeDelta::minutes(1 << attempts).min(MAX_BACKOFF))
}

/// Finds due subscriptions and charges them.
pub struct SubscriptionScheduler {
    /// Storage of subscriptions.
    pub store: Arc<dyn SubscriptionStore>,
    /// Use cases of charges.
    pub charges: Arc<ChargeService>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of idempotency keys.
    pub random: Arc<dyn Random>,
    /// Rate limit of charges.
    pub limiter: Arc<ChargeLimiter>,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchedulerRun {
    /// Subscriptions processed.
    pub found: u32,
    /// Subscriptions of these with a charge requested at the acquirer.
    pub charged: u32,
    /// Subscriptions of these that failed, with the error. They are tried again after a pause, or parked.
    pub failed: Vec<(SubscriptionId, String)>,
}

impl SubscriptionScheduler {
    /// Processes due subscriptions, at most `most`. The attempt is committed before the acquirer is called. The
    /// worker for charges resolves unknown outcomes later.
    pub async fn run(&self, most: u32) -> Result<SchedulerRun, StoreError> {
        let mut ran = SchedulerRun::default();
        while ran.found < most {
            let now = self.clock.now();
            let allowed = self.limiter.take(LEASE_BATCH.min(most - ran.found), now);
            if allowed == 0 {
                break;
            }
            let mut until = now + LEASE;
            let found = self.store.lease_due(now, until, allowed).await;
            let mut waiting: VecDeque<_> = found.as_deref().unwrap_or_default().iter().copied().collect();
            let (mut unused, mut failure) = (allowed, None);
            while let Some(leased) = waiting.pop_front() {
                ran.found += 1;
                match self.attempt(leased).await {
                    Ok(true) => {
                        ran.charged += 1;
                        unused -= 1;
                    }
                    Ok(false) => {}
                    // A subscription that cannot be read or written does not block the others.
                    Err(error) => ran.failed.push((leased.id, error.to_string())),
                }
                // A slow acquirer must not use up the lease of the subscriptions that follow.
                let now = self.clock.now();
                if !waiting.is_empty() && now + LEASE / 2 > until {
                    match self.store.extend_leases(waiting.into(), until, now + LEASE).await {
                        Ok(still) => (waiting, until) = (still.into(), now + LEASE),
                        Err(error) => {
                            failure = Some(error);
                            break;
                        }
                    }
                }
            }
            self.limiter.give_back(unused);
            if let Some(error) = failure {
                return Err(error);
            }
            if found?.is_empty() {
                break;
            }
        }
        Ok(ran)
    }

    /// Processes one subscription. Errors, and crashes of the process, are repeated a limited number of times.
    async fn attempt(&self, leased: LeasedSubscription) -> Result<bool, SubscriptionError> {
        let outcome = match leased.attempts {
            0..=MAX_ATTEMPTS => self.process(leased.id).await,
            _ => Err(StoreError::Unavailable("the worker failed repeatedly".to_owned()).into()),
        };
        if outcome.is_err() {
            let now = self.clock.now();
            self.store.postpone(leased, retry_at(leased.attempts, now), now).await?;
        }
        outcome
    }

    async fn process(&self, id: SubscriptionId) -> Result<bool, SubscriptionError> {
        let at = self.clock.now();
        let charge = ChargeTerms::of_saved_method(&*self.random, at);
        let with = CommitContext { author: Author::System, charge, at };
        let decide: Decision = Box::new(move |case| Ok(vec![case.due(at)]));
        let committed = self.store.change(SubscriptionSelector::Any(id), with, decide).await?;
        let Some(charge) = committed.charge else { return Ok(false) };
        self.charges.open(&charge).await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_end() {
        let epoch = DateTime::UNIX_EPOCH;
        let pauses = (1..MAX_ATTEMPTS).map(|attempts| (retry_at(attempts, epoch).unwrap() - epoch).num_minutes());
        assert_eq!(pauses.collect::<Vec<_>>(), [2, 4, 8, 16, 32, 64, 128, 256, 360]);
        assert_eq!([MAX_ATTEMPTS, u32::MAX].map(|attempts| retry_at(attempts, epoch)), [None, None]);
    }
}
