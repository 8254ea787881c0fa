//! Forecast of charges.

use chrono::{DateTime, Utc};
use kontor_kernel::{Money, SubscriptionId};

use crate::case::{EventContext, SubscriptionCase};
use crate::effect::SubscriptionChange;
use crate::model::{Attempt, AttemptState, NewAttempt};
use crate::retry::PaymentStanding;

/// Upper bound of steps, above any plan in ten years.
const MAX_STEPS: u32 = 1_000;

/// Future charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forecast {
    /// Time of the charge.
    pub at: DateTime<Utc>,
    /// Subscription.
    pub subscription: SubscriptionId,
    /// Number of the period.
    pub period: u32,
    /// Amount.
    pub amount: Money,
    /// Currency, three letters.
    pub currency: String,
}

/// Returns the charges between two times, the last one included, by ascending time. It assumes that every charge
/// succeeds and nothing is changed. An open charge is not included. Each subscription is forecast alone: charges
/// of other subscriptions of the customer may move a charge to another day.
pub fn forecast(case: &SubscriptionCase, from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<Forecast> {
    let (mut case, mut now, mut predicted) = (case.clone(), from, Vec::new());
    for _ in 0..MAX_STEPS {
        let Some(wake) = case.subscription.wake_at.filter(|wake| *wake <= until) else { break };
        now = now.max(wake);
        let change = case.due(now);
        let next = written(&case, &change);
        match &change.attempt {
            Some(attempt) => {
                predicted.push(Forecast {
                    at: now,
                    subscription: change.subscription.id,
                    period: attempt.period,
                    amount: attempt.terms.amount,
                    currency: attempt.terms.currency.clone(),
                });
                let Some(paid) = paid(&next, now) else { break };
                case = paid;
            }
            // Without a change the loop would not end.
            None if next.subscription == case.subscription => break,
            None => case = next,
        }
    }
    predicted
}

fn paid(case: &SubscriptionCase, now: DateTime<Utc>) -> Option<SubscriptionCase> {
    let change = case.apply_outcome(PaymentStanding::Succeeded, &EventContext::default(), now)?.ok()?;
    Some(written(case, &change))
}

/// Returns the case as it is once the change is written and its attempt is made.
fn written(case: &SubscriptionCase, change: &SubscriptionChange) -> SubscriptionCase {
    let mut after = case.with_change(change);
    if let Some(attempt) = &change.attempt {
        open(&mut after, attempt, change.at);
    }
    let kept = SubscriptionCase::method_attempts_since(change.at);
    after.method_tries.retain(|moment| *moment > kept);
    after
}

fn open(case: &mut SubscriptionCase, new: &NewAttempt, now: DateTime<Utc>) {
    // An activated subscription has at least one attempt. The copied identifiers affect no decision.
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
