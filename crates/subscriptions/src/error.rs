//! Errors of subscriptions, and reasons why an event is refused.

use kontor_kernel::{AccessDenied, StoreError};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::retry::RetryReason;
use crate::state::SubscriptionEvent::{
    self, Cancel, ChangeMethod, ChangePlan, ChargeAnnounced, ChargeContradicted, ChargeDeclinedHard,
    ChargeDeclinedSoft, ChargePending, ChargeStarted, ChargeSucceeded, ChargeUnknown, CustomerLeaves, DeleteMethod,
    DunningExhausted, MoveDay, Pause, PeriodDue, PlanWithdrawn, RefundPeriod, Release, Resume, Retry, Skip,
};
use crate::state::SubscriptionStatus::{self, Active, Canceled, Charging, PastDue};
use crate::state::{Facts, MethodStanding, OpenCharge, PlanStanding};
use crate::terms::TermsDifference;

/// Reason why an event is refused, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString, thiserror::Error)]
#[strum(serialize_all = "snake_case")]
pub enum RefusalReason {
    /// A charge is open.
    #[error("a charge is in progress")]
    Processing,
    /// The acquirer may or may not have the charge.
    #[error("the outcome of a charge is not known yet")]
    NeedsReconciliation,
    /// The subscription is canceled.
    #[error("the subscription is canceled")]
    Canceled,
    /// The subscription is not canceled, so it cannot be resumed.
    #[error("the subscription is not canceled")]
    NotCanceled,
    /// The first charge never succeeded.
    #[error("the subscription was never activated")]
    NeverActivated,
    /// The period is paid.
    #[error("the period is already paid")]
    AlreadyPaid,
    /// No charge has failed.
    #[error("no charge has failed")]
    NotFailed,
    /// The plan cannot be bought, or ends.
    #[error("the plan is not available")]
    PlanUnavailable,
    /// The method cannot be charged.
    #[error("the payment method is not active")]
    MethodInactive,
    /// The subscription is parked; staff must check it first.
    #[error("the subscription is being checked")]
    Parked,
    /// The subscription or its customer has had all payments of the day.
    #[error("the daily payment limit is reached: the charge is made on the next day")]
    DailyLimit,
    /// The subscription is not parked.
    #[error("the subscription is not parked")]
    NotParked,
    /// The billing day depends on a charge that is still due.
    #[error("the subscription is past due")]
    PastDue,
    /// No charge is open.
    #[error("no charge is open")]
    NoChargeOpen,
    /// No paid period is current.
    #[error("no paid period is current")]
    NoPaidPeriod,
}

/// Kind of response to a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// Something is in progress; the same may be possible later. The contract's `409`.
    Busy,
    /// Not possible in the current state. The contract's `422`.
    Unsuitable,
}

/// Refusal of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct MoveRefused {
    /// State of the subscription.
    pub from: SubscriptionStatus,
    /// Refused event.
    pub event: SubscriptionEvent,
    /// Reason.
    pub reason: RefusalReason,
}

impl MoveRefused {
    /// Kind of response by the contract: only a retry during an open charge is a conflict. Canceling during a
    /// charge, or twice, is a `422` by its text.
    pub fn kind(self) -> RefusalKind {
        let open = matches!(self.reason, RefusalReason::Processing | RefusalReason::NeedsReconciliation);
        if open && self.event == Retry { RefusalKind::Busy } else { RefusalKind::Unsuitable }
    }
}

fn open_charge(facts: Facts) -> Option<RefusalReason> {
    match facts.charge {
        OpenCharge::None => None,
        OpenCharge::Running => Some(RefusalReason::Processing),
        OpenCharge::OutcomeUnknown => Some(RefusalReason::NeedsReconciliation),
    }
}

