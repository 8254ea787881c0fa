//! Why an event moves nothing.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::state::SubscriptionEvent::{
    self, Cancel, ChangeMethod, ChangePlan, ChargeAnnounced, ChargeContradicted, ChargeDeclinedHard,
    ChargeDeclinedSoft, ChargePending, ChargeStarted, ChargeSucceeded, ChargeUnknown, CustomerLeaves, DeleteMethod,
    DunningExhausted, MoveDay, Pause, PeriodDue, PlanWithdrawn, RefundPeriod, Release, Resume, Retry, Skip,
};
use crate::state::SubscriptionStatus::{self, Active, Canceled, Charging, PastDue};
use crate::state::{Facts, MethodStanding, OpenCharge, PlanStanding};

/// Why an event moves nothing, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString, thiserror::Error)]
#[strum(serialize_all = "snake_case")]
pub enum RefusalReason {
    /// A charge is open.
    #[error("a charge is in progress")]
    Processing,
    /// Whether the acquirer has the charge is not known.
    #[error("the outcome of a charge is not known yet")]
    NeedsReconciliation,
    /// It is canceled.
    #[error("the subscription is canceled")]
    Canceled,
    /// It is not canceled, so there is nothing to resume.
    #[error("the subscription is not canceled")]
    NotCanceled,
    /// Its first charge never succeeded.
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
    /// People must look first.
    #[error("the subscription is being checked")]
    Parked,
    /// The subscription or its customer has had all payments of the day.
    #[error("no more payments today: the charge is made on the next day")]
    DailyLimit,
    /// Nobody must look at it.
    #[error("the subscription is not parked")]
    NotParked,
    /// Its billing day counts from a charge that is still due.
    #[error("the subscription is past due")]
    PastDue,
    /// No charge is open.
    #[error("no charge is open")]
    NoChargeOpen,
    /// No paid period is current.
    #[error("no paid period is current")]
    NoPaidPeriod,
}

/// How a refusal is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// Something is under way; the same may be possible later. The contract's `409`.
    Busy,
    /// Not possible as things stand. The contract's `422`.
    Unsuitable,
}

/// An event that moves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct MoveRefused {
    /// Where the subscription is.
    pub from: SubscriptionStatus,
    /// What was to happen.
    pub event: SubscriptionEvent,
    /// What is in the way.
    pub reason: RefusalReason,
}

impl MoveRefused {
    /// How the contract answers: only a retry that meets an open charge is a conflict. Canceling during a charge, and
    /// again, is unsuitable by its words.
    pub fn kind(self) -> RefusalKind {
        let open = matches!(self.reason, RefusalReason::Processing | RefusalReason::NeedsReconciliation);
        if open && self.event == Retry { RefusalKind::Busy } else { RefusalKind::Unsuitable }
    }
}

fn open_charge(facts: Facts) -> Option<RefusalReason> {
    match facts.charge {
        OpenCharge::None => None,
        OpenCharge::Running => Some(RefusalReason::Processing),
        OpenCharge::Unclear => Some(RefusalReason::NeedsReconciliation),
    }
}

/// What is in the way of an event for which the table has no row.
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
