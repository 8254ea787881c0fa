//! Rules for retries of a payment by the customer.

use kontor_payments::model::ChargeState;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::error::RefusalKind;
use crate::state::{MethodStanding, PlanStanding, SubscriptionStatus};

/// `retry_payment_reason`: the code for a payment that may be retried, or the reason why it may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum RetryReason {
    /// It may be retried.
    Available,
    /// The subscription is canceled and must be resumed first.
    Canceled,
    /// A charge is in progress.
    Processing,
    /// The acquirer may or may not have the charge.
    NeedsReconciliation,
    /// The period is paid.
    AlreadyPaid,
    /// The next period is not paid yet, and its charge is planned.
    ChargePlanned,
    /// The subscription or its customer has had all payments of the day: the charge is made on the next day.
    DailyLimit,
    /// There was no attempt yet.
    NoPayment,
    /// A later payment exists.
    NotLast,
    /// The payment did not fail.
    NotFailed,
    /// The terms have changed since the payment.
    TermsChanged,
    /// The plan ends, and no further period is charged.
    PlanUnavailable,
    /// The method must not be charged.
    MethodInactive,
    /// The subscription is parked; staff must check it first.
    Parked,
    /// The period or the method has had all its attempts.
    TooManyTries,
}

impl RetryReason {
    /// Kind of response to a refusal for this reason; `None` if the retry is allowed.
    pub fn refusal(self) -> Option<RefusalKind> {
        match self {
            Self::Available => None,
            Self::Processing | Self::NeedsReconciliation => Some(RefusalKind::Busy),
            _ => Some(RefusalKind::Unsuitable),
        }
    }
}

/// State of a payment of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum PaymentStanding {
    /// The outcome is open.
    Processing,
    /// The acquirer may or may not have it.
    OutcomeUnknown,
    /// The money has arrived.
    Succeeded,
    /// It failed finally.
    Failed,
}

/// An unanswered request is not visible in the state of a charge, so this never gives `OutcomeUnknown`. Callers that
/// know of it must set it.
impl From<ChargeState> for PaymentStanding {
    fn from(state: ChargeState) -> Self {
        match state {
            ChargeState::Prepared | ChargeState::Pending => Self::Processing,
            ChargeState::Succeeded => Self::Succeeded,
            ChargeState::Canceled | ChargeState::Expired | ChargeState::Refused => Self::Failed,
        }
    }
}

/// Facts that decide about a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other")]
pub struct RetryFacts {
    /// State of the subscription.
    pub status: SubscriptionStatus,
    /// `true` if a paid period is current.
    pub paid: bool,
    /// State of the last payment of the subscription; `None` before the first.
    pub last: Option<PaymentStanding>,
    /// `true` if the requested payment is the last one, or none is requested.
    pub is_last: bool,
    /// `true` if plan, price, period or method have changed since that payment.
    pub terms_changed: bool,
    /// State of the method that would be charged.
    pub method: MethodStanding,
    /// State of the plan.
    pub plan: PlanStanding,
    /// `true` if the subscription is parked.
    pub parked: bool,
    /// `true` if the period and the method have attempts left ([`crate::allows_unplanned_try`]).
    pub tries_left: bool,
    /// `true` if the day's payments of the subscription or of its customer are used up.
    pub limit_reached: bool,
}

