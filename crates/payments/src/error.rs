use kontor_kernel::{StoreError, VerificationId};

/// Why no verification is under way.
#[derive(Debug, thiserror::Error)]
pub enum VerificationError {
    /// The acquirer refused the payment.
    #[error("the payment of verification {id} was refused")]
    PaymentRefused {
        /// The verification, which is closed.
        id: VerificationId,
        /// The acquirer's reason, for the log.
        reason: String,
    },
    /// The customer has left.
    #[error("the customer has left")]
    CustomerGone,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a use case of saved payment methods is refused.
#[derive(Debug, thiserror::Error)]
pub enum SavedMethodError {
    /// The customer has no such method in this application.
    #[error("there is no such payment method")]
    NotFound,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
