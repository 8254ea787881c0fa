use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{Name, Resource, TagId};

use super::PhotoUrl;

/// A tag that items of a project carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The number of the tag.
    pub id: TagId,
    /// Its name, unique in the project whatever the case.
    pub name: Name,
    /// A picture.
    pub photo: Option<PhotoUrl>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

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

/// What is said about a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagDraft {
    /// Its name, unique in the project whatever the case.
    pub name: Name,
    /// A picture.
    pub photo: Option<PhotoUrl>,
}
