//! Why nothing comes of what is asked.

use kontor_kernel::{AccessDenied, StoreError};

use crate::refusal::MoveRefused;
use crate::retry::RetryReason;
use crate::terms::TermsDifference;

/// What is wrong with what a customer asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionRefusal {
    /// The plan is not offered in the application, or not by its terms.
    #[error("this plan is not available")]
    PlanUnavailable,
    /// Plans of one payment have one currency and one length of the period.
    #[error("plans that are paid together must have the same currency and billing period")]
    PlansDiffer,
    /// A period of this length cannot be charged.
    #[error("a period of this plan is longer than what can be charged")]
    PeriodTooLong,
    /// A plan that costs nothing cannot be charged.
    #[error("this plan costs nothing")]
    NothingToPay,
    /// The customer is subscribed to it.
    #[error("you are subscribed to this plan already")]
    AlreadySubscribed,
    /// The application has no warehouse.
    #[error("nothing can be paid in this application: it has no warehouse")]
    NoWarehouse,
    /// Receipts are made, and nobody knows where to send them.
    #[error("a phone or an e-mail address is needed for the receipt")]
    NoContact,
    /// The saved method is not one of the customer in the application.
    #[error("this payment method is not available")]
    MethodUnavailable,
    /// Its first charge never succeeded.
    #[error("the subscription was never activated")]
    NeverActivated,
    /// Terms change, and there is no consent.
    #[error("autopay_consent must be true: plan, price, period or payment method change")]
    ConsentNeeded(Vec<TermsDifference>),
    /// The payment cannot be retried.
    #[error("this payment cannot be retried: {0}")]
    NotRetryable(RetryReason),
    /// The application of the subscription is deactivated.
    #[error("the application is deactivated: nothing is charged until it is activated again")]
    ApplicationInactive,
    /// The next period cannot begin then.
    #[error("the next period cannot begin then: {0}")]
    NotThen(crate::schedule::ScheduleRefused),
    /// The next period would begin too late.
    #[error("the next period must begin within two years")]
    TooFar,
    /// The acquirer will not take the money of a first charge.
    #[error("the payment failed: {reason}")]
    PaymentFailed {
        /// The acquirer's reason.
        reason: String,
    },
}

/// Why a use case fails.
#[derive(Debug, thiserror::Error)]
pub enum SubscriptionError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such subscription or payment, as far as the caller may know.
    #[error("not found")]
    NotFound,
    /// The customer has left.
    #[error("the customer has left")]
    CustomerGone,
    /// Another first payment of the customer is not finished.
    #[error("another payment is not finished")]
    AnotherUnfinished,
    /// What is asked for cannot be.
    #[error(transparent)]
    Refused(#[from] SubscriptionRefusal),
    /// The state does not allow it.
    #[error(transparent)]
    Move(#[from] MoveRefused),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
