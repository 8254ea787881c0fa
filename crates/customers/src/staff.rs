use std::sync::Arc;

use kontor_kernel::history::{Histories, HistoryEntry};
use kontor_kernel::{Clock, CounterpartyId, Listing, Page, Permission, Resource, Staff, Stamp};

use crate::StaffCustomerError;
use crate::StaffCustomerRefusal::Invalid;
use crate::model::{CustomerChange, CustomerDraft, StaffCustomer};
use crate::ports::StaffCustomerRepository;

/// Use cases of customer records for staff.
pub struct StaffCustomerService {
    /// Storage of customers.
    pub customers: Arc<dyn StaffCustomerRepository>,
    /// History of customers.
    pub histories: Arc<dyn Histories>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl StaffCustomerService {
    /// Returns one page of the customers of the employee's project. Fields: `id`, `name`, `is_company`,
    /// `manager_id`, `created_at`.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<StaffCustomer>, StaffCustomerError> {
        staff.require(Permission::view(Resource::Counterparties))?;
        Ok(self.customers.list(staff.project_id, listing).await?)
    }

    /// Returns one customer of the employee's project.
    pub async fn read(&self, staff: &Staff, id: CounterpartyId) -> Result<StaffCustomer, StaffCustomerError> {
        staff.require(Permission::view(Resource::Counterparties))?;
        staff.require_own(self.customers.find(id).await?)
    }

    /// Adds a customer to the employee's project.
    pub async fn create(&self, staff: &Staff, draft: CustomerDraft) -> Result<StaffCustomer, StaffCustomerError> {
        staff.require(Permission::create(Resource::Counterparties))?;
        let stamp = Stamp::of(staff, self.clock.now());
        draft.check_new(stamp.at).map_err(Invalid)?;
        self.customers.insert(stamp, draft).await
    }

    /// Changes a customer of the employee's project.
    pub async fn update(
        &self,
        staff: &Staff,
        id: CounterpartyId,
        change: CustomerChange,
    ) -> Result<StaffCustomer, StaffCustomerError> {
        staff.require(Permission::edit(Resource::Counterparties))?;
        staff.require_own(self.customers.find(id).await?)?;
        self.customers.update(Stamp::of(staff, self.clock.now()), id, change).await
    }

    /// Deletes a customer of the employee's project: their orders stay, personal data is removed. Refused while
    /// a payment of the customer may still take place.
    pub async fn delete(&self, staff: &Staff, id: CounterpartyId) -> Result<(), StaffCustomerError> {
        staff.require(Permission::edit(Resource::Counterparties))?;
        staff.require_own(self.customers.find(id).await?)?;
        self.customers.delete(Stamp::of(staff, self.clock.now()), id).await
    }

    /// Returns the history of a customer of the employee's project, latest first.
    pub async fn history(&self, staff: &Staff, id: CounterpartyId) -> Result<Vec<HistoryEntry>, StaffCustomerError> {
        staff.require(Permission::view(Resource::Counterparties))?;
        staff.require_own(self.customers.find(id).await?)?;
        Ok(self.histories.all(staff.project_id, Resource::Counterparties.name(), id.get()).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::samples;
    use crate::ports::MockStaffCustomerRepository;
    use crate::{CustomerReference, StaffCustomerRefusal};
    use chrono::DateTime;
    use kontor_kernel::history::MockHistories;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, FixedClock, ProjectId, ProjectScoped, RecordError};

    fn service(customers: MockStaffCustomerRepository) -> StaffCustomerService {
        StaffCustomerService {
            customers: Arc::new(customers),
            histories: Arc::new(MockHistories::new()),
            clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
        }
    }

    fn id() -> CounterpartyId {
        samples::customer().id
    }

    #[tokio::test]
    async fn each_use_case_needs_its_permission_before_anything_is_asked() {
        let (service, nobody) = (service(MockStaffCustomerRepository::new()), staff_with([]));
        let missing = |error: StaffCustomerError| match error {
            RecordError::Denied(AccessDenied::MissingPermission(permission)) => permission.to_string(),
            other => panic!("{other}"),
        };
        assert_eq!(missing(service.read(&nobody, id()).await.unwrap_err()), "view-counterparties");
        assert_eq!(missing(service.history(&nobody, id()).await.unwrap_err()), "view-counterparties");
        let draft = CustomerDraft::default();
        assert_eq!(missing(service.create(&nobody, draft).await.unwrap_err()), "create-counterparties");
        let change = CustomerChange::default();
        assert_eq!(missing(service.update(&nobody, id(), change).await.unwrap_err()), "edit-counterparties");
        assert_eq!(missing(service.delete(&nobody, id()).await.unwrap_err()), "edit-counterparties");
    }

    #[tokio::test]
    async fn a_customer_of_another_project_is_neither_shown_nor_touched() {
        let staff = staff_with(Permission::all());
        let other = ProjectId::new(staff.project_id.get() + 1).unwrap();
        let mut customers = MockStaffCustomerRepository::new();
        customers.expect_find().times(4).returning(move |_| Ok(Some(ProjectScoped::new(other, samples::person()))));
        let service = service(customers);
        let foreign = |error| matches!(error, RecordError::Denied(AccessDenied::ForeignProject));
        assert!(foreign(service.read(&staff, id()).await.unwrap_err()));
        assert!(foreign(service.history(&staff, id()).await.unwrap_err()));
        assert!(foreign(service.update(&staff, id(), CustomerChange::default()).await.unwrap_err()));
        assert!(foreign(service.delete(&staff, id()).await.unwrap_err()));
    }

    #[tokio::test]
    async fn contradicting_fields_are_refused_before_anything_is_stored() {
        let service = service(MockStaffCustomerRepository::new());
        let refused = service.create(&staff_with(Permission::all()), CustomerDraft::default()).await;
        assert!(
            matches!(refused, Err(RecordError::Refused(Invalid(wrong))) if wrong.fields().contains_key("first_name"))
        );
        let reported = StaffCustomerRefusal::Unavailable(vec![CustomerReference::Phone]).to_string();
        assert!(reported.contains("Phone"));
    }
}
