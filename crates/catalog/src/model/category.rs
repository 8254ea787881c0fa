use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{CategoryId, Name, Prose, Resource};

use super::{Edit, PhotoUrl, Reference};

/// Error: the number is not a category code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", CategoryCode::MAX_CODE)]
pub struct InvalidCategoryCode;

/// Code of a category, unique in its project: 1 to 1,000,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CategoryCode(i64);

impl CategoryCode {
    /// Largest code.
    pub const MAX_CODE: i64 = 1_000_000_000;

    /// Accepts 1 to 1,000,000,000.
    pub fn new(value: i64) -> Result<Self, InvalidCategoryCode> {
        if (1..=Self::MAX_CODE).contains(&value) { Ok(Self(value)) } else { Err(InvalidCategoryCode) }
    }

    /// Returns the number.
    pub fn get(self) -> i64 {
        self.0
    }
}

/// Category of a project's catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Identifier of the category.
    pub id: CategoryId,
    /// Name.
    pub name: Name,
    /// Picture.
    pub photo: Option<PhotoUrl>,
    /// Parent category; `None` for a root.
    pub parent: Option<Reference<CategoryId>>,
    /// Code.
    pub code: CategoryCode,
    /// HTML.
    pub description: Option<Prose>,
    /// Version, incremented by every change.
    pub version: u64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Audited for Category {
    const RESOURCE: Resource = Resource::Categories;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        vec![
            ("name", Some(self.name.to_string())),
            ("photo", self.photo.as_ref().map(ToString::to_string)),
            ("parent_id", self.parent.as_ref().map(|parent| parent.id.to_string())),
            ("code", Some(self.code.get().to_string())),
            ("description", self.description.as_deref().map(str::to_owned)),
        ]
    }
}

/// Fields of a new category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryDraft {
    /// Name.
    pub name: Name,
    /// Picture.
    pub photo: Option<PhotoUrl>,
    /// Parent category.
    pub parent_id: Option<CategoryId>,
    /// Code; without one the category gets the largest code plus 1.
    pub code: Option<CategoryCode>,
    /// HTML.
    pub description: Option<Prose>,
}

/// Change of a category.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CategoryChange {
    /// Name.
    pub name: Edit<Name>,
    /// Picture.
    pub photo: Edit<Option<PhotoUrl>>,
    /// Parent category; `None` for a root.
    pub parent_id: Edit<Option<CategoryId>>,
    /// Code.
    pub code: Edit<CategoryCode>,
    /// HTML.
    pub description: Edit<Option<Prose>>,
}
