//! What a worker does: subscriptions whose time has come are charged, tried again, or ended.

use std::collections::VecDeque;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{Clock, Random, StoreError, SubscriptionId};
use kontor_payments::ChargeService;

use crate::error::SubscriptionError;
use crate::pace::Pace;
use crate::ports::{Addressed, ChargeTerms, Committing, Decision, LeasedSubscription, SubscriptionStore};

/// How long others leave a subscription to the worker that found it.
const LEASE: TimeDelta = TimeDelta::minutes(2);
/// How many are found at once.
const AT_ONCE: u32 = 50;
/// Attempts in a row that may fail; then the subscription is parked. With the pauses between them they take most of a day.
const MOST_ATTEMPTS: u32 = 10;
/// The longest pause between two attempts.
const LONGEST_PAUSE: TimeDelta = TimeDelta::hours(6);

/// When to look again after so many attempts in a row that failed: the pause doubles. `None` after the last one.
fn look_again(attempts: u32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    (attempts < MOST_ATTEMPTS).then(|| now + TimeDelta::minutes(1 << attempts).min(LONGEST_PAUSE))
}

/// Finds what is due, and has it charged.
pub struct SubscriptionScheduler {
    /// Where subscriptions are kept.
    pub store: Arc<dyn SubscriptionStore>,
    /// Their charges.
    pub charges: Arc<ChargeService>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Keys.
    pub random: Arc<dyn Random>,
    /// How fast the acquirer is asked.
    pub pace: Arc<Pace>,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ran {
    /// Subscriptions that were looked at.
    pub found: u32,
    /// Of these, with a charge that the acquirer was asked for.
    pub charged: u32,
    /// Of these, what could not be written, and why. They come again after a pause, or are parked.
    pub failed: Vec<(SubscriptionId, String)>,
}

impl SubscriptionScheduler {
    /// Works on what is due, at most `most`. The attempt is committed before the acquirer is asked; an answer that nobody
    /// can tell is found out later, by those who pursue charges.
    pub async fn run(&self, most: u32) -> Result<Ran, StoreError> {
        let mut ran = Ran::default();
        while ran.found < most {
            let now = self.clock.now();
            let allowed = self.pace.take(AT_ONCE.min(most - ran.found), now);
            if allowed == 0 {
                break;
            }
            let mut until = now + LEASE;
            let found = self.store.lease_due(now, until, allowed).await;
            let mut waiting: VecDeque<_> = found.as_deref().unwrap_or_default().iter().copied().collect();
            let (mut unused, mut trouble) = (allowed, None);
            while let Some(leased) = waiting.pop_front() {
                ran.found += 1;
                match self.attempt(leased).await {
                    Ok(true) => {
                        ran.charged += 1;
                        unused -= 1;
                    }
                    Ok(false) => {}
                    // One that cannot be read or written does not keep the others waiting.
                    Err(error) => ran.failed.push((leased.id, error.to_string())),
                }
                // An acquirer that is slow must not use up the time of those that follow.
                let now = self.clock.now();
                if !waiting.is_empty() && now + LEASE / 2 > until {
                    match self.store.extend_leases(waiting.into(), until, now + LEASE).await {
                        Ok(still) => (waiting, until) = (still.into(), now + LEASE),
                        Err(error) => {
                            trouble = Some(error);
                            break;
                        }
                    }
                }
            }
            self.pace.give_back(unused);
            if let Some(error) = trouble {
                return Err(error);
            }
            if found?.is_empty() {
                break;
            }
        }
        Ok(ran)
    }

    /// Works on one. An error never repeats without bound, nor does a process that dies of it.
    async fn attempt(&self, leased: LeasedSubscription) -> Result<bool, SubscriptionError> {
        let outcome = match leased.attempts {
            0..=MOST_ATTEMPTS => self.work_on(leased.id).await,
            _ => Err(StoreError::Unavailable("the worker never came to an end with it".to_owned()).into()),
        };
        if outcome.is_err() {
            let now = self.clock.now();
            self.store.put_off(leased, look_again(leased.attempts, now), now).await?;
        }
        outcome
    }

    async fn work_on(&self, id: SubscriptionId) -> Result<bool, SubscriptionError> {
        let at = self.clock.now();
        let charge = ChargeTerms::of_saved_method(&*self.random, at);
        let with = Committing { author: Author::System, charge, at };
        let decide: Decision = Box::new(move |case| Ok(vec![case.due(at)]));
        let committed = self.store.change(Addressed::Any(id), with, decide).await?;
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
        let pauses = (1..MOST_ATTEMPTS).map(|attempts| (look_again(attempts, epoch).unwrap() - epoch).num_minutes());
        assert_eq!(pauses.collect::<Vec<_>>(), [2, 4, 8, 16, 32, 64, 128, 256, 360]);
        assert_eq!([MOST_ATTEMPTS, u32::MAX].map(|attempts| look_again(attempts, epoch)), [None, None]);
    }
}
