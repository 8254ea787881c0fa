//! Table of moves: the target state of an event, and its effects in the same commit.

use crate::effect::Condition::{
    self, Any, Chargeable, ChargeableUnaided, Collects, EndsPeriod, EndsUnpaid, FirstCharge, IsParked, KeepsPeriod,
    LateCharge, LosesPlan, MethodGone, MethodLost, MethodUsable, MissedStillPaid, MissedUnpaid, NoCharge,
    OpenChargeLeft, PlanBuyable, PlanEnds, PlanRenews, RecoveryInTime, RenewalInTime, ResumableOver, ResumablePaid,
    StillPaid, TriesAgain, Unpayable,
};
use crate::effect::Effect::{
    self, Anchor, AskLater, CollectMissed, EndPeriod, EndQueuedAttempts, GrantPeriod, NextMethod, NextTerms, Park,
    Reconcile, Reschedule, ReturnMoney, ScheduleTry, StartAttempt, StopMethod, Unpark,
};
use crate::effect::SubscriptionNotice::{
    self, SubscriptionActivated, SubscriptionCanceled, SubscriptionChargeAhead, SubscriptionEnded, SubscriptionEnding,
    SubscriptionMethodChanged, SubscriptionMethodNeeded, SubscriptionMissedPaid, SubscriptionPaymentFailed,
    SubscriptionRefunded, SubscriptionRenewed, SubscriptionRescheduled, SubscriptionResumed, SubscriptionTermsChanged,
};
use crate::error::{MoveRefused, reason};
use crate::state::Facts;
use crate::state::SubscriptionEvent::{
    self, Cancel, ChangeMethod, ChangePlan, ChargeAnnounced, ChargeContradicted, ChargeDeclinedHard,
    ChargeDeclinedSoft, ChargePending, ChargeStarted, ChargeSucceeded, ChargeUnknown, CustomerLeaves, DeleteMethod,
    DunningExhausted, MoveDay, Pause, PeriodDue, PlanWithdrawn, RefundPeriod, Release, Resume, Retry, Skip,
};
use crate::state::SubscriptionStatus::{self, Active, Canceled, Charging, PastDue};

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
