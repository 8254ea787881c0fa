use std::sync::Arc;

use kontor_kernel::{ApplicationId, Clock, Listing, Page, Permission, Resource, Staff, Stamp};

use crate::AssortmentError;
use crate::model::MoveDirection;
use crate::ports::{ApplicationDirectory, Assignable, AssortmentRepository};

/// Use cases of the assortment of an application: its categories or its brands.
pub struct AssortmentService<R: Assignable> {
    /// Storage of the assortment.
    pub assortment: Arc<dyn AssortmentRepository<R>>,
    /// Looks up the projects of applications.
    pub applications: Arc<dyn ApplicationDirectory>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl<R: Assignable> AssortmentService<R> {
    /// Returns the records that an application of the employee's project shows, in display order.
    pub async fn list(&self, staff: &Staff, application: ApplicationId) -> Result<Vec<R>, AssortmentError> {
        staff.require(Permission::view(Resource::Applications))?;
        self.require_own(staff, application).await?;
        Ok(self.assortment.assigned(application).await?)
    }

    /// Returns one page of the records that an application of the employee's project shows.
    pub async fn page(
        &self,
        staff: &Staff,
        application: ApplicationId,
        listing: Listing,
    ) -> Result<Page<R>, AssortmentError> {
        staff.require(Permission::view(Resource::Applications))?;
        self.require_own(staff, application).await?;
        Ok(self.assortment.page(application, listing).await?)
    }

    /// Adds a record at the end of the assortment. Adding it again has no effect.
    pub async fn assign(&self, staff: &Staff, application: ApplicationId, id: R::Id) -> Result<R, AssortmentError> {
        staff.require(Permission::edit(Resource::Applications))?;
        self.require_own(staff, application).await?;
        self.assortment.assign(self.stamp(staff), application, id).await
    }

    /// Returns a record that an application of the employee's project shows.
    pub async fn read(&self, staff: &Staff, application: ApplicationId, id: R::Id) -> Result<R, AssortmentError> {
        staff.require(Permission::view(Resource::Applications))?;
        self.require_own(staff, application).await?;
        self.assortment.shown(application, id).await?.ok_or(AssortmentError::NotFound)
    }

    /// Moves a record by one position. At the end of the list it keeps its position.
    pub async fn shift(
        &self,
        staff: &Staff,
        application: ApplicationId,
        id: R::Id,
        shift: MoveDirection,
    ) -> Result<R, AssortmentError> {
        staff.require(Permission::edit(Resource::Applications))?;
        self.require_own(staff, application).await?;
        self.assortment.shift(self.stamp(staff), application, id, shift).await
    }

    /// Removes a record from the assortment.
    pub async fn withdraw(&self, staff: &Staff, application: ApplicationId, id: R::Id) -> Result<(), AssortmentError> {
        staff.require(Permission::edit(Resource::Applications))?;
        self.require_own(staff, application).await?;
        self.assortment.withdraw(self.stamp(staff), application, id).await
    }

    fn stamp(&self, staff: &Staff) -> Stamp {
        Stamp::of(staff, self.clock.now())
    }

    async fn require_own(&self, staff: &Staff, application: ApplicationId) -> Result<(), AssortmentError> {
        staff.require_own(self.applications.owner(application).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Category;
    use crate::ports::{MockApplicationDirectory, MockAssortmentRepository};
    use chrono::DateTime;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, CategoryId, FixedClock, ProjectId, ProjectScoped};

    fn service(owner: Option<i64>) -> AssortmentService<Category> {
        let mut applications = MockApplicationDirectory::new();
        applications
            .expect_owner()
            .returning(move |_| Ok(owner.map(|id| ProjectScoped::new(ProjectId::new(id).unwrap(), ()))));
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let assortment = Arc::new(MockAssortmentRepository::new());
        AssortmentService { assortment, applications: Arc::new(applications), clock }
    }

    async fn refusal(owner: Option<i64>) -> AssortmentError {
        let staff = staff_with([Permission::edit(Resource::Applications)]);
        let (application, category) = (ApplicationId::new(1).unwrap(), CategoryId::new(1).unwrap());
        service(owner).assign(&staff, application, category).await.unwrap_err()
    }

    #[tokio::test]
    async fn only_an_application_of_the_project_is_changed() {
        assert!(matches!(refusal(None).await, AssortmentError::NotFound));
        assert!(matches!(refusal(Some(2)).await, AssortmentError::Denied(AccessDenied::ForeignProject)));
    }
}
