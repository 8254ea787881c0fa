//! What customer records need from the outside.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    CounterpartyId, CustomerScope, FileId, Listing, OfProject, Page, PageRequest, ProjectId, Stamp, StoreError,
};

use crate::model::{
    Customer, CustomerChange, CustomerDraft, CustomerPart, DecidedChange, Notification, Owned, StaffCustomer,
};
use crate::{CustomerError, CustomerPartError, StaffCustomerError};

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
    /// tokens end, what he was told goes. Orders stay as they are. Refuses while a payment of his may still take place, and a customer who
    /// has left before.
    async fn leave(&self, project: ProjectId, id: CounterpartyId, at: DateTime<Utc>) -> Result<(), CustomerError>;
}

/// Customers as staff keep them. Each change is one commit with its line of the history, or nothing.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StaffCustomerRepository: Send + Sync {
    /// One page of the customers of the project who have not left, by the fields `id`, `name`, `is_company`,
    /// `manager_id` and `created_at`; a text is looked for among names, phones, addresses and numbers.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<StaffCustomer>, StoreError>;

    /// A customer of any project who has not left.
    async fn find(&self, id: CounterpartyId) -> Result<Option<OfProject<StaffCustomer>>, StoreError>;

    /// Stores a new customer of the project. Refuses what others sign in with.
    async fn insert(&self, stamp: Stamp, draft: CustomerDraft) -> Result<StaffCustomer, StaffCustomerError>;

    /// Changes a customer of the project as [`CustomerChange::decide`] says of the record as it is then. A contact that
    /// is taken away signs nobody in any more, and who came by it comes anew.
    async fn update(
        &self,
        stamp: Stamp,
        id: CounterpartyId,
        change: CustomerChange,
    ) -> Result<StaffCustomer, StaffCustomerError>;

    /// Lets a customer of the project leave, as [`CustomerRepository::leave`] does.
    async fn delete(&self, stamp: Stamp, id: CounterpartyId) -> Result<(), StaffCustomerError>;
}

/// What belongs to customers. Each change is one commit with its line of the customer's history, or nothing.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CustomerPartRepository<P: CustomerPart>: Send + Sync {
    /// Those of a customer of the project, oldest first; none of one who has left.
    async fn of_customer(&self, project: ProjectId, customer: CounterpartyId) -> Result<Vec<P>, StoreError>;

    /// One of any project.
    async fn find(&self, id: P::Id) -> Result<Option<OfProject<Owned<P>>>, StoreError>;

    /// Notes another one of a customer of the project, up to [`CustomerPart::MOST`].
    async fn insert(&self, stamp: Stamp, customer: CounterpartyId, draft: P::Draft) -> Result<P, CustomerPartError>;

    /// Changes one of a customer of the project.
    async fn update(
        &self,
        stamp: Stamp,
        customer: CounterpartyId,
        id: P::Id,
        change: P::Change,
    ) -> Result<P, CustomerPartError>;
}

/// Reads what customers were told.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait NotificationReader: Send + Sync {
    /// One page of what this customer was told in this application, newest first, by a constant number of statements.
    async fn page(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Notification>, StoreError>;
}
