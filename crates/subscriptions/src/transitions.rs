//! Table of moves: the conditions and the target state of an event, its effects in the same commit, and its notice to
//! the customer.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::refusal::{MoveRefused, reason};
use crate::state::SubscriptionEvent::{
    self, Cancel, ChangeMethod, ChangePlan, ChargeAnnounced, ChargeContradicted, ChargeDeclinedHard,
    ChargeDeclinedSoft, ChargePending, ChargeStarted, ChargeSucceeded, ChargeUnknown, CustomerLeaves, DeleteMethod,
    DunningExhausted, MoveDay, Pause, PeriodDue, PlanWithdrawn, RefundPeriod, Release, Resume, Retry, Skip,
};
use crate::state::SubscriptionStatus::{self, Active, Canceled, Charging, PastDue};
use crate::state::{ChargeOrigin, Facts, MethodStanding, OpenCharge, PlanStanding};
use Condition::{
    Any, Chargeable, ChargeableUnaided, Collects, EndsPeriod, EndsUnpaid, FirstCharge, IsParked, KeepsPeriod,
    LateCharge, LosesPlan, MethodGone, MethodLost, MethodUsable, MissedStillPaid, MissedUnpaid, NoCharge,
    OpenChargeLeft, PlanBuyable, PlanEnds, PlanRenews, RecoveryInTime, RenewalInTime, ResumableOver, ResumablePaid,
    StillPaid, TriesAgain, Unpayable,
};
use Effect::{
    Anchor, AskLater, CollectMissed, EndPeriod, EndQueuedAttempts, GrantPeriod, NextMethod, NextTerms, Park, Reconcile,
    Reschedule, ReturnMoney, ScheduleTry, StartAttempt, StopMethod, Unpark,
};
use SubscriptionNotice::{
    SubscriptionActivated, SubscriptionCanceled, SubscriptionChargeAhead, SubscriptionEnded, SubscriptionEnding,
    SubscriptionMethodChanged, SubscriptionMethodNeeded, SubscriptionMissedPaid, SubscriptionPaymentFailed,
    SubscriptionRefunded, SubscriptionRenewed, SubscriptionRescheduled, SubscriptionResumed, SubscriptionTermsChanged,
};

/// Condition of a move, besides the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Condition {
    /// Always holds.
    Any,
    /// No charge is open.
    NoCharge,
    /// A charge is still open: the customer was deleted during the charge.
    OpenChargeLeft,
    /// All of these hold:
    ///
    /// - the subscription is activated and not parked
    /// - no charge is open, and no paid period is current
    /// - the plan continues, and the method is not gone
    /// - the daily limit allows another payment
    Chargeable,
    /// The charge is for a missed period during a paid one. All of these hold too:
    ///
    /// - the subscription is activated and not parked
    /// - no charge is open
    /// - the plan continues, and the method is not gone
    /// - the daily limit allows another payment
    Collects,
    /// As [`Self::Chargeable`], and the method needs no action by the customer.
    ChargeableUnaided,
    /// No charge is open, no paid period is current, the plan continues, and the method is gone.
    MethodGone,
    /// No charge is open, no paid period is current, and the plan ends.
    EndsUnpaid,
    /// No charge is open, no paid period is current, and the plan ends or the method cannot be charged without
    /// the customer.
    Unpayable,
    /// The charge is the first one.
    FirstCharge,
    /// The charge is for the period after a paid one, and that period is not over.
    RenewalInTime,
    /// The charge is for a past due period, and that period is not over.
    RecoveryInTime,
    /// The charge is a renewal or a recovery, and its period is over.
    LateCharge,
    /// The charge is for a missed period, and a paid period is current.
    MissedStillPaid,
    /// The charge is for a missed period, and no paid period is current.
    MissedUnpaid,
    /// The charge is not the first one, and a paid period is current.
    StillPaid,
    /// The charge is not the first one, no paid period is current, the plan continues, and the method is not
    /// gone.
    TriesAgain,
    /// The charge is not the first one, no paid period is current, the plan continues, and the method is gone.
    MethodLost,
    /// The charge is not the first one, no paid period is current, and the plan ends.
    LosesPlan,
    /// The subscription is activated, and the new plan can be bought.
    PlanBuyable,
    /// The subscription is activated, and the new method can be charged.
    MethodUsable,
    /// The refund ends the current paid period.
    EndsPeriod,
    /// The refund ends no period.
    KeepsPeriod,
    /// The subscription is parked.
    IsParked,
    /// The project lets withdrawn plans end.
    PlanEnds,
    /// The project renews withdrawn plans.
    PlanRenews,
    /// The subscription is activated, no charge is open, the plan can be bought, the method is not gone, and a
    /// paid period is current.
    ResumablePaid,
    /// As [`Self::ResumablePaid`], but the paid period is over.
    ResumableOver,
}

