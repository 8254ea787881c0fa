use std::sync::Arc;

use kontor_kernel::history::{Histories, HistoryEntry};
use kontor_kernel::{BranchId, Clock, Listing, Page, PageRequest, Permission, Resource, Staff, Stamp};

use crate::model::{Branch, BranchChange, BranchDraft};
use crate::ports::BranchRepository;
use crate::{BranchError, BranchRefusal};

/// Use cases of branches. A branch with references cannot be deleted.
pub struct BranchService {
    /// Storage of branches.
    pub branches: Arc<dyn BranchRepository>,
    /// History of branches.
    pub histories: Arc<dyn Histories>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl BranchService {
    /// Returns every branch of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<Branch>, BranchError> {
        staff.require(Permission::view(Resource::Branches))?;
        Ok(self.branches.list(staff.project_id).await?)
    }

    /// Returns one page of the branches of the employee's project. Fields: `id`, `name`, `created_at`,
    /// `updated_at`.
    pub async fn page(&self, staff: &Staff, listing: Listing) -> Result<Page<Branch>, BranchError> {
        staff.require(Permission::view(Resource::Branches))?;
        Ok(self.branches.page(staff.project_id, listing).await?)
    }

    /// Returns one branch of the employee's project.
    pub async fn read(&self, staff: &Staff, id: BranchId) -> Result<Branch, BranchError> {
        staff.require(Permission::view(Resource::Branches))?;
        staff.require_own(self.branches.find(id).await?)
    }

    /// Adds a branch to the employee's project.
    pub async fn create(&self, staff: &Staff, draft: BranchDraft) -> Result<Branch, BranchError> {
        staff.require(Permission::create(Resource::Branches))?;
        draft.check().map_err(BranchRefusal::Invalid)?;
        self.branches.insert(Stamp::of(staff, self.clock.now()), draft).await
    }

    /// Changes a branch of the employee's project.
    pub async fn update(&self, staff: &Staff, id: BranchId, change: BranchChange) -> Result<Branch, BranchError> {
        staff.require(Permission::edit(Resource::Branches))?;
        staff.require_own(self.branches.find(id).await?)?;
        self.branches.update(Stamp::of(staff, self.clock.now()), id, change).await
    }

    /// Deletes a branch of the employee's project. Refuses a branch with references.
    pub async fn delete(&self, staff: &Staff, id: BranchId) -> Result<(), BranchError> {
        staff.require(Permission::edit(Resource::Branches))?;
        staff.require_own(self.branches.find(id).await?)?;
        self.branches.delete(Stamp::of(staff, self.clock.now()), id).await
    }

    /// Returns one page of the history of a branch of the employee's project, latest first.
    pub async fn history(
        &self,
        staff: &Staff,
        id: BranchId,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, BranchError> {
        staff.require(Permission::view(Resource::Branches))?;
        staff.require_own(self.branches.find(id).await?)?;
        Ok(self.histories.page(staff.project_id, Resource::Branches, id.get(), page).await?)
    }
}
