use kontor_kernel::StoreError;

/// Why a use case of customers is refused.
#[derive(Debug, thiserror::Error)]
pub enum CustomerError {
    /// There is no such customer.
    #[error("there is no such customer")]
    NotFound,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
