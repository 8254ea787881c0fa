//! What customer records need from the outside.

use async_trait::async_trait;
use kontor_kernel::{CounterpartyId, StoreError};

use crate::model::Customer;

/// Customers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CustomerRepository: Send + Sync {
    /// A customer of any project; the caller checks the owner.
    async fn find(&self, id: CounterpartyId) -> Result<Option<Customer>, StoreError>;
}