impl Condition {
    /// Returns `true` if the condition holds.
    pub fn holds(self, facts: Facts) -> bool {
        let Facts { activated, charge, origin, in_time, paid, method, plan, parked, limit_reached, refund_ends } =
            facts;
        let (first, idle) = (origin == ChargeOrigin::First, charge == OpenCharge::None);
        let (missed, unpaid_later) = (origin == ChargeOrigin::Missed, !first && !paid);
        let (gone, ends) = (method == MethodStanding::Gone, plan == PlanStanding::Ends);
        let may_go = activated && idle && !ends && !parked && !limit_reached;
        let payable = may_go && !paid;
        let resumable = activated && idle && plan == PlanStanding::Available && !gone;
        match self {
            Self::Any => true,
            Self::NoCharge => idle,
            Self::OpenChargeLeft => !idle,
            Self::Chargeable => payable && !gone,
            Self::Collects => may_go && missed && paid && !gone,
            Self::ChargeableUnaided => payable && method == MethodStanding::Valid,
            Self::MethodGone => idle && !paid && !ends && gone,
            Self::EndsUnpaid => idle && !paid && ends,
            Self::Unpayable => idle && !paid && (ends || method != MethodStanding::Valid),
            Self::FirstCharge => first,
            Self::RenewalInTime => origin == ChargeOrigin::Renewal && in_time,
            Self::RecoveryInTime => origin == ChargeOrigin::Recovery && in_time,
            Self::LateCharge => !first && !missed && !in_time,
            Self::MissedStillPaid => missed && paid,
            Self::MissedUnpaid => missed && !paid,
            Self::StillPaid => !first && paid,
            Self::TriesAgain => unpaid_later && !ends && !gone,
            Self::MethodLost => unpaid_later && !ends && gone,
            Self::LosesPlan => unpaid_later && ends,
            Self::PlanBuyable => activated && plan == PlanStanding::Available,
            Self::MethodUsable => activated && method == MethodStanding::Valid,
            Self::EndsPeriod => refund_ends && paid,
            Self::KeepsPeriod => !refund_ends,
            Self::IsParked => parked,
            Self::PlanEnds => ends,
            Self::PlanRenews => !ends,
            Self::ResumablePaid => resumable && paid,
            Self::ResumableOver => resumable && !paid,
        }
    }
}

/// Effect in the commit of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Effect {
    /// Writes the row of an attempt; the acquirer is called after the commit.
    StartAttempt,
    /// Marks the period of the charge as paid; the money becomes an order.
    GrantPeriod,
    /// Marks a missed period as paid; the money becomes an order. The current period stays.
    CollectMissed,
    /// Starts the due period now, and counts the following ones from this time.
    Anchor,
    /// Plans the next attempt by `dunning`.
    ScheduleTry,
    /// Removes planned attempts.
    EndQueuedAttempts,
    /// Checks at the acquirer until it is known if the charge exists. Until then the customer cannot act.
    Reconcile,
    /// Checks the outcome at the acquirer later.
    AskLater,
    /// Stops the method: no subscription charges it again.
    StopMethod,
    /// Applies the agreed terms from the next period on.
    NextTerms,
    /// Applies the agreed method from the next charge on.
    NextMethod,
    /// Ends the paid period now.
    EndPeriod,
    /// Replaces the schedule of the future periods.
    Reschedule,
    /// Refunds the money automatically: the case `returns`.
    ReturnMoney,
    /// Parks the subscription: nothing is charged until staff release it.
    Park,
    /// Releases the subscription after the check by staff.
    Unpark,
}

