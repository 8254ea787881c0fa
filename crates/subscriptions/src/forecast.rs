//! What would be charged in the time to come.

use chrono::{DateTime, Utc};
use kontor_kernel::{Money, SubscriptionId};

use crate::case::{Occasion, SubscriptionCase};
use crate::change::SubscriptionChange;
use crate::model::{Attempt, AttemptState, NewAttempt};
use crate::retry::PaymentStanding;

/// More steps than any plan takes in ten years.
const MOST_STEPS: u32 = 1_000;

/// A charge that is to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forecast {
    /// When.
    pub at: DateTime<Utc>,
    /// Of which subscription.
    pub subscription: SubscriptionId,
    /// For which period.
    pub period: u32,
    /// How much.
    pub amount: Money,
    /// Three letters.
    pub currency: String,
}

/// What would be charged from one moment to another, the last one included, in the order of time, if every charge succeeds
/// and nobody changes anything. A charge that is open is none of them. A subscription is looked at alone: what others of its
/// customer are charged may move a charge that is foreseen here to another day.
pub fn forecast(case: &SubscriptionCase, from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<Forecast> {
    let (mut case, mut now, mut foreseen) = (case.clone(), from, Vec::new());
    for _ in 0..MOST_STEPS {
        let Some(wake) = case.subscription.wake_at.filter(|wake| *wake <= until) else { break };
        now = now.max(wake);
        let change = case.due(now);
        let next = written(&case, &change);
        match &change.attempt {
            Some(attempt) => {
                foreseen.push(Forecast {
                    at: now,
                    subscription: change.subscription.id,
                    period: attempt.period,
                    amount: attempt.terms.amount,
                    currency: attempt.terms.currency.clone(),
                });
                let Some(paid) = paid(&next, now) else { break };
                case = paid;
            }
            // It would be looked at for ever.
            None if next.subscription == case.subscription => break,
            None => case = next,
        }
    }
    foreseen
}

fn paid(case: &SubscriptionCase, now: DateTime<Utc>) -> Option<SubscriptionCase> {
    let change = case.heard(PaymentStanding::Succeeded, &Occasion::default(), now)?.ok()?;
    Some(written(case, &change))
}

/// All that decides, as it is once the change is written and its attempt is made.
fn written(case: &SubscriptionCase, change: &SubscriptionChange) -> SubscriptionCase {
    let mut after = case.followed_by(change);
    if let Some(attempt) = &change.attempt {
        open(&mut after, attempt, change.at);
    }
    let kept = SubscriptionCase::method_tries_since(change.at);
    after.method_tries.retain(|moment| *moment > kept);
    after
}

fn open(case: &mut SubscriptionCase, new: &NewAttempt, now: DateTime<Utc>) {
    // Whatever was activated was charged once. Numbers decide nothing.
    let Some((id, order)) = case.attempts.last().map(|attempt| (attempt.id, attempt.order)) else { return };
    case.attempts.retain(|attempt| attempt.period == new.period);
    case.attempts.push(Attempt {
        id,
        period: new.period,
        number: new.number,
        origin: new.origin,
        planned: new.planned,
        state: AttemptState::Processing,
        order,
        amount: new.terms.amount,
        currency: new.terms.currency.clone(),
        method: new.terms.method,
        plan: Some((new.terms.plan, new.terms.billing_months)),
        reason: None,
        started_at: now,
        ended_at: None,
    });
    case.method_tries.push(now);
}
