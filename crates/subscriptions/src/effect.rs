//! What moves do, and what customers are told.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// What happens in the commit of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Effect {
    /// The row of an attempt is written; the acquirer is called after the commit.
    StartAttempt,
    /// The period of the charge is paid; the money becomes an order.
    GrantPeriod,
    /// A missed period is paid; the money becomes an order. The current period stays as it is.
    CollectMissed,
    /// The period that is due begins now, and those after it are counted from this moment.
    Anchor,
    /// The next try is planned as `dunning` says.
    ScheduleTry,
    /// Tries that are planned are no more.
    EndQueuedAttempts,
    /// The acquirer is asked until it is known whether it has the charge. The customer can do nothing meanwhile.
    Reconcile,
    /// The acquirer is asked for the outcome later.
    AskLater,
    /// The method is never charged again, by any subscription.
    StopMethod,
    /// The terms that were agreed on are those of the next period.
    NextTerms,
    /// The method that was agreed on is that of the next charge.
    NextMethod,
    /// The paid period ends now.
    EndPeriod,
    /// The periods to come are counted anew.
    Reschedule,
    /// The money goes back by itself: the case `returns`.
    ReturnMoney,
    /// People must look; nothing is charged until they released it.
    Park,
    /// People have looked.
    Unpark,
}

/// What the customer is told, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum SubscriptionNotice {
    /// The first period is paid.
    SubscriptionActivated,
    /// Another period is paid.
    SubscriptionRenewed,
    /// A period that went by during a pause is paid.
    SubscriptionMissedPaid,
    /// A charge failed.
    SubscriptionPaymentFailed,
    /// A method is missing: without one the next charge is not possible.
    SubscriptionMethodNeeded,
    /// Another method will be charged.
    SubscriptionMethodChanged,
    /// Other terms apply from the next period on.
    SubscriptionTermsChanged,
    /// It was canceled, as was asked for.
    SubscriptionCanceled,
    /// The cancellation was taken back.
    SubscriptionResumed,
    /// The next charge comes in some days.
    SubscriptionChargeAhead,
    /// The next charge comes on another day.
    SubscriptionRescheduled,
    /// Nothing is charged until people have looked at it.
    SubscriptionOnHold,
    /// It will end with the paid period.
    SubscriptionEnding,
    /// It has ended without their asking.
    SubscriptionEnded,
    /// Money of a period went back, or is on its way.
    SubscriptionRefunded,
}
