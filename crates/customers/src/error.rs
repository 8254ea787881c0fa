use kontor_kernel::{StoreError, Violations};

/// Why a use case of customers is refused.
#[derive(Debug, thiserror::Error)]
pub enum CustomerError {
    /// There is no such customer.
    #[error("there is no such customer")]
    NotFound,
    /// These fields cannot be changed so.
    #[error("the record cannot be changed as asked")]
    Invalid(Violations),
    /// The e-mail address signs another customer of the project in.
    #[error("belongs to another customer")]
    EmailTaken,
    /// The named file is no avatar of his project.
    #[error("there is no such avatar")]
    UnknownAvatar,
    /// A payment of his may still take place.
    #[error("a payment is still running; try again when it has ended")]
    ChargeRunning,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Violations> for CustomerError {
    fn from(violations: Violations) -> Self {
        Self::Invalid(violations)
    }
}
