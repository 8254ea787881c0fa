//! Errors of subscriptions.

use kontor_kernel::{AccessDenied, StoreError};

use crate::refusal::MoveRefused;
use crate::retry::RetryReason;
use crate::terms::TermsDifference;

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
