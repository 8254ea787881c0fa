use std::sync::Arc;

use kontor_kernel::{Clock, Permission, Resource, Staff};

use crate::BrandError;
use crate::model::{Brand, BrandDraft};
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

    /// Adds a brand to the employee's project.
    pub async fn create(&self, staff: &Staff, draft: BrandDraft) -> Result<Brand, BrandError> {
        staff.require(Permission::create(Resource::Brands))?;
        self.brands.insert(staff.project_id, draft, self.clock.now()).await
    }
}
