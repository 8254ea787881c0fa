use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{CategoryId, Name, Prose, Resource};

use super::{Edit, PhotoUrl, Reference};

/// Not a category code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", CategoryCode::LARGEST)]
pub struct InvalidCategoryCode;

/// The number staff know a category by, unique in its project: 1 to 1,000,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CategoryCode(i64);

impl CategoryCode {
    /// The largest code.
    pub const LARGEST: i64 = 1_000_000_000;

    /// Accepts 1 to 1,000,000,000.
    pub fn new(value: i64) -> Result<Self, InvalidCategoryCode> {
        if (1..=Self::LARGEST).contains(&value) { Ok(Self(value)) } else { Err(InvalidCategoryCode) }
    }

    /// The number.
    pub fn get(self) -> i64 {
        self.0
    }
}

/// A category of a project's catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// The number of the category.
    pub id: CategoryId,
    /// Its name.
    pub name: Name,
    /// Its picture.
    pub photo: Option<PhotoUrl>,
    /// The category it lies in; roots have none.
    pub parent: Option<Reference<CategoryId>>,
    /// The number staff know it by.
    pub code: CategoryCode,
    /// HTML.
    pub description: Option<Prose>,
    /// Raised by every change.
    pub version: u64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
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

/// What staff say about a new category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryDraft {
    /// Its name.
    pub name: Name,
    /// Its picture.
    pub photo: Option<PhotoUrl>,
    /// The category it lies in.
    pub parent_id: Option<CategoryId>,
    /// Its code; without one it gets the next after the largest.
    pub code: Option<CategoryCode>,
    /// HTML.
    pub description: Option<Prose>,
}

/// Changes of a category.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CategoryChange {
    /// Its name.
    pub name: Edit<Name>,
    /// Its picture.
    pub photo: Edit<Option<PhotoUrl>>,
    /// The category it lies in; roots have none.
    pub parent_id: Edit<Option<CategoryId>>,
    /// Its code.
    pub code: Edit<CategoryCode>,
    /// HTML.
    pub description: Edit<Option<Prose>>,
}
