use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{BrandId, Name, Record, Resource};

use super::{Edit, PhotoUrl};
use crate::BrandRefusal;

/// A brand of a project's catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brand {
    /// The number of the brand.
    pub id: BrandId,
    /// Its name, unique in the project whatever the case.
    pub name: Name,
    /// Its logo.
    pub photo: Option<PhotoUrl>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
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

/// What staff say about a brand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandDraft {
    /// Its name, unique in the project whatever the case.
    pub name: Name,
    /// Its logo.
    pub photo: Option<PhotoUrl>,
}

/// What staff change about a brand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BrandChange {
    /// Its name.
    pub name: Edit<Name>,
    /// Its logo.
    pub photo: Edit<Option<PhotoUrl>>,
}
