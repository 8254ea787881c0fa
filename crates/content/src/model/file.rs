use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{FileId, FileKey, Name, OrderId, ProjectId, Resource, UserId};

use super::{Dimensions, FileType, MediaType};

/// A text that is no SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 has 64 digits of lower hex")]
pub struct InvalidSha256;

/// The SHA-256 of a content: 64 digits of lower hex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sha256(String);

impl Sha256 {
    /// Refuses other lengths and signs.
    pub fn parse(text: &str) -> Result<Self, InvalidSha256> {
        let fits = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidSha256) }
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A file whose content is about to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// What it is for.
    pub file_type: FileType,
    /// Where its content goes.
    pub key: FileKey,
    /// How it is shown and saved.
    pub name: Name,
    /// What it is.
    pub media: MediaType,
    /// Its size when it is a picture.
    pub dimensions: Option<Dimensions>,
    /// The order it is added to.
    pub order_id: Option<OrderId>,
    /// Who uploads it.
    pub creator_id: UserId,
    /// When.
    pub created_at: DateTime<Utc>,
    /// Until when its content has to be stored; afterwards it is swept.
    pub expires_at: DateTime<Utc>,
}

/// What was stored of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// How many bytes.
    pub size: u64,
    /// Of all of them.
    pub sha256: Sha256,
}

/// A file with its whole content stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// The number of the file.
    pub id: FileId,
    /// The project it belongs to; its content is kept under it.
    pub project_id: ProjectId,
    /// What it is for.
    pub file_type: FileType,
    /// Where its content is.
    pub key: FileKey,
    /// How it is shown and saved.
    pub name: Name,
    /// What it is.
    pub media: MediaType,
    /// Its size when it is a picture.
    pub dimensions: Option<Dimensions>,
    /// How large it is, and of what.
    pub content: Written,
    /// The order it was added to.
    pub order_id: Option<OrderId>,
    /// Who uploaded it.
    pub creator_id: UserId,
    /// When.
    pub created_at: DateTime<Utc>,
}

/// A file of an order, as staff look through them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderFile {
    /// The file.
    pub file: StoredFile,
    /// The name of who uploaded it, where there is one.
    pub creator_name: Option<String>,
}

impl Audited for StoredFile {
    const RESOURCE: Resource = Resource::Files;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        vec![
            ("file_type_id", Some(self.file_type.id().to_string())),
            ("name", Some(self.name.to_string())),
            ("mime_type", Some(self.media.mime().to_owned())),
            ("size", Some(self.content.size.to_string())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_has_one_spelling() {
        assert!(Sha256::parse(&"0f".repeat(32)).is_ok());
        assert_eq!(Sha256::parse(&"0F".repeat(32)), Err(InvalidSha256));
    }
}
