//! Effects of moves, and notices to customers.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

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
