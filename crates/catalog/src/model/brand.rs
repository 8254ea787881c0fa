use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{BrandId, Name, Record, Resource};

use super::{Edit, PhotoUrl};
use crate::BrandRefusal;

/// Brand of a project's catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brand {
    /// Identifier of the brand.
    pub id: BrandId,
    /// Name, unique in the project, compared without regard to case.
    pub name: Name,
    /// Logo.
    pub photo: Option<PhotoUrl>,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Record for Brand {
    type Id = BrandId;
    type Draft = BrandDraft;
    type Change = BrandChange;
    type Refusal = BrandRefusal;
}

impl Audited for Brand {
    const RESOURCE: Resource = Resource::Brands;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        vec![("name", Some(self.name.to_string())), ("photo", self.photo.as_ref().map(ToString::to_string))]
    }
}

/// Fields of a new brand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandDraft {
    /// Name, unique in the project, compared without regard to case.
    pub name: Name,
    /// Logo.
    pub photo: Option<PhotoUrl>,
}

/// Change of a brand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BrandChange {
    /// Name.
    pub name: Edit<Name>,
    /// Logo.
    pub photo: Edit<Option<PhotoUrl>>,
}
