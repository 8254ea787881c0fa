use std::sync::Arc;

use kontor_kernel::history::{Histories, HistoryEntry};
use kontor_kernel::{CategoryId, Clock, Listing, Page, PageRequest, Permission, Resource, Staff, Stamp};

use crate::CategoryError;
use crate::model::{Category, CategoryChange, CategoryDraft};
use crate::ports::CategoryRepository;

/// Use cases of categories.
pub struct CategoryService {
    /// Where they are kept.
    pub categories: Arc<dyn CategoryRepository>,
    /// What happened to them.
    pub histories: Arc<dyn Histories>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl CategoryService {
    /// Every category of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<Category>, CategoryError> {
        staff.require(Permission::view(Resource::Categories))?;
        Ok(self.categories.list(staff.project_id).await?)
    }

    /// One page of the categories of the employee's project.
    pub async fn page(&self, staff: &Staff, listing: Listing) -> Result<Page<Category>, CategoryError> {
        staff.require(Permission::view(Resource::Categories))?;
        Ok(self.categories.page(staff.project_id, None, listing).await?)
    }

    /// One page of the categories right below one of the employee's project.
    pub async fn children(
        &self,
        staff: &Staff,
        id: CategoryId,
        listing: Listing,
    ) -> Result<Page<Category>, CategoryError> {
        staff.require(Permission::view(Resource::Categories))?;
        staff.own(self.categories.find(id).await?)?;
        Ok(self.categories.page(staff.project_id, Some(id), listing).await?)
    }

    /// Adds a category to the employee's project.
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
        staff.own(self.categories.find(id).await?)?;
        self.categories.update(Stamp::of(staff, self.clock.now()), id, change).await
    }

    /// One page of what happened to a category of the employee's project, the latest first.
    pub async fn history(
        &self,
        staff: &Staff,
        id: CategoryId,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, CategoryError> {
        staff.require(Permission::view(Resource::Categories))?;
        staff.own(self.categories.find(id).await?)?;
        Ok(self.histories.page(staff.project_id, Resource::Categories, id.get(), page).await?)
    }
}
