use std::sync::Arc;

use kontor_kernel::{ApplicationId, Clock, Listing, Page, Permission, Resource, Staff, Stamp};

use crate::AssortmentError;
use crate::model::Shift;
use crate::ports::{ApplicationDirectory, Assignable, AssortmentRepository};

/// Use cases of what an application shows: of its categories, or of its brands.
pub struct AssortmentService<R: Assignable> {
    /// What applications show.
    pub assortment: Arc<dyn AssortmentRepository<R>>,
    /// Whose applications they are.
    pub applications: Arc<dyn ApplicationDirectory>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl<R: Assignable> AssortmentService<R> {
    /// What an application of the employee's project shows, first shown first.
    pub async fn list(&self, staff: &Staff, application: ApplicationId) -> Result<Vec<R>, AssortmentError> {
        staff.require(Permission::view(Resource::Applications))?;
        self.require_own(staff, application).await?;
        Ok(self.assortment.assigned(application).await?)
    }

    /// One page of what an application of the employee's project shows.
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

    /// Shows one more record, after all others; showing it again changes nothing.
    pub async fn assign(&self, staff: &Staff, application: ApplicationId, id: R::Id) -> Result<R, AssortmentError> {
        staff.require(Permission::edit(Resource::Applications))?;
        self.require_own(staff, application).await?;
        self.assortment.assign(self.stamp(staff), application, id).await
    }

    /// A record that an application of the employee's project shows.
    pub async fn read(&self, staff: &Staff, application: ApplicationId, id: R::Id) -> Result<R, AssortmentError> {
        staff.require(Permission::view(Resource::Applications))?;
        self.require_own(staff, application).await?;
        self.assortment.shown(application, id).await?.ok_or(AssortmentError::NotFound)
    }

    /// Moves a record by one place; at the end it stays.
    pub async fn shift(
        &self,
        staff: &Staff,
        application: ApplicationId,
        id: R::Id,
        shift: Shift,
    ) -> Result<R, AssortmentError> {
        staff.require(Permission::edit(Resource::Applications))?;
        self.require_own(staff, application).await?;
        self.assortment.shift(self.stamp(staff), application, id, shift).await
    }

    /// Shows a record no more.
    pub async fn withdraw(&self, staff: &Staff, application: ApplicationId, id: R::Id) -> Result<(), AssortmentError> {
        staff.require(Permission::edit(Resource::Applications))?;
        self.require_own(staff, application).await?;
        self.assortment.withdraw(self.stamp(staff), application, id).await
    }

    fn stamp(&self, staff: &Staff) -> Stamp {
        Stamp::of(staff, self.clock.now())
    }

    async fn require_own(&self, staff: &Staff, application: ApplicationId) -> Result<(), AssortmentError> {
        staff.own(self.applications.owner(application).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Category;
    use crate::ports::{MockApplicationDirectory, MockAssortmentRepository};
    use chrono::DateTime;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, CategoryId, FixedClock, OfProject, ProjectId};

    fn service(owner: Option<i64>) -> AssortmentService<Category> {
        let mut applications = MockApplicationDirectory::new();
        applications
            .expect_owner()
            .returning(move |_| Ok(owner.map(|id| OfProject::new(ProjectId::new(id).unwrap(), ()))));
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
