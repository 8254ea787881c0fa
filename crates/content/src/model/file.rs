use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{FileId, FileKey, Name, OrderId, ProjectId, Resource, UserId};

use super::{Dimensions, FileType, MediaType};

/// Error: the text is not a SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 must have 64 lowercase hexadecimal digits")]
pub struct InvalidSha256;

/// SHA-256 of a content: 64 digits of lower hex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sha256(String);

impl Sha256 {
    /// Refuses other lengths and signs.
    pub fn parse(text: &str) -> Result<Self, InvalidSha256> {
        let fits = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidSha256) }
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// File whose content is about to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Project.
    pub project_id: ProjectId,
    /// Type.
    pub file_type: FileType,
    /// Key of the content.
    pub key: FileKey,
    /// Name for display and download.
    pub name: Name,
    /// Media type.
    pub media: MediaType,
    /// Dimensions of a picture.
    pub dimensions: Option<Dimensions>,
    /// Order to which it is added.
    pub order_id: Option<OrderId>,
    /// Employee who uploads it.
    pub creator_id: UserId,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time limit for storing the content; afterwards it is swept.
    pub expires_at: DateTime<Utc>,
}

/// Size and checksum of a stored content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredContent {
    /// Size in bytes.
    pub size: u64,
    /// Checksum of the content.
    pub sha256: Sha256,
}

/// File whose content is completely stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// Identifier.
    pub id: FileId,
    /// Project; the content is stored under it.
    pub project_id: ProjectId,
    /// Type.
    pub file_type: FileType,
    /// Key of the content.
    pub key: FileKey,
    /// Name for display and download.
    pub name: Name,
    /// Media type.
    pub media: MediaType,
    /// Dimensions of a picture.
    pub dimensions: Option<Dimensions>,
    /// Size and checksum.
    pub content: StoredContent,
    /// Order to which it was added.
    pub order_id: Option<OrderId>,
    /// Employee who uploaded it.
    pub creator_id: UserId,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
}

/// File in a list, with the name of its uploader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    /// File.
    pub file: StoredFile,
    /// Name of the employee who uploaded it, if there is one.
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