/// Returns `true` with [`RetryReason::Available`] if a payment may be retried, otherwise `false` with the
/// reason. The contract: only the last finalized failed attempt, with unchanged terms and no pending
/// reconciliation. Reasons in progress come before permanent ones.
pub fn can_retry_payment(facts: RetryFacts) -> (bool, RetryReason) {
    let RetryFacts { status, paid, last, is_last, terms_changed, method, plan, parked, tries_left, limit_reached } =
        facts;
    let active = status == SubscriptionStatus::Active;
    let reasons = [
        (last == Some(PaymentStanding::OutcomeUnknown), RetryReason::NeedsReconciliation),
        (last == Some(PaymentStanding::Processing) || status == SubscriptionStatus::Charging, RetryReason::Processing),
        (status == SubscriptionStatus::Canceled, RetryReason::Canceled),
        (active && paid, RetryReason::AlreadyPaid),
        (active && parked, RetryReason::Parked),
        (active && limit_reached, RetryReason::DailyLimit),
        (active, RetryReason::ChargePlanned),
        (last.is_none(), RetryReason::NoPayment),
        (!is_last, RetryReason::NotLast),
        (last != Some(PaymentStanding::Failed), RetryReason::NotFailed),
        (terms_changed, RetryReason::TermsChanged),
        (plan == PlanStanding::Ends, RetryReason::PlanUnavailable),
        (method == MethodStanding::Gone, RetryReason::MethodInactive),
        (parked, RetryReason::Parked),
        (!tries_left, RetryReason::TooManyTries),
        (limit_reached, RetryReason::DailyLimit),
    ];
    let reason = reasons.into_iter().find(|(holds, _)| *holds).map_or(RetryReason::Available, |(_, reason)| reason);
    (reason == RetryReason::Available, reason)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kontor_kernel::Word;

    use super::*;
    use crate::state::{ChargeOrigin, Facts, OpenCharge, SubscriptionEvent};

    const FAILED: RetryFacts = RetryFacts {
        status: SubscriptionStatus::PastDue,
        paid: false,
        last: Some(PaymentStanding::Failed),
        is_last: true,
        terms_changed: false,
        method: MethodStanding::Valid,
        plan: PlanStanding::Available,
        parked: false,
        tries_left: true,
        limit_reached: false,
    };

    #[test]
    fn each_reason_has_its_cause_and_its_answer() {
        use RefusalKind::{Busy, Unsuitable};
        let (active, charging) = (SubscriptionStatus::Active, SubscriptionStatus::Charging);
        let last = |last| RetryFacts { last: Some(last), ..FAILED };
        for (facts, word, answer) in [
            (FAILED, "available", None),
            (RetryFacts { method: MethodStanding::NeedsCustomer, ..FAILED }, "available", None),
            (RetryFacts { plan: PlanStanding::Renews, ..FAILED }, "available", None),
            (RetryFacts { status: SubscriptionStatus::Canceled, ..FAILED }, "canceled", Some(Unsuitable)),
            (RetryFacts { status: charging, ..last(PaymentStanding::Processing) }, "processing", Some(Busy)),
            (RetryFacts { status: charging, ..FAILED }, "processing", Some(Busy)),
            (
                RetryFacts { status: charging, ..last(PaymentStanding::OutcomeUnknown) },
                "needs_reconciliation",
                Some(Busy),
            ),
            (
                RetryFacts { status: active, paid: true, ..last(PaymentStanding::Succeeded) },
                "already_paid",
                Some(Unsuitable),
            ),
            (RetryFacts { status: active, ..last(PaymentStanding::Succeeded) }, "charge_planned", Some(Unsuitable)),
            (
                RetryFacts { status: active, parked: true, ..last(PaymentStanding::Succeeded) },
                "parked",
                Some(Unsuitable),
            ),
            (RetryFacts { status: active, limit_reached: true, ..FAILED }, "daily_limit", Some(Unsuitable)),
            (RetryFacts { limit_reached: true, ..FAILED }, "daily_limit", Some(Unsuitable)),
            (RetryFacts { last: None, ..FAILED }, "no_payment", Some(Unsuitable)),
            (RetryFacts { is_last: false, ..FAILED }, "not_last", Some(Unsuitable)),
            (last(PaymentStanding::Succeeded), "not_failed", Some(Unsuitable)),
            (RetryFacts { terms_changed: true, ..FAILED }, "terms_changed", Some(Unsuitable)),
            (RetryFacts { plan: PlanStanding::Ends, ..FAILED }, "plan_unavailable", Some(Unsuitable)),
            (RetryFacts { method: MethodStanding::Gone, ..FAILED }, "method_inactive", Some(Unsuitable)),
            (RetryFacts { parked: true, ..FAILED }, "parked", Some(Unsuitable)),
            (RetryFacts { tries_left: false, ..FAILED }, "too_many_tries", Some(Unsuitable)),
        ] {
            let (can, reason) = can_retry_payment(facts);
            assert_eq!((reason.word(), reason.refusal()), (word, answer), "{facts:?}");
            assert_eq!(can, word == "available");
        }
    }

    #[test]
    fn a_payment_has_the_state_of_its_charge() {
        let standings: Vec<_> = ChargeState::VARIANTS.iter().map(|state| PaymentStanding::from(*state)).collect();
        let (failed, processing) = (PaymentStanding::Failed, PaymentStanding::Processing);
        assert_eq!(standings, [processing, processing, PaymentStanding::Succeeded, failed, failed, failed]);
    }

    /// A retry reported as possible is allowed by the table of moves; otherwise it is refused for one of these
    /// reasons.
    #[test]
    fn every_allowed_retry_has_a_move() {
        let mut seen = BTreeSet::new();
        for status in SubscriptionStatus::VARIANTS.iter().copied() {
            for last in PaymentStanding::VARIANTS.iter().copied().map(Some).chain([None]) {
                for method in MethodStanding::VARIANTS.iter().copied() {
                    for plan in PlanStanding::VARIANTS.iter().copied() {
                        for bits in 0..32_u8 {
                            let facts = RetryFacts {
                                status,
                                paid: status == SubscriptionStatus::Active && bits & 16 != 0,
                                last,
                                is_last: bits & 1 != 0,
                                terms_changed: bits & 2 != 0,
                                method,
                                plan,
                                parked: bits & 4 != 0,
                                tries_left: bits & 8 != 0,
                                limit_reached: status != SubscriptionStatus::Active && bits & 16 != 0,
                            };
                            let (can, reason) = can_retry_payment(facts);
                            seen.insert(reason.word());
                            let moved = status.after(SubscriptionEvent::Retry, standing(facts));
                            assert!(!can || moved.is_ok(), "{facts:?} {moved:?}");
                            let of_the_payment = !facts.is_last || facts.terms_changed || !facts.tries_left;
                            let failed = last == Some(PaymentStanding::Failed);
                            assert!(moved.is_err() || can || of_the_payment || !failed, "{facts:?} {reason}");
                        }
                    }
                }
            }
        }
        assert_eq!(seen, RetryReason::VARIANTS.iter().map(|reason| reason.word()).collect());
    }

    fn standing(facts: RetryFacts) -> Facts {
        Facts {
            activated: true,
            charge: match facts.last {
                Some(PaymentStanding::Processing) => OpenCharge::Running,
                Some(PaymentStanding::OutcomeUnknown) => OpenCharge::OutcomeUnknown,
                _ => OpenCharge::None,
            },
            origin: ChargeOrigin::Recovery,
            in_time: true,
            paid: facts.paid,
            method: facts.method,
            plan: facts.plan,
            parked: facts.parked,
            limit_reached: facts.limit_reached,
            refund_ends: false,
        }
    }
}
