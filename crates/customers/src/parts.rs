use std::sync::Arc;

use kontor_kernel::{Clock, CounterpartyId, Permission, RecordError, Resource, Staff, Stamp};

use crate::model::{CustomerRecordPart, Owned};
use crate::ports::{CustomerPartRepository, StaffCustomerRepository};
use crate::{CustomerPartError, CustomerPartRefusal};

/// Use cases of contacts and bank accounts of customers, for staff.
pub struct CustomerPartService<P: CustomerRecordPart> {
    /// Storage of customers.
    pub customers: Arc<dyn StaffCustomerRepository>,
    /// Storage of their records.
    pub parts: Arc<dyn CustomerPartRepository<P>>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl<P: CustomerRecordPart> CustomerPartService<P> {
    /// Returns every record of a customer of the employee's project, oldest first.
    pub async fn list(&self, staff: &Staff, customer: CounterpartyId) -> Result<Vec<P>, CustomerPartError> {
        self.admit(staff, Permission::view(Resource::Counterparties), customer).await?;
        Ok(self.parts.of_customer(staff.project_id, customer).await?)
    }

    /// Returns a record of a customer of the employee's project. A record of another customer is not found.
    pub async fn read(&self, staff: &Staff, customer: CounterpartyId, id: P::Id) -> Result<P, CustomerPartError> {
        self.admit(staff, Permission::view(Resource::Counterparties), customer).await?;
        self.find(staff, customer, id).await
    }

    /// Adds a record to a customer of the employee's project.
    pub async fn create(
        &self,
        staff: &Staff,
        customer: CounterpartyId,
        draft: P::Draft,
    ) -> Result<P, CustomerPartError> {
        self.admit(staff, Permission::edit(Resource::Counterparties), customer).await?;
        let draft = P::checked(draft).map_err(CustomerPartRefusal::Invalid)?;
        self.parts.insert(Stamp::of(staff, self.clock.now()), customer, draft).await
    }

    /// Changes a record of a customer of the employee's project. A record of another customer is not found.
    pub async fn update(
        &self,
        staff: &Staff,
        customer: CounterpartyId,
        id: P::Id,
        change: P::Change,
    ) -> Result<P, CustomerPartError> {
        self.admit(staff, Permission::edit(Resource::Counterparties), customer).await?;
        self.find(staff, customer, id).await?;
        self.parts.update(Stamp::of(staff, self.clock.now()), customer, id, change).await
    }

    async fn find(&self, staff: &Staff, customer: CounterpartyId, id: P::Id) -> Result<P, CustomerPartError> {
        let found: Owned<P> = staff.require_own(self.parts.find(id).await?)?;
        if found.customer == customer { Ok(found.part) } else { Err(RecordError::NotFound) }
    }

    async fn admit(
        &self,
        staff: &Staff,
        permission: Permission,
        customer: CounterpartyId,
    ) -> Result<(), CustomerPartError> {
        staff.require(permission)?;
        staff.require_own(self.customers.find(customer).await?).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ContactChange, ContactDraft, ContactKind, CustomerContact, samples};
    use crate::ports::{MockCustomerPartRepository, MockStaffCustomerRepository};
    use chrono::DateTime;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, CustomerContactId, FixedClock, Name, ProjectId, ProjectScoped};

    fn contact() -> CustomerContact {
        CustomerContact {
            id: CustomerContactId::new(7).unwrap(),
            content: draft("anna@x.ru"),
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    fn draft(value: &str) -> ContactDraft {
        ContactDraft { kind: ContactKind::Email, value: Name::parse(value).unwrap(), name: None, comment: None }
    }

    fn project(number: i64) -> ProjectId {
        ProjectId::new(staff_with([]).project_id.get() + number).unwrap()
    }

    fn service(parts: MockCustomerPartRepository<CustomerContact>) -> CustomerPartService<CustomerContact> {
        let mut customers = MockStaffCustomerRepository::new();
        customers.expect_find().returning(|_| Ok(Some(ProjectScoped::new(project(0), samples::person()))));
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        CustomerPartService { customers: Arc::new(customers), parts: Arc::new(parts), clock }
    }

    #[tokio::test]
    async fn parts_of_another_customer_are_not_found_and_of_another_project_forbidden() {
        let customer = samples::customer().id;
        let other = CounterpartyId::new(customer.get() + 1).unwrap();
        for (project, owner, denied) in [(project(0), other, false), (project(1), customer, true)] {
            let mut parts = MockCustomerPartRepository::new();
            let found = Owned { customer: owner, part: contact() };
            parts.expect_find().returning(move |_| Ok(Some(ProjectScoped::new(project, found.clone()))));
            let staff = staff_with(Permission::all());
            let service = service(parts);
            let read = service.read(&staff, customer, contact().id).await;
            let updated = service.update(&staff, customer, contact().id, ContactChange::default()).await;
            for refused in [read, updated] {
                match refused.unwrap_err() {
                    RecordError::Denied(AccessDenied::ForeignProject) => assert!(denied),
                    RecordError::NotFound => assert!(!denied),
                    other => panic!("{other}"),
                }
            }
        }
    }

    #[tokio::test]
    async fn a_new_one_is_stored_in_its_form() {
        let mut parts = MockCustomerPartRepository::new();
        let stored = |draft: &ContactDraft| draft.value.as_str() == "anna@x.ru";
        parts.expect_insert().withf(move |_, _, draft| stored(draft)).once().returning(|_, _, _| Ok(contact()));
        let (service, staff) = (service(parts), staff_with(Permission::all()));
        service.create(&staff, samples::customer().id, draft("Anna@X.ru")).await.unwrap();
        let refused = service.create(&staff, samples::customer().id, draft("anna")).await;
        assert!(matches!(refused, Err(RecordError::Refused(CustomerPartRefusal::Invalid(_)))));
        let viewer = staff_with([Permission::view(Resource::Counterparties)]);
        let refused = service.create(&viewer, samples::customer().id, draft("anna@x.ru")).await;
        assert!(matches!(refused, Err(RecordError::Denied(AccessDenied::MissingPermission(_)))));
    }
}
