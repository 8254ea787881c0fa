use std::sync::Arc;

use kontor_kernel::{Clock, Permission, Resource, Staff};

use crate::CategoryError;
use crate::model::{Category, CategoryDraft};
use crate::ports::CategoryRepository;

/// Use cases of categories.
pub struct CategoryService {
    categories: Arc<dyn CategoryRepository>,
    clock: Arc<dyn Clock>,
}

impl CategoryService {
    /// Wires the ports.
    pub fn new(categories: Arc<dyn CategoryRepository>, clock: Arc<dyn Clock>) -> Self {
        Self { categories, clock }
    }

    /// Every category of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<Category>, CategoryError> {
        staff.require(Permission::view(Resource::Categories))?;
        Ok(self.categories.list(staff.project_id).await?)
    }

    /// Adds a category to the employee's project.
    pub async fn create(&self, staff: &Staff, draft: CategoryDraft) -> Result<Category, CategoryError> {
        staff.require(Permission::create(Resource::Categories))?;
        self.categories.insert(staff.project_id, draft, self.clock.now()).await
    }
}
