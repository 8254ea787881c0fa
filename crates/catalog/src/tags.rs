use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    Clock, Name, Permission, PhotoUrl, ProjectId, RecordError, Refusal, Resource, Staff, Stamp, TagId,
};

use crate::ports::TagRepository;

/// Tag of catalog items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Identifier of the tag.
    pub id: TagId,
    /// Name, unique in the project, compared without regard to case.
    pub name: Name,
    /// Picture.
    pub photo: Option<PhotoUrl>,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
}

/// Fields of a new tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagDraft {
    /// Name, unique in the project, compared without regard to case.
    pub name: Name,
    /// Picture.
    pub photo: Option<PhotoUrl>,
}

/// Refusals specific to tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TagRefusal {
    /// Another tag of the project has the name, compared without regard to case.
    #[error("another tag has this name")]
    NameTaken,
}

impl Refusal for TagRefusal {}

/// Error of a use case of tags. Not found refers to the project.
pub type TagError = RecordError<TagRefusal>;

impl Audited for Tag {
    const RESOURCE: Resource = Resource::Nomenclatures;
    const KIND: &'static str = "tags";

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        vec![("name", Some(self.name.to_string())), ("photo", self.photo.as_ref().map(ToString::to_string))]
    }
}

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
