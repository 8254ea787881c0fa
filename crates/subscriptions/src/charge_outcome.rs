//! Effects of a charge on the subscriptions whose periods it pays.
//!
//! The functions decide without reading or writing. An implementation of the ports locks the subscriptions, after the
//! order of the charge, calls them, and writes all of the [`SubscriptionChange`]s in the commit of the outcome.

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, SavedMethodId};
use kontor_payments::change::ChargeChange;

use crate::case::{EventContext, SubscriptionCase};
use crate::change::SubscriptionChange;
use crate::refusal::MoveRefused;
use crate::retry::PaymentStanding;
use crate::state::SubscriptionEvent;
use crate::terms::{ConsentedTerms, Terms};

/// Outcome for an attempt, with the reason of a failure. `order_returns_money` is the decision of the order: refunded
/// money pays no period.
fn outcome(change: &ChargeChange, order_returns_money: bool) -> Option<(PaymentStanding, Option<&str>)> {
    match change {
        ChargeChange::Succeeded { .. } if order_returns_money => {
            Some((PaymentStanding::Failed, Some("order_canceled")))
        }
        ChargeChange::Succeeded { .. } => Some((PaymentStanding::Succeeded, None)),
        ChargeChange::Failed { reason, .. } => Some((PaymentStanding::Failed, Some(reason))),
        ChargeChange::Postponed { unanswered: true, .. } => Some((PaymentStanding::OutcomeUnknown, None)),
        ChargeChange::Pending { .. } => Some((PaymentStanding::Processing, None)),
        ChargeChange::Postponed { .. } | ChargeChange::Suspicious { .. } => None,
    }
}

/// Returns `false` if the update changes no subscription in any state. Then none need be locked.
pub fn is_relevant(change: &ChargeChange) -> bool {
    outcome(change, false).is_some()
}

/// Decides the effect of a charge update on a subscription with an open attempt by the charge. `None` if nothing
/// changes.
///
/// - `order_returns_money`: the order does not take the money, as `OrderEffects::returns_money` of `kontor-orders`
///   states.
/// - `saved_method`: the method that was saved with the money.
/// - If the change [returns money](SubscriptionChange::returns_money), the commit refunds all of it, as for a canceled
///   order: `kontor_orders::charge_outcome::late_refund`.
///
/// The table of moves covers every outcome of an open attempt. A refusal means a fault; it writes nothing and must be
/// logged.
pub fn decide(
    case: &SubscriptionCase,
    change: &ChargeChange,
    order_returns_money: bool,
    saved_method: Option<SavedMethodId>,
    now: DateTime<Utc>,
) -> Option<Result<SubscriptionChange, MoveRefused>> {
    let (standing, reason) = outcome(change, order_returns_money)?;
    let context = EventContext { saved_method, reason: reason.map(str::to_owned), ..EventContext::default() };
    case.apply_outcome(standing, &context, now)
}

/// Decides the effect of a doubt about the charge on a subscription with any attempt by it: it is parked.
pub fn decide_contradiction(case: &SubscriptionCase, now: DateTime<Utc>) -> Result<SubscriptionChange, MoveRefused> {
    case.after(SubscriptionEvent::ChargeContradicted, &EventContext::default(), now)
}

/// Decides the effect of a refund on the subscriptions that the charge paid, each with the number of the paid period.
/// `ends_period` states that the paid period ends with the refund; then it must be the current one. `None` if the
/// refund must be refused for that reason.
pub fn refunded(
    paid: &[(SubscriptionCase, u32)],
    ends_period: bool,
    now: DateTime<Utc>,
) -> Option<Vec<SubscriptionChange>> {
    let is_current = |(case, number): &(SubscriptionCase, u32)| {
        case.subscription.period.is_some_and(|period| period.number == *number)
    };
    if ends_period && (paid.is_empty() || !paid.iter().all(is_current)) {
        return None;
    }
    let context = EventContext { ends_period, ..EventContext::default() };
    paid.iter().map(|(case, _)| case.after(SubscriptionEvent::RefundPeriod, &context, now).ok()).collect()
}

/// Consent of the customer to a method change, as stored with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodConsent {
    /// Version of the text that was shown.
    pub text_version: String,
    /// Network address of the consent, if known.
    pub address: Option<String>,
    /// Application of the charge.
    pub application: Option<ApplicationId>,
    /// Time of the consent.
    pub at: DateTime<Utc>,
}

/// Decides the effect of a method that was saved by the charge of a method change: the subscription is charged with it
/// from now on. `None` for a subscription that is no longer charged; it keeps its method.
pub fn method_saved(
    case: &SubscriptionCase,
    method: SavedMethodId,
    consent: MethodConsent,
    now: DateTime<Utc>,
) -> Option<SubscriptionChange> {
    let current = case.subscription.next_terms.as_ref().unwrap_or(&case.subscription.terms);
    let MethodConsent { text_version, address, application, at } = consent;
    let terms = Terms { method: Some(method), ..current.clone() };
    let consent = Some(ConsentedTerms { terms, text_version, at, address, application });
    case.after(SubscriptionEvent::ChangeMethod, &EventContext { consent, ..EventContext::default() }, now).ok()
}

#[cfg(test)]
mod tests;
