use std::sync::Arc;

use kontor_kernel::{Clock, Permission, Resource, Staff};

use crate::BranchError;
use crate::model::{Branch, BranchDraft};
use crate::ports::BranchRepository;

/// Use cases of branches.
pub struct BranchService {
    /// Where they are kept.
    pub branches: Arc<dyn BranchRepository>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl BranchService {
    /// Every branch of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<Branch>, BranchError> {
        staff.require(Permission::view(Resource::Branches))?;
        Ok(self.branches.list(staff.project_id).await?)
    }

    /// Adds a branch to the employee's project.
    pub async fn create(&self, staff: &Staff, draft: BranchDraft) -> Result<Branch, BranchError> {
        staff.require(Permission::create(Resource::Branches))?;
        Ok(self.branches.insert(staff.project_id, draft, self.clock.now()).await?)
    }
}
