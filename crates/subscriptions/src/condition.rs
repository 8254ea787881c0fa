//! The conditions of the table of moves.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::state::{ChargeOrigin, Facts, MethodStanding, OpenCharge, PlanStanding};

/// What must hold for a move, beside the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Condition {
    /// Nothing.
    Any,
    /// No charge is open.
    NoCharge,
    /// A charge is still open: the customer left while it ran.
    OpenChargeLeft,
    /// It was activated, no charge is open, no paid period is current, the plan goes on, the method is not gone, it is not parked,
    /// and the day allows another payment.
    Chargeable,
    /// The charge is for a missed period while a paid one runs; no other is open, the plan goes on, the method is not gone,
    /// it is not parked, and the day allows another payment.
    Collects,
    /// Chargeable, and the method waits for nothing that the customer must do.
    ChargeableUnaided,
    /// No charge is open, no paid period is current, the plan goes on, and the method is gone.
    MethodGone,
    /// No charge is open, no paid period is current, and the plan ends.
    EndsUnpaid,
    /// No charge is open, no paid period is current, and the plan ends or the method cannot be charged unaided.
    Unpayable,
    /// The charge is the first one.
    FirstCharge,
    /// The charge is for the period after a paid one, which is not over.
    RenewalInTime,
    /// The charge is for a period past due, which is not over.
    RecoveryInTime,
    /// The charge is a renewal or a recovery, and its period is over.
    LateCharge,
    /// The charge is for a missed period, and a paid one runs.
    MissedStillPaid,
    /// The charge is for a missed period, and no paid one runs.
    MissedUnpaid,
    /// The charge is not the first one, and a paid period runs.
    StillPaid,
    /// The charge is not the first one, no paid period runs, the plan goes on, and the method is not gone.
    TriesAgain,
    /// The charge is not the first one, no paid period runs, the plan goes on, and the method is gone.
    MethodLost,
    /// The charge is not the first one, no paid period runs, and the plan ends.
    LosesPlan,
    /// It was activated, and the new plan can be bought.
    PlanBuyable,
    /// It was activated, and the new method can be charged.
    MethodUsable,
    /// The refund ends the paid period that is current.
    EndsPeriod,
    /// The refund ends no period.
    KeepsPeriod,
    /// It is parked.
    IsParked,
    /// The project lets withdrawn plans end.
    PlanEnds,
    /// The project renews withdrawn plans.
    PlanRenews,
    /// It was activated, no charge is open, the plan can be bought, the method can be charged, and the paid period runs.
    ResumablePaid,
    /// The same, and the paid period is over.
    ResumableOver,
}

impl Condition {
    /// Whether it holds.
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
