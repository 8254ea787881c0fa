use std::sync::Arc;

use kontor_kernel::{BrandId, Clock, Permission, Resource, Staff, Stamp};

use crate::BrandError;
use crate::model::{Brand, BrandChange, BrandDraft};
use crate::ports::BrandRepository;

/// Use cases of brands.
pub struct BrandService {
    /// Where they are kept.
    pub brands: Arc<dyn BrandRepository>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl BrandService {
    /// Every brand of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<Brand>, BrandError> {
        staff.require(Permission::view(Resource::Brands))?;
        Ok(self.brands.list(staff.project_id).await?)
    }

    /// One brand of the employee's project.
    pub async fn read(&self, staff: &Staff, id: BrandId) -> Result<Brand, BrandError> {
        staff.require(Permission::view(Resource::Brands))?;
        staff.own(self.brands.find(id).await?)
    }

    /// Adds a brand to the employee's project.
    pub async fn create(&self, staff: &Staff, draft: BrandDraft) -> Result<Brand, BrandError> {
        staff.require(Permission::create(Resource::Brands))?;
        self.brands.insert(Stamp::of(staff, self.clock.now()), draft).await
    }

    /// Changes a brand of the employee's project.
    pub async fn update(&self, staff: &Staff, id: BrandId, change: BrandChange) -> Result<Brand, BrandError> {
        staff.require(Permission::edit(Resource::Brands))?;
        staff.own(self.brands.find(id).await?)?;
        self.brands.update(Stamp::of(staff, self.clock.now()), id, change).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockBrandRepository;
    use chrono::DateTime;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, FixedClock, Name, OfProject, ProjectId, RecordError};

    fn service(brands: MockBrandRepository) -> BrandService {
        BrandService { brands: Arc::new(brands), clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)) }
    }

    #[tokio::test]
    async fn another_projects_brand_is_neither_shown_nor_touched() {
        let mut brands = MockBrandRepository::new();
        brands.expect_find().returning(|id| {
            let name = Name::parse("Acme").unwrap();
            let (created_at, updated_at) = (DateTime::UNIX_EPOCH, DateTime::UNIX_EPOCH);
            let brand = Brand { id, name, photo: None, created_at, updated_at };
            Ok(Some(OfProject::new(ProjectId::new(2).unwrap(), brand)))
        });
        let service = service(brands);
        let (staff, id) = (staff_with(Permission::all()), BrandId::new(7).unwrap());
        let foreign = |error| matches!(error, RecordError::Denied(AccessDenied::ForeignProject));
        assert!(foreign(service.read(&staff, id).await.unwrap_err()));
        assert!(foreign(service.update(&staff, id, BrandChange::default()).await.unwrap_err()));
    }

    #[tokio::test]
    async fn without_the_permission_nothing_is_asked() {
        let service = service(MockBrandRepository::new());
        let (staff, id) = (staff_with([Permission::create(Resource::Brands)]), BrandId::new(7).unwrap());
        let denied = |error| matches!(error, RecordError::Denied(AccessDenied::MissingPermission(_)));
        assert!(denied(service.list(&staff).await.unwrap_err()));
        assert!(denied(service.read(&staff, id).await.unwrap_err()));
        assert!(denied(service.update(&staff, id, BrandChange::default()).await.unwrap_err()));
    }
}
