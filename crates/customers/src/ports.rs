//! Ports of customers: the interfaces that the outside implements.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    CounterpartyId, CustomerScope, FileId, Listing, Page, PageRequest, ProjectId, ProjectScoped, Stamp, StoreError,
};

use crate::model::{
    Customer, CustomerChange, CustomerDraft, CustomerRecordPart, DecidedChange, Notification, Owned, StaffCustomer,
};
use crate::{CustomerError, CustomerPartError, StaffCustomerError};

/// Storage of customers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CustomerRepository: Send + Sync {
    /// Returns a customer of any project, unless deleted.
    async fn find(&self, id: CounterpartyId) -> Result<Option<ProjectScoped<Customer>>, StoreError>;

    /// Commits a change by the customer. A new e-mail address cannot log in until it is verified. Refuses an
    /// address that another customer of the project logs in with, and a deleted customer.
    async fn change_profile(&self, change: DecidedChange) -> Result<(), CustomerError>;

    /// Sets or removes the avatar of a customer. Refuses a deleted customer, and a file that is no avatar of
    /// their project.
    async fn set_avatar(
        &self,
        id: CounterpartyId,
        avatar: Option<FileId>,
        at: DateTime<Utc>,
    ) -> Result<(), CustomerError>;

    /// Deletes a customer, completely or not at all: clears personal data, removes their logins, revokes their
    /// tokens, and deletes their notifications. Orders stay. Refuses while a payment of the customer may still
    /// take place, and a customer deleted before.
    async fn delete_account(
        &self,
        project: ProjectId,
        id: CounterpartyId,
        at: DateTime<Utc>,
    ) -> Result<(), CustomerError>;
}

/// Storage of customers for staff. Each change is one commit with its history entry, or nothing.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StaffCustomerRepository: Send + Sync {
    /// Returns one page of the customers of the project, without deleted ones. Fields: `id`, `name`,
    /// `is_company`, `manager_id` and `created_at`. A text is searched in names, phones, addresses and numbers.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<StaffCustomer>, StoreError>;

    /// Returns a customer of any project, unless deleted.
    async fn find(&self, id: CounterpartyId) -> Result<Option<ProjectScoped<StaffCustomer>>, StoreError>;

    /// Stores a new customer of the project. Refuses contacts that other customers log in with.
    async fn insert(&self, stamp: Stamp, draft: CustomerDraft) -> Result<StaffCustomer, StaffCustomerError>;

    /// Changes a customer of the project, as [`CustomerChange::decide`] returns for the current record. A
    /// removed contact can no longer log in, and the customer must log in again.
    async fn update(
        &self,
        stamp: Stamp,
        id: CounterpartyId,
        change: CustomerChange,
    ) -> Result<StaffCustomer, StaffCustomerError>;

    /// Deletes a customer of the project, as [`CustomerRepository::delete_account`] does.
    async fn delete(&self, stamp: Stamp, id: CounterpartyId) -> Result<(), StaffCustomerError>;
}

/// Storage of contacts and bank accounts of customers. Each change is one commit with its entry in the
/// customer's history, or nothing.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CustomerPartRepository<P: CustomerRecordPart>: Send + Sync {
    /// Returns the records of a customer of the project, oldest first; none for a deleted customer.
    async fn of_customer(&self, project: ProjectId, customer: CounterpartyId) -> Result<Vec<P>, StoreError>;

    /// Returns a record of any project.
    async fn find(&self, id: P::Id) -> Result<Option<ProjectScoped<Owned<P>>>, StoreError>;

    /// Adds a record to a customer of the project, up to [`CustomerRecordPart::MAX_PER_OWNER`].
    async fn insert(&self, stamp: Stamp, customer: CounterpartyId, draft: P::Draft) -> Result<P, CustomerPartError>;

    /// Changes a record of a customer of the project.
    async fn update(
        &self,
        stamp: Stamp,
        customer: CounterpartyId,
        id: P::Id,
        change: P::Change,
    ) -> Result<P, CustomerPartError>;
}

/// Reads notifications of customers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait NotificationReader: Send + Sync {
    /// Returns one page of the notifications of this customer in this application, newest first, with a constant
    /// number of statements.
    async fn page(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Notification>, StoreError>;
}