/// Notice to the customer, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum SubscriptionNotice {
    /// The first period is paid.
    SubscriptionActivated,
    /// Another period is paid.
    SubscriptionRenewed,
    /// A period missed during downtime is paid.
    SubscriptionMissedPaid,
    /// A charge failed.
    SubscriptionPaymentFailed,
    /// A payment method is missing; the next charge needs one.
    SubscriptionMethodNeeded,
    /// Another method will be charged.
    SubscriptionMethodChanged,
    /// Other terms apply from the next period on.
    SubscriptionTermsChanged,
    /// The subscription was canceled on request.
    SubscriptionCanceled,
    /// The subscription was resumed.
    SubscriptionResumed,
    /// The next charge is near.
    SubscriptionChargeAhead,
    /// The next charge moved to another day.
    SubscriptionRescheduled,
    /// Nothing is charged until staff have checked the subscription.
    SubscriptionOnHold,
    /// The subscription will end with the paid period.
    SubscriptionEnding,
    /// The subscription ended without a request of the customer.
    SubscriptionEnded,
    /// Money of a period was refunded, or is being refunded.
    SubscriptionRefunded,
}

/// Row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// State before.
    pub from: SubscriptionStatus,
    /// Event.
    pub event: SubscriptionEvent,
    /// Condition. For one state and event, at most one row has a condition that holds.
    pub condition: Condition,
    /// State after.
    pub to: SubscriptionStatus,
    /// Effects in the same commit, in this order.
    pub effects: &'static [Effect],
    /// Notice to the customer. Deleted customers get none.
    pub notice: Option<SubscriptionNotice>,
}

const fn row(
    from: SubscriptionStatus,
    event: SubscriptionEvent,
    condition: Condition,
    to: SubscriptionStatus,
    effects: &'static [Effect],
    notice: Option<SubscriptionNotice>,
) -> Move {
    Move { from, event, condition, to, effects, notice }
}

