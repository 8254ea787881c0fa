use std::sync::Arc;

use kontor_kernel::history::{Histories, HistoryEntry};
use kontor_kernel::{CategoryId, Clock, Listing, Page, PageRequest, Permission, Resource, Staff, Stamp};

use crate::CategoryError;
use crate::model::{Category, CategoryChange, CategoryDraft};
use crate::ports::CategoryRepository;

/// Use cases of categories.
pub struct CategoryService {
    /// Storage.
    pub categories: Arc<dyn CategoryRepository>,
    /// History entries.
    pub histories: Arc<dyn Histories>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl CategoryService {
    /// Returns every category of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<Category>, CategoryError> {
        staff.require(Permission::view(Resource::Categories))?;
        Ok(self.categories.list(staff.project_id).await?)
    }

    /// Returns one page of the categories of the employee's project.
    pub async fn page(&self, staff: &Staff, listing: Listing) -> Result<Page<Category>, CategoryError> {
        staff.require(Permission::view(Resource::Categories))?;
        Ok(self.categories.page(staff.project_id, None, listing).await?)
    }

    /// Returns one page of the direct subcategories of a category of the employee's project.
    pub async fn children(
        &self,
        staff: &Staff,
        id: CategoryId,
        listing: Listing,
    ) -> Result<Page<Category>, CategoryError> {
        staff.require(Permission::view(Resource::Categories))?;
        staff.require_own(self.categories.find(id).await?)?;
        Ok(self.categories.page(staff.project_id, Some(id), listing).await?)
    }

    /// Creates a category in the employee's project.
    pub async fn create(&self, staff: &Staff, draft: CategoryDraft) -> Result<Category, CategoryError> {
        staff.require(Permission::create(Resource::Categories))?;
        self.categories.insert(Stamp::of(staff, self.clock.now()), draft).await
    }

    /// Changes a category of the employee's project.
    pub async fn update(
        &self,
        staff: &Staff,
        id: CategoryId,
        change: CategoryChange,
    ) -> Result<Category, CategoryError> {
        staff.require(Permission::edit(Resource::Categories))?;
        staff.require_own(self.categories.find(id).await?)?;
        self.categories.update(Stamp::of(staff, self.clock.now()), id, change).await
    }

    /// Returns one page of the history of a category of the employee's project, newest first.
    pub async fn history(
        &self,
        staff: &Staff,
        id: CategoryId,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, CategoryError> {
        staff.require(Permission::view(Resource::Categories))?;
        staff.require_own(self.categories.find(id).await?)?;
        Ok(self.histories.page(staff.project_id, Resource::Categories.name(), id.get(), page).await?)
    }
}
