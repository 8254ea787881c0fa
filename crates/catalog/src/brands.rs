use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{BrandId, Name, PhotoUrl, Record, RecordError, RecordService, Refusal, Resource, draft_and_change};

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

draft_and_change! {
    /// Fields of a new brand.
    BrandDraft,
    /// Change of a brand.
    BrandChange {
        /// Name, unique in the project, compared without regard to case.
        name: Name,
        /// Logo.
        photo: Option<PhotoUrl>,
    }
}

/// Refusals specific to brands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BrandRefusal {
    /// Another brand of the project has the name, compared without regard to case.
    #[error("another brand has this name")]
    NameTaken,
}

impl Refusal for BrandRefusal {}

/// Error of a use case of brands.
pub type BrandError = RecordError<BrandRefusal>;

/// Use cases of brands.
pub type BrandService = RecordService<Brand>;

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
