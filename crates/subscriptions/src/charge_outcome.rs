//! Effects of a charge on the subscriptions whose periods it pays.
//!
//! The functions decide without reading or writing. An implementation of the ports locks the subscriptions, after the
//! order of the charge, calls them, and writes all of the [`SubscriptionChange`]s in the commit of the outcome.

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, SavedMethodId};
use kontor_payments::change::ChargeChange;

use crate::case::{EventContext, SubscriptionCase};
use crate::effect::SubscriptionChange;
use crate::error::MoveRefused;
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
mod tests {
    use chrono::TimeDelta;
    use kontor_payments::model::{ChargeFailure, ProviderId};
    use uuid::Uuid;

    use super::*;
    use crate::case::tests::at;
    use crate::effect::AttemptEnd;
    use crate::model::{AttemptState, NewAttempt};
    use crate::state::SubscriptionStatus::{self, Active, Canceled, Charging, PastDue};
    use crate::testing::samples::{active, begun};

    fn now() -> DateTime<Utc> {
        at("2027-01-31T09:00:00Z")
    }

    fn pending() -> ChargeChange {
        let provider_id = ProviderId::parse("p").unwrap();
        ChargeChange::Pending { provider_id, confirmation_url: None, next_check_at: now() }
    }

    fn arrives() -> ChargeChange {
        let (provider_id, event_id) = (ProviderId::parse("p").unwrap(), Uuid::nil());
        ChargeChange::Succeeded { provider_id, event_id, refund: None, method: None, receipt: None }
    }

    fn fails(reason: &str) -> ChargeChange {
        ChargeChange::Failed { provider_id: None, failure: ChargeFailure::Canceled, reason: reason.to_owned() }
    }

    fn postponed(unanswered: bool) -> ChargeChange {
        ChargeChange::Postponed { why: "no answer".to_owned(), unanswered, next_check_at: now() }
    }

    fn suspicious() -> ChargeChange {
        ChargeChange::Suspicious { why: "another amount".to_owned(), next_check_at: now() }
    }

    /// The subscription with its next charge open.
    fn renewing(status: SubscriptionStatus, state: AttemptState) -> SubscriptionCase {
        let due = active(now()).subscription.period.unwrap().end;
        let before = active(now());
        let change = before.due(due);
        let attempt: NewAttempt = change.attempt.clone().unwrap();
        let mut case = before.with_change(&change);
        let mut open = before.attempts.last().unwrap().clone();
        (open.period, open.number, open.origin) = (attempt.period, attempt.number, attempt.origin);
        (open.state, open.started_at, open.ended_at) = (state, due, None);
        case.attempts.push(open);
        case.subscription.status = status;
        case
    }

    fn decided(
        case: &SubscriptionCase,
        change: &ChargeChange,
        order_returns_money: bool,
    ) -> Option<SubscriptionChange> {
        let later = now() + TimeDelta::days(28);
        let decided = decide(case, change, order_returns_money, None, later).map(Result::unwrap);
        assert!(is_relevant(change) || decided.is_none(), "{change:?}");
        decided
    }

    #[test]
    fn each_outcome_of_a_renewal_has_its_effect() {
        let failed = |reason: &str| Some(AttemptEnd::Failed { reason: reason.to_owned() });
        let paid = Some(AttemptEnd::Succeeded);
        let (soft, hard) = ("insufficient_funds", "card_expired");
        // Status before, outcome, decision of the order, status after, end of the attempt, money goes back.
        let table = [
            (Charging, arrives(), false, Active, paid.clone(), false),
            // The order was canceled: its refunded money pays no period.
            (Charging, arrives(), true, PastDue, failed("order_canceled"), false),
            (Charging, fails(soft), false, PastDue, failed(soft), false),
            (Charging, fails(hard), false, PastDue, failed(hard), false),
            // The customer was deleted while the charge was open: the money came too late.
            (Canceled, arrives(), false, Canceled, paid, true),
            (Canceled, arrives(), true, Canceled, failed("order_canceled"), false),
            (Canceled, fails(soft), false, Canceled, failed(soft), false),
            (Canceled, fails(hard), false, Canceled, failed(hard), false),
        ];
        for (status, change, order_returns_money, to, ended, returns_money) in table {
            let case = renewing(status, AttemptState::Processing);
            let decided = decided(&case, &change, order_returns_money).unwrap();
            let found = (decided.subscription.status, &decided.ended, decided.returns_money);
            assert_eq!(found, (to, &ended, returns_money), "{status}: {change:?}");
            assert_eq!(decided.open_attempt(), None, "{change:?}");
        }
    }

