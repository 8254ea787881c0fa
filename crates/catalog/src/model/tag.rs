use chrono::{DateTime, Utc};
use kontor_kernel::{Name, ProjectId, TagId};

use super::PhotoUrl;

/// A tag that items of a project carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The number of the tag.
    pub id: TagId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// What it is.
    pub details: TagDraft,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// What is said about a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagDraft {
    /// Its name, unique in the project whatever the case.
    pub name: Name,
    /// A picture.
    pub photo: Option<PhotoUrl>,
}