/// Returns the reason why the table has no row for an event.
pub(crate) fn reason(from: SubscriptionStatus, event: SubscriptionEvent, facts: Facts) -> RefusalReason {
    let open = open_charge(facts).or((from == Charging).then_some(RefusalReason::Processing));
    let plan = |needed: bool| needed.then_some(RefusalReason::PlanUnavailable);
    let method = (facts.method == MethodStanding::Gone).then_some(RefusalReason::MethodInactive);
    let activated = (!facts.activated).then_some(RefusalReason::NeverActivated);
    let canceled = (from == Canceled).then_some(RefusalReason::Canceled);
    match event {
        ChargeSucceeded | ChargeDeclinedSoft | ChargeDeclinedHard | ChargeUnknown | ChargePending
        | ChargeContradicted => RefusalReason::NoChargeOpen,
        RefundPeriod => open.unwrap_or(RefusalReason::NoPaidPeriod),
        Cancel => canceled.or(open).unwrap_or(RefusalReason::Canceled),
        Resume if from != Canceled => RefusalReason::NotCanceled,
        Resume => {
            let buyable = plan(facts.plan != PlanStanding::Available);
            activated.or(open).or(buyable).or(method).unwrap_or(RefusalReason::NotCanceled)
        }
        Retry if from == Active && facts.paid => open.unwrap_or(RefusalReason::AlreadyPaid),
        Retry if from == Active => open.unwrap_or(RefusalReason::NotFailed),
        DunningExhausted if from == Active => RefusalReason::NotFailed,
        ChangePlan => activated.unwrap_or(RefusalReason::PlanUnavailable),
        ChangeMethod => activated.unwrap_or(RefusalReason::MethodInactive),
        ChargeStarted | PeriodDue | Retry | DunningExhausted => {
            let ends = plan(facts.plan == PlanStanding::Ends);
            let paid = (facts.paid && matches!(from, Active | PastDue)).then_some(RefusalReason::AlreadyPaid);
            let parked = facts.parked.then_some(RefusalReason::Parked);
            let limit = facts.limit_reached.then_some(RefusalReason::DailyLimit);
            let reasons = [canceled, open, activated, paid, ends, method, parked, limit];
            reasons.into_iter().flatten().next().unwrap_or(RefusalReason::NotFailed)
        }
        Pause | Skip | MoveDay | ChargeAnnounced if from != PastDue => {
            canceled.or(open).unwrap_or(RefusalReason::PlanUnavailable)
        }
        Pause | Skip | MoveDay | ChargeAnnounced => open.unwrap_or(RefusalReason::PastDue),
        Release => RefusalReason::NotParked,
        DeleteMethod | CustomerLeaves | PlanWithdrawn => RefusalReason::NeverActivated,
    }
}

/// Reasons why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionRefusal {
    /// The plan is not offered in the application, or not with these terms.
    #[error("this plan is not available")]
    PlanUnavailable,
    /// Plans of one payment must have one currency and one length of the period.
    #[error("plans that are paid together must have the same currency and billing period")]
    PlansDiffer,
    /// A period of this length cannot be charged.
    #[error("the billing period of this plan is too long")]
    PeriodTooLong,
    /// A free plan cannot be charged.
    #[error("this plan is free and cannot be paid")]
    NothingToPay,
    /// The customer already has a subscription to the plan.
    #[error("you are already subscribed to this plan")]
    AlreadySubscribed,
    /// The application has no warehouse.
    #[error("payments are not available in this application: it has no warehouse")]
    NoWarehouse,
    /// The project has fiscal receipts, and the customer has no contact to send them to.
    #[error("a phone or an e-mail address is required for the receipt")]
    NoContact,
    /// The customer has no such saved method in the application.
    #[error("this payment method is not available")]
    MethodUnavailable,
    /// The first charge never succeeded.
    #[error("the subscription was never activated")]
    NeverActivated,
    /// The terms change, and there is no consent.
    #[error("autopay_consent must be true: plan, price, period or payment method change")]
    ConsentNeeded(Vec<TermsDifference>),
    /// The payment cannot be retried.
    #[error("this payment cannot be retried: {0}")]
    NotRetryable(RetryReason),
    /// The application of the subscription is deactivated.
    #[error("the application is deactivated: charges are disabled until it is activated again")]
    ApplicationInactive,
    /// The next period cannot begin at that time.
    #[error("the next period cannot begin at this time: {0}")]
    NotThen(crate::schedule::ScheduleRefused),
    /// The next period would begin too late.
    #[error("the next period must begin within two years")]
    TooFar,
    /// The acquirer refused the payment of a first charge.
    #[error("the payment failed: {reason}")]
    PaymentFailed {
        /// Reason given by the acquirer.
        reason: String,
    },
}

/// Errors of the use cases of subscriptions.
#[derive(Debug, thiserror::Error)]
pub enum SubscriptionError {
    /// The employee lacks the permission.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The subscription or payment does not exist, or the caller may not see it.
    #[error("not found")]
    NotFound,
    /// The customer was deleted.
    #[error("the customer account is deleted")]
    CustomerDeleted,
    /// The customer has another unfinished first payment.
    #[error("another payment is in progress")]
    AnotherUnfinished,
    /// The request is refused.
    #[error(transparent)]
    Refused(#[from] SubscriptionRefusal),
    /// The state does not allow it.
    #[error(transparent)]
    Move(#[from] MoveRefused),
    /// Storage error.
    #[error(transparent)]
    Store(#[from] StoreError),
}
