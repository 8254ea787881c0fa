//! Records nested in other records.

use kontor_kernel::{Named, PhotoUrl, Reference};
use serde::Serialize;
use utoipa::ToSchema;

/// Photo. Photos given by URL have no id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PhotoRecord {
    id: Option<i64>,
    url: String,
}

impl From<PhotoUrl> for PhotoRecord {
    fn from(photo: PhotoUrl) -> Self {
        Self { id: None, url: photo.into() }
    }
}

impl From<&PhotoUrl> for PhotoRecord {
    fn from(photo: &PhotoUrl) -> Self {
        Self { id: None, url: photo.to_string() }
    }
}

/// Reference to another record, by id and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NamedRecord {
    id: i64,
    name: String,
}

impl NamedRecord {
    /// Creates a reference.
    pub fn new(id: impl Into<i64>, name: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into() }
    }
}

impl<Id: Into<i64>> From<Reference<Id>> for NamedRecord {
    fn from(reference: Reference<Id>) -> Self {
        Self::new(reference.id, reference.name)
    }
}

impl<Id: Into<i64>> From<Named<Id>> for NamedRecord {
    fn from(named: Named<Id>) -> Self {
        Self::new(named.id, named.name)
    }
}
