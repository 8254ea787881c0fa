use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{Name, Resource, TagId};

use super::PhotoUrl;

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

/// Fields of a new tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagDraft {
    /// Name, unique in the project, compared without regard to case.
    pub name: Name,
    /// Picture.
    pub photo: Option<PhotoUrl>,
}