    #[test]
    fn an_open_outcome_changes_an_attempt_once() {
        let (processing, unclear) = (AttemptState::Processing, AttemptState::NeedsReconciliation);
        let table = [
            (processing, pending(), None),
            (unclear, pending(), Some(processing)),
            (processing, postponed(true), Some(unclear)),
            (unclear, postponed(true), None),
            (processing, postponed(false), None),
            (unclear, postponed(false), None),
            (processing, suspicious(), None),
            (unclear, suspicious(), None),
        ];
        for (state, change, expected) in table {
            for status in [Charging, Canceled] {
                let decided = decided(&renewing(status, state), &change, false);
                assert_eq!(
                    decided.as_ref().and_then(SubscriptionChange::open_attempt),
                    expected,
                    "{state}: {change:?}"
                );
                assert_eq!(decided.is_some(), expected.is_some(), "{state}: {change:?}");
                assert!(decided.is_none_or(|change| change.ended.is_none() && change.subscription.status == status));
            }
        }
    }

    #[test]
    fn an_outcome_without_an_open_attempt_changes_nothing() {
        for change in [arrives(), fails("insufficient_funds"), pending(), postponed(true)] {
            assert_eq!(decided(&active(now()), &change, false), None, "{change:?}");
        }
    }

    #[test]
    fn the_first_money_saves_its_method() {
        let saved = SavedMethodId::new(8).ok();
        let mut case = begun(now());
        case.subscription.terms.method = None;
        let change = decide(&case, &arrives(), false, saved, now()).unwrap().unwrap();
        assert_eq!((change.subscription.status, change.subscription.terms.method), (Active, saved));
    }

    #[test]
    fn a_doubtful_charge_parks_its_subscriptions() {
        for case in [active(now()), begun(now()), renewing(Canceled, AttemptState::Processing)] {
            let change = decide_contradiction(&case, now()).unwrap();
            assert_eq!(change.subscription.parked, Some(crate::Park::ContradictingAnswers));
            assert_eq!(change.subscription.status, case.subscription.status);
        }
    }

    #[test]
    fn only_a_refund_of_the_current_period_ends_it() {
        let case = active(now());
        let number = case.subscription.period.unwrap().number;
        let after = |paid: &[(SubscriptionCase, u32)], ends| refunded(paid, ends, now() + TimeDelta::days(1));
        let kept = after(&[(case.clone(), number)], false).unwrap().remove(0);
        assert_eq!((kept.subscription.status, kept.subscription.period), (Active, case.subscription.period));
        let ended = after(&[(case.clone(), number)], true).unwrap().remove(0);
        assert_eq!(ended.subscription.period.unwrap().end, now() + TimeDelta::days(1));
        assert_eq!(after(&[(case.clone(), number + 1)], true), None);
        assert_eq!(after(&[(case.clone(), number), (case, number + 1)], true), None);
        assert_eq!((after(&[], true), after(&[], false)), (None, Some(vec![])));
    }

    #[test]
    fn a_saved_method_is_charged_from_now_on() {
        let method = SavedMethodId::new(8).unwrap();
        let consent = MethodConsent {
            text_version: "2027-01".to_owned(),
            address: Some("203.0.113.7".to_owned()),
            application: ApplicationId::new(3).ok(),
            at: now(),
        };
        let case = active(now());
        let change = method_saved(&case, method, consent.clone(), now()).unwrap();
        assert_eq!(change.subscription.terms.method, Some(method));
        let agreed = change.consent.unwrap();
        assert_eq!(agreed.terms, Terms { method: Some(method), ..case.subscription.terms });
        assert_eq!((agreed.text_version, agreed.address), (consent.text_version.clone(), consent.address.clone()));
        // Its first charge never succeeded.
        let mut never = begun(now());
        never.subscription.status = Canceled;
        assert_eq!(method_saved(&never, method, consent, now()), None);
    }

    #[test]
    fn only_a_planned_attempt_fails_without_a_contact_for_its_receipt() {
        let first = NewAttempt::first(&active(now()).subscription.terms);
        assert_eq!((first.period, first.number, first.is_repeatable()), (1, 1, false));
        assert_eq!(first.without_receipt_contact(), None);
        let planned = NewAttempt { planned: true, origin: crate::ChargeOrigin::Renewal, ..first };
        assert!(planned.is_repeatable());
        let failed = planned.without_receipt_contact().unwrap();
        assert_eq!(outcome(&failed, false), Some((PaymentStanding::Failed, Some("receipt_contact_missing"))));
    }

    #[test]
    fn a_deleted_method_stops_only_what_it_pays() {
        let case = active(now());
        let (own, other) = (case.subscription.terms.method.unwrap(), SavedMethodId::new(8).unwrap());
        assert_eq!(case.without_method(other, now()), None);
        assert_eq!(case.without_method(own, now()).unwrap().stopped_method, Some(own));
        let mut never = begun(now());
        never.subscription.status = Canceled;
        never.attempts.clear();
        assert_eq!(never.without_method(own, now()).map(|change| change.subscription.status), Some(Canceled));
    }
}
