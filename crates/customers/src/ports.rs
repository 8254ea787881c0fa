//! What customer records need from the outside.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{CounterpartyId, FileId, OfProject, ProjectId, StoreError};

use crate::CustomerError;
use crate::model::{Customer, DecidedChange};

/// Customers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CustomerRepository: Send + Sync {
    /// A customer of any project who has not left.
    async fn find(&self, id: CounterpartyId) -> Result<Option<OfProject<Customer>>, StoreError>;

    /// Commits a change by the customer himself. A new e-mail address signs nobody in until it is proven. Refuses an
    /// address that signs another customer of the project in, and a customer who has left.
    async fn change_profile(&self, change: DecidedChange) -> Result<(), CustomerError>;

    /// Gives a customer another picture, or none. Refuses a customer who has left and a file that is no avatar of his
    /// project.
    async fn set_avatar(
        &self,
        id: CounterpartyId,
        avatar: Option<FileId>,
        at: DateTime<Utc>,
    ) -> Result<(), CustomerError>;

    /// Lets a customer leave, whole or not at all: his personal data is cleared, what signed him in is forgotten, his
    /// tokens end. Orders stay as they are. Refuses while a payment of his may still take place, and a customer who
    /// has left before.
    async fn leave(&self, project: ProjectId, id: CounterpartyId, at: DateTime<Utc>) -> Result<(), CustomerError>;
}
