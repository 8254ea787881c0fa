use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{Clock, CounterpartyId, CustomerScope, FileId, NotificationId, Page, PageRequest, StoreError};

use crate::CustomerError;
use crate::model::{Customer, ProfileChange};
use crate::ports::{CustomerRepository, NotificationReader};

/// Use cases of a customer's own record.
pub struct ProfileService {
    /// Storage of customers.
    pub customers: Arc<dyn CustomerRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl ProfileService {
    /// Returns the customer's own record.
    pub async fn profile(&self, customer: CustomerScope) -> Result<Customer, CustomerError> {
        let record = self.customers.find(customer.counterparty_id).await?;
        record.and_then(|record| record.within(customer.app.project_id)).ok_or(CustomerError::NotFound)
    }

    /// Changes the customer's own record and returns the result.
    pub async fn change(&self, customer: CustomerScope, change: ProfileChange) -> Result<Customer, CustomerError> {
        let record = self.profile(customer).await?;
        let decided = change.decide(customer.app.project_id, &record, self.clock.now())?;
        self.customers.change_profile(decided).await?;
        self.profile(customer).await
    }

    /// Deletes the customer. Their orders stay; the same contact creates a new customer afterwards.
    pub async fn delete_account(&self, customer: CustomerScope) -> Result<(), CustomerError> {
        self.customers.delete_account(customer.app.project_id, customer.counterparty_id, self.clock.now()).await
    }
}

/// Use cases of customer records for operators.
pub struct CustomerAdministration {
    /// Storage of customers.
    pub customers: Arc<dyn CustomerRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl CustomerAdministration {
    /// Sets or removes the avatar of a customer. The file must have the avatar type and be uploaded by staff of
    /// their project.
    pub async fn set_avatar(&self, id: CounterpartyId, avatar: Option<FileId>) -> Result<(), CustomerError> {
        self.customers.set_avatar(id, avatar, self.clock.now()).await
    }
}

/// Notification of a customer, with the text as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// Identifier.
    pub id: NotificationId,
    /// Title, one line.
    pub title: String,
    /// Code of the event; the areas that write notifications define the codes.
    pub code: String,
    /// Body.
    pub body: Option<String>,
    /// URL for the notification in its application, if the application has one.
    pub action_url: Option<String>,
    /// Time of the event.
    pub created_at: DateTime<Utc>,
}

/// Use cases of notifications. Other areas write them, in the commits of their events.
pub struct NotificationService {
    /// Reads notifications.
    pub notifications: Arc<dyn NotificationReader>,
}

impl NotificationService {
    /// Returns one page of the customer's notifications in the calling application, newest first.
    pub async fn list(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Notification>, StoreError> {
        self.notifications.page(customer, page).await
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};
    use kontor_kernel::testing::{app_scope, customer_scope};
    use kontor_kernel::{Edit, Email, FixedClock, Phone, ProjectId, ProjectScoped};

    use super::*;
    use crate::model::{DecidedChange, PersonalData, samples};
    use crate::ports::MockCustomerRepository;

    fn record() -> Customer {
        Customer { email: Email::parse("anna@x.ru").ok(), ..samples::customer() }
    }

    fn scope() -> CustomerScope {
        customer_scope(app_scope(1, 1))
    }

    fn service(customers: MockCustomerRepository) -> ProfileService {
        let noon = DateTime::UNIX_EPOCH + TimeDelta::hours(12);
        ProfileService { customers: Arc::new(customers), clock: Arc::new(FixedClock::at(noon)) }
    }

    fn known(project: i64) -> MockCustomerRepository {
        let mut customers = MockCustomerRepository::new();
        customers
            .expect_find()
            .returning(move |_| Ok(Some(ProjectScoped::new(ProjectId::new(project).unwrap(), record()))));
        customers
    }

    #[tokio::test]
    async fn a_record_of_another_project_does_not_exist() {
        for (project, seen) in [(1, true), (2, false)] {
            assert_eq!(service(known(project)).profile(scope()).await.is_ok(), seen);
            let mut customers = known(project);
            customers.expect_change_profile().times(usize::from(seen)).returning(|_| Ok(()));
            assert_eq!(service(customers).change(scope(), ProfileChange::default()).await.is_ok(), seen);
        }
    }

    #[tokio::test]
    async fn a_repetition_changes_nothing() {
        let mut customers = known(1);
        let expected =
            |change: &DecidedChange| change.data == PersonalData::default() && change.customer == record().id;
        customers.expect_change_profile().withf(expected).once().returning(|_| Ok(()));
        let data = PersonalData { email: Edit::Set(record().email), ..PersonalData::default() };
        service(customers).change(scope(), ProfileChange { data, phone_1: Edit::Set(record().phone_1) }).await.unwrap();
    }

    #[tokio::test]
    async fn all_errors_of_a_change_are_reported_together() {
        for (day, wrong) in [("1970-01-01", false), ("1970-01-02", true), ("1900-01-01", false), ("1899-12-31", true)] {
            for (phone, other) in [(record().phone_1, false), (None, true), (Phone::parse("79007654321").ok(), true)] {
                let data = PersonalData { birthday: Edit::Set(day.parse().ok()), ..PersonalData::default() };
                let decided = ProfileChange { data, phone_1: Edit::Set(phone) }.decide(
                    scope().app.project_id,
                    &record(),
                    DateTime::UNIX_EPOCH,
                );
                let named = decided.err().unwrap_or_default();
                let named: Vec<_> = named.fields().keys().map(String::as_str).collect();
                let expected = [("birthday", wrong), ("phone_1", other)];
                let expected: Vec<_> = expected.iter().filter(|(_, bad)| *bad).map(|(field, _)| *field).collect();
                assert_eq!(named, expected, "{day}");
            }
        }
    }

    #[tokio::test]
    async fn a_customer_can_delete_only_their_own_record() {
        let mut customers = MockCustomerRepository::new();
        customers
            .expect_delete_account()
            .withf(|project, id, _| (project.get(), id.get()) == (1, 4))
            .once()
            .returning(|_, _, _| Err(CustomerError::PaymentOpen));
        assert!(matches!(service(customers).delete_account(scope()).await, Err(CustomerError::PaymentOpen)));
    }
}