/// Every move; all others are refused. A test compares `docs/reference/subscription-states.md`.
pub const MOVES: &[Move] = &[
    row(Active, ChargeStarted, Chargeable, Charging, &[StartAttempt], None),
    row(Active, ChargeStarted, Collects, Charging, &[StartAttempt], None),
    row(Active, ChargeSucceeded, Any, Active, &[Park], None),
    row(Active, ChargeDeclinedSoft, Any, Active, &[Park], None),
    row(Active, ChargeDeclinedHard, Any, Active, &[Park], None),
    row(Active, ChargeContradicted, Any, Active, &[Park], None),
    row(Active, Cancel, NoCharge, Canceled, &[EndQueuedAttempts], Some(SubscriptionCanceled)),
    row(Active, ChangePlan, PlanBuyable, Active, &[NextTerms], Some(SubscriptionTermsChanged)),
    row(Active, ChangeMethod, MethodUsable, Active, &[NextMethod], Some(SubscriptionMethodChanged)),
    row(Active, DeleteMethod, Any, Active, &[StopMethod, EndQueuedAttempts], Some(SubscriptionMethodNeeded)),
    row(Active, RefundPeriod, EndsPeriod, Canceled, &[EndPeriod, EndQueuedAttempts], Some(SubscriptionRefunded)),
    row(Active, RefundPeriod, KeepsPeriod, Active, &[], Some(SubscriptionRefunded)),
    row(Active, CustomerLeaves, Any, Canceled, &[StopMethod, EndQueuedAttempts], None),
    row(Active, PlanWithdrawn, PlanEnds, Active, &[], Some(SubscriptionEnding)),
    row(Active, PlanWithdrawn, PlanRenews, Active, &[], None),
    row(Active, ChargeAnnounced, PlanRenews, Active, &[], Some(SubscriptionChargeAhead)),
    row(Active, Pause, NoCharge, Active, &[Reschedule], Some(SubscriptionRescheduled)),
    row(Active, Skip, NoCharge, Active, &[Reschedule], Some(SubscriptionRescheduled)),
    row(Active, MoveDay, NoCharge, Active, &[Reschedule], Some(SubscriptionRescheduled)),
    row(Active, Release, IsParked, Active, &[Unpark], None),
    row(Active, PeriodDue, Chargeable, Charging, &[StartAttempt], None),
    row(Active, PeriodDue, MethodGone, PastDue, &[], Some(SubscriptionMethodNeeded)),
    row(Active, PeriodDue, EndsUnpaid, Canceled, &[EndQueuedAttempts], Some(SubscriptionEnded)),
    row(Charging, ChargeSucceeded, FirstCharge, Active, &[Anchor, GrantPeriod], Some(SubscriptionActivated)),
    row(Charging, ChargeSucceeded, RenewalInTime, Active, &[GrantPeriod], Some(SubscriptionRenewed)),
    row(
        Charging,
        ChargeSucceeded,
        RecoveryInTime,
        Active,
        &[GrantPeriod, EndQueuedAttempts],
        Some(SubscriptionRenewed),
    ),
    row(
        Charging,
        ChargeSucceeded,
        LateCharge,
        Active,
        &[Anchor, GrantPeriod, EndQueuedAttempts],
        Some(SubscriptionRenewed),
    ),
    row(Charging, ChargeSucceeded, MissedStillPaid, Active, &[CollectMissed], Some(SubscriptionMissedPaid)),
    row(Charging, ChargeSucceeded, MissedUnpaid, PastDue, &[CollectMissed, ScheduleTry], Some(SubscriptionMissedPaid)),
    row(Charging, ChargeDeclinedSoft, StillPaid, Active, &[], Some(SubscriptionPaymentFailed)),
    row(
        Charging,
        ChargeDeclinedHard,
        StillPaid,
        Active,
        &[StopMethod, EndQueuedAttempts],
        Some(SubscriptionMethodNeeded),
    ),
    row(Charging, ChargeDeclinedSoft, FirstCharge, Canceled, &[], Some(SubscriptionPaymentFailed)),
    row(Charging, ChargeDeclinedSoft, TriesAgain, PastDue, &[ScheduleTry], Some(SubscriptionPaymentFailed)),
    row(Charging, ChargeDeclinedSoft, MethodLost, PastDue, &[], Some(SubscriptionMethodNeeded)),
    row(Charging, ChargeDeclinedSoft, LosesPlan, Canceled, &[EndQueuedAttempts], Some(SubscriptionEnded)),
    row(Charging, ChargeDeclinedHard, FirstCharge, Canceled, &[StopMethod], Some(SubscriptionPaymentFailed)),
    row(
        Charging,
        ChargeDeclinedHard,
        TriesAgain,
        PastDue,
        &[StopMethod, EndQueuedAttempts, ScheduleTry],
        Some(SubscriptionPaymentFailed),
    ),
    row(
        Charging,
        ChargeDeclinedHard,
        MethodLost,
        PastDue,
        &[StopMethod, EndQueuedAttempts],
        Some(SubscriptionMethodNeeded),
    ),
    row(Charging, ChargeDeclinedHard, LosesPlan, Canceled, &[StopMethod, EndQueuedAttempts], Some(SubscriptionEnded)),
    row(Charging, ChargeUnknown, Any, Charging, &[Reconcile], None),
    row(Charging, ChargePending, Any, Charging, &[AskLater], None),
    row(Charging, ChargeContradicted, Any, Charging, &[Park], None),
    row(Charging, ChangePlan, PlanBuyable, Charging, &[NextTerms], Some(SubscriptionTermsChanged)),
    row(Charging, ChangeMethod, MethodUsable, Charging, &[NextMethod], Some(SubscriptionMethodChanged)),
    row(Charging, DeleteMethod, Any, Charging, &[StopMethod, EndQueuedAttempts], Some(SubscriptionMethodNeeded)),
    row(Charging, RefundPeriod, KeepsPeriod, Charging, &[], Some(SubscriptionRefunded)),
    row(Charging, CustomerLeaves, Any, Canceled, &[StopMethod, EndQueuedAttempts], None),
    row(Charging, PlanWithdrawn, PlanEnds, Charging, &[], Some(SubscriptionEnding)),
    row(Charging, PlanWithdrawn, PlanRenews, Charging, &[], None),
    row(PastDue, ChargeStarted, Chargeable, Charging, &[StartAttempt], None),
    row(PastDue, ChargeSucceeded, Any, PastDue, &[Park], None),
    row(PastDue, ChargeDeclinedSoft, Any, PastDue, &[Park], None),
    row(PastDue, ChargeDeclinedHard, Any, PastDue, &[Park], None),
    row(PastDue, ChargeContradicted, Any, PastDue, &[Park], None),
    row(PastDue, Cancel, NoCharge, Canceled, &[EndQueuedAttempts], Some(SubscriptionCanceled)),
    row(PastDue, Retry, Chargeable, Charging, &[EndQueuedAttempts, StartAttempt], None),
    row(
        PastDue,
        ChangePlan,
        PlanBuyable,
        PastDue,
        &[NextTerms, EndQueuedAttempts, ScheduleTry],
        Some(SubscriptionTermsChanged),
    ),
    row(
        PastDue,
        ChangeMethod,
        MethodUsable,
        PastDue,
        &[NextMethod, EndQueuedAttempts, ScheduleTry],
        Some(SubscriptionMethodChanged),
    ),
    row(PastDue, DeleteMethod, Any, PastDue, &[StopMethod, EndQueuedAttempts], Some(SubscriptionMethodNeeded)),
    row(PastDue, RefundPeriod, KeepsPeriod, PastDue, &[], Some(SubscriptionRefunded)),
    row(PastDue, CustomerLeaves, Any, Canceled, &[StopMethod, EndQueuedAttempts], None),
    row(PastDue, PlanWithdrawn, PlanEnds, Canceled, &[EndQueuedAttempts], Some(SubscriptionEnded)),
    row(PastDue, PlanWithdrawn, PlanRenews, PastDue, &[], None),
    row(PastDue, Release, IsParked, PastDue, &[Unpark, ScheduleTry], None),
    row(PastDue, PeriodDue, ChargeableUnaided, Charging, &[EndQueuedAttempts, StartAttempt], None),
    row(PastDue, PeriodDue, Unpayable, Canceled, &[EndQueuedAttempts], Some(SubscriptionEnded)),
    row(PastDue, DunningExhausted, NoCharge, Canceled, &[EndQueuedAttempts], Some(SubscriptionEnded)),
    row(Canceled, ChargeSucceeded, Any, Canceled, &[ReturnMoney], Some(SubscriptionRefunded)),
    row(Canceled, ChargeDeclinedSoft, OpenChargeLeft, Canceled, &[], None),
    row(Canceled, ChargeDeclinedHard, OpenChargeLeft, Canceled, &[StopMethod], None),
    row(Canceled, ChargeUnknown, OpenChargeLeft, Canceled, &[Reconcile], None),
    row(Canceled, ChargePending, OpenChargeLeft, Canceled, &[AskLater], None),
    row(Canceled, ChargeContradicted, Any, Canceled, &[Park], None),
    row(Canceled, Resume, ResumablePaid, Active, &[], Some(SubscriptionResumed)),
    row(Canceled, Resume, ResumableOver, PastDue, &[Anchor, ScheduleTry], Some(SubscriptionResumed)),
    row(Canceled, ChangePlan, PlanBuyable, Canceled, &[NextTerms], Some(SubscriptionTermsChanged)),
    row(Canceled, ChangeMethod, MethodUsable, Canceled, &[NextMethod], Some(SubscriptionMethodChanged)),
    row(Canceled, DeleteMethod, Any, Canceled, &[StopMethod, EndQueuedAttempts], None),
    row(Canceled, RefundPeriod, EndsPeriod, Canceled, &[EndPeriod], Some(SubscriptionRefunded)),
    row(Canceled, RefundPeriod, KeepsPeriod, Canceled, &[], Some(SubscriptionRefunded)),
    row(Canceled, CustomerLeaves, Any, Canceled, &[StopMethod, EndQueuedAttempts], None),
    row(Canceled, PlanWithdrawn, Any, Canceled, &[], None),
    row(Canceled, Release, IsParked, Canceled, &[Unpark], None),
];

impl SubscriptionStatus {
    /// Returns the move of a subscription in this state for an event.
    ///
    /// Events are judged one after the other, each in the commit that read the facts: the row of the
    /// subscription is locked, or the write is conditional on unchanged facts.
    pub fn after(self, event: SubscriptionEvent, facts: Facts) -> Result<Move, MoveRefused> {
        let mut rows = MOVES.iter().filter(|row| row.from == self && row.event == event);
        let found = rows.find(|row| row.condition.holds(facts));
        found.copied().ok_or_else(|| MoveRefused { from: self, event, reason: reason(self, event, facts) })
    }
}

#[cfg(test)]
mod tests;
