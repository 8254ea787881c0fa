//! Conditions and effects of the table of moves, notices to customers, and the change: everything that one commit
//! writes.

use chrono::{DateTime, Utc};
use kontor_kernel::SavedMethodId;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::model::{AttemptState, NewAttempt, Subscription};
use crate::state::{
    ChargeOrigin, Facts, MethodStanding, OpenCharge, PlanStanding, SubscriptionEvent, SubscriptionStatus,
};
use crate::terms::ConsentedTerms;

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

/// Outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The money has arrived.
    Succeeded,
    /// No money will arrive.
    Failed {
        /// Reason given by the acquirer.
        reason: String,
    },
}

/// Everything to write when an event changes a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionChange {
    /// Event.
    pub event: SubscriptionEvent,
    /// Status before.
    pub from: SubscriptionStatus,
    /// Subscription after the change.
    pub subscription: Subscription,
    /// Outcome of the open attempt.
    pub ended: Option<AttemptEnd>,
    /// Attempt to make.
    pub attempt: Option<NewAttempt>,
    /// Consent of the customer.
    pub consent: Option<ConsentedTerms>,
    /// Method that must never be charged again.
    pub stopped_method: Option<SavedMethodId>,
    /// `true` if the money of the charge is refunded.
    pub returns_money: bool,
    /// Notices to the customer.
    pub notices: Vec<SubscriptionNotice>,
    /// Time of the change.
    pub at: DateTime<Utc>,
}

impl SubscriptionChange {
    /// State of the open attempt after the change; `None` if it has ended or does not change.
    pub fn open_attempt(&self) -> Option<AttemptState> {
        match self.event {
            SubscriptionEvent::ChargeUnknown => Some(AttemptState::NeedsReconciliation),
            SubscriptionEvent::ChargePending => Some(AttemptState::Processing),
            _ => None,
        }
    }
}
