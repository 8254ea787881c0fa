use std::sync::Arc;

use kontor_kernel::{Clock, Permission, ProjectId, Resource, Staff, Stamp};

use crate::TagError;
use crate::model::{Tag, TagDraft};
use crate::ports::TagRepository;

/// Use cases of tags: staff choose among them, operators create them.
pub struct TagService {
    /// Storage.
    pub tags: Arc<dyn TagRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl TagService {
    /// Returns every tag of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<Tag>, TagError> {
        staff.require(Permission::view(Resource::Nomenclatures))?;
        self.of_project(staff.project_id).await
    }

    /// Returns every tag of a project, for operators.
    pub async fn of_project(&self, project: ProjectId) -> Result<Vec<Tag>, TagError> {
        Ok(self.tags.list(project).await?)
    }

    /// Creates a tag in a project, for operators.
    pub async fn add(&self, project: ProjectId, draft: TagDraft) -> Result<Tag, TagError> {
        self.tags.insert(Stamp::of_system(project, self.clock.now()), draft).await
    }
}
