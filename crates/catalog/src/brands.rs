use std::sync::Arc;

use kontor_kernel::{BrandId, Clock, Permission, Resource, Staff, Stamp};

use crate::BrandError;
use crate::model::{Brand, BrandChange, BrandDraft};
use crate::ports::BrandRepository;

/// Use cases of brands.
pub struct BrandService {
    brands: Arc<dyn BrandRepository>,
    clock: Arc<dyn Clock>,
}

impl BrandService {
    /// Wires the ports.
    pub fn new(brands: Arc<dyn BrandRepository>, clock: Arc<dyn Clock>) -> Self {
        Self { brands, clock }
    }

    /// Every brand of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<Brand>, BrandError> {
        staff.require(Permission::view(Resource::Brands))?;
        Ok(self.brands.list(staff.project_id).await?)
    }

    /// One brand of the employee's project.
    pub async fn read(&self, staff: &Staff, id: BrandId) -> Result<Brand, BrandError> {
        staff.require(Permission::view(Resource::Brands))?;
        self.own(staff, id).await
    }

    /// Adds a brand to the employee's project.
    pub async fn create(&self, staff: &Staff, draft: BrandDraft) -> Result<Brand, BrandError> {
        staff.require(Permission::create(Resource::Brands))?;
        self.brands.insert(Stamp::of(staff, self.clock.now()), draft).await
    }

    /// Changes a brand of the employee's project.
    pub async fn update(&self, staff: &Staff, id: BrandId, change: BrandChange) -> Result<Brand, BrandError> {
        staff.require(Permission::edit(Resource::Brands))?;
        self.own(staff, id).await?;
        self.brands.update(Stamp::of(staff, self.clock.now()), id, change).await
    }

    async fn own(&self, staff: &Staff, id: BrandId) -> Result<Brand, BrandError> {
        let brand = self.brands.find(id).await?.ok_or(BrandError::NotFound)?;
        staff.require_project(brand.project_id)?;
        Ok(brand)
    }
}
