use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    CounterpartyId, CustomerContactId, CustomerScope, FileId, Listing, Page, PageRequest, ProjectId, ProjectScoped,
    Stamp, StoreError,
};

use super::{Guard, InMemoryCustomers};
use crate::model::{
    ContactChange, ContactDraft, Customer, CustomerChange, CustomerContact, CustomerDraft, DecidedChange, Notification,
    Owned, StaffCustomer,
};
use crate::ports::{CustomerPartRepository, CustomerRepository, NotificationReader, StaffCustomerRepository};
use crate::{CustomerError, CustomerPartError, StaffCustomerError, StaffCustomerRefusal};

#[async_trait]
impl CustomerRepository for InMemoryCustomers {
    async fn find(&self, id: CounterpartyId) -> Result<Option<ProjectScoped<Customer>>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.customers.get(&id);
            found.map(|entry| ProjectScoped::new(entry.project_id, entry.customer.record.clone()))
        }))
    }

    async fn change_profile(&self, change: DecidedChange) -> Result<(), CustomerError> {
        self.state.with(|state| state.change_profile(change))
    }

    async fn set_avatar(
        &self,
        id: CounterpartyId,
        avatar: Option<FileId>,
        at: DateTime<Utc>,
    ) -> Result<(), CustomerError> {
        self.state.with(|state| state.set_avatar(id, avatar, at))
    }

    async fn delete_account(
        &self,
        project: ProjectId,
        id: CounterpartyId,
        _: DateTime<Utc>,
    ) -> Result<(), CustomerError> {
        self.state.with(|state| state.delete(project, id))
    }
}

#[async_trait]
impl StaffCustomerRepository for InMemoryCustomers {
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<StaffCustomer>, StoreError> {
        let mut all: Vec<StaffCustomer> = self.state.with(|state| {
            let any = !state.guards.has(Guard::Project);
            let own = state.customers.values().filter(|entry| entry.project_id == project || any);
            own.map(|entry| entry.customer.clone()).collect()
        });
        if listing.sort.descending {
            all.reverse();
        }
        listing.page_of(all)
    }

    async fn find(&self, id: CounterpartyId) -> Result<Option<ProjectScoped<StaffCustomer>>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.customers.get(&id);
            found.map(|entry| ProjectScoped::new(entry.project_id, entry.customer.clone()))
        }))
    }

    async fn insert(&self, stamp: Stamp, draft: CustomerDraft) -> Result<StaffCustomer, StaffCustomerError> {
        self.state.with(|state| state.insert(stamp, draft))
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: CounterpartyId,
        change: CustomerChange,
    ) -> Result<StaffCustomer, StaffCustomerError> {
        self.state.with(|state| state.update(stamp, id, change))
    }

    async fn delete(&self, stamp: Stamp, id: CounterpartyId) -> Result<(), StaffCustomerError> {
        self.state.with(|state| state.delete(stamp.project_id, id)).map_err(|refused| match refused {
            CustomerError::PaymentOpen => StaffCustomerRefusal::PaymentOpen.into(),
            _ => StaffCustomerError::NotFound,
        })
    }
}

#[async_trait]
impl CustomerPartRepository<CustomerContact> for InMemoryCustomers {
    async fn of_customer(
        &self,
        project: ProjectId,
        customer: CounterpartyId,
    ) -> Result<Vec<CustomerContact>, StoreError> {
        Ok(self.state.with(|state| {
            if state.own(project, customer).is_none() {
                return Vec::new();
            }
            let own = state.contacts.values().filter(|owned| owned.customer == customer);
            own.map(|owned| owned.part.clone()).collect()
        }))
    }

    async fn find(&self, id: CustomerContactId) -> Result<Option<ProjectScoped<Owned<CustomerContact>>>, StoreError> {
        Ok(self.state.with(|state| {
            let owned = state.contacts.get(&id)?;
            let customer = state.customers.get(&owned.customer)?;
            Some(ProjectScoped::new(customer.project_id, owned.clone()))
        }))
    }

    async fn insert(
        &self,
        stamp: Stamp,
        customer: CounterpartyId,
        draft: ContactDraft,
    ) -> Result<CustomerContact, CustomerPartError> {
        self.state.with(|state| state.add_contact(stamp, customer, draft))
    }

    async fn update(
        &self,
        stamp: Stamp,
        customer: CounterpartyId,
        id: CustomerContactId,
        change: ContactChange,
    ) -> Result<CustomerContact, CustomerPartError> {
        self.state.with(|state| state.change_contact(stamp, customer, id, change))
    }
}

#[async_trait]
impl NotificationReader for InMemoryCustomers {
    async fn page(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Notification>, StoreError> {
        let newest = self.state.with(|state| {
            let any = !state.guards.has(Guard::Recipient);
            let own = state.notifications.iter().rev().filter(|(recipient, _)| {
                let same = recipient.app.application_id == customer.app.application_id;
                any || (same && recipient.counterparty_id == customer.counterparty_id)
            });
            own.map(|(_, notification)| notification.clone()).collect()
        });
        Ok(Page::of(newest, page))
    }
}
