use kontor_kernel::{StoreError, VerificationId};

/// Errors of starting a verification.
#[derive(Debug, thiserror::Error)]
pub enum VerificationError {
    /// The acquirer refused the payment.
    #[error("the payment of verification {id} was refused")]
    PaymentRefused {
        /// The verification, which is closed.
        id: VerificationId,
        /// Reason given by the acquirer, for the log.
        reason: String,
    },
    /// The customer was deleted.
    #[error("the customer account is deleted")]
    CustomerDeleted,
    /// Storage error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Errors of the use cases of saved payment methods.
#[derive(Debug, thiserror::Error)]
pub enum SavedMethodError {
    /// The customer has no such method in this application.
    #[error("there is no such payment method")]
    NotFound,
    /// Storage error.
    #[error(transparent)]
    Store(#[from] StoreError),
}
