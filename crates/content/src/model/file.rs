use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{FileId, FileKey, Name, OrderId, ProjectId, Resource, TextError, UserId};

use super::media::{Dimensions, Inspection, InvalidDimensions, MediaType};

/// Error: the number is not a type of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be one of 1, 2, 3")]
pub struct UnknownFileType;

/// Type of a file. The numbers are the contract's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileType {
    /// 1: employment contract of an employee.
    EmploymentContract,
    /// 2: public picture.
    Avatar,
    /// 3: file of an order.
    OrderFile,
}

/// Reason why a content is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentRefusal {
    /// The content is empty.
    #[error("must not be empty")]
    Empty,
    /// The type of file does not accept the content. Holds the accepted types.
    #[error("must be a {0} file")]
    TypeNotAccepted(String),
    /// The document contains macros.
    #[error("must not contain macros")]
    WithMacros,
    /// The content is damaged.
    #[error("is damaged: it starts as {} but is not a valid one", .0.title())]
    Damaged(MediaType),
    /// The dimensions of the picture are out of bounds.
    #[error(transparent)]
    Dimensions(#[from] InvalidDimensions),
    /// The file name cannot be used as a label.
    #[error("must have another name: its name {0}")]
    Name(#[from] TextError),
}

impl FileType {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::EmploymentContract, Self::Avatar, Self::OrderFile];

    /// Returns the number of the type.
    pub fn id(self) -> i64 {
        match self {
            Self::EmploymentContract => 1,
            Self::Avatar => 2,
            Self::OrderFile => 3,
        }
    }

    /// Returns the type with this number.
    pub fn from_id(id: i64) -> Result<Self, UnknownFileType> {
        Self::ALL.into_iter().find(|kind| kind.id() == id).ok_or(UnknownFileType)
    }

    /// Returns `true` if the key alone gives access to a file. Other types need an employee of the project.
    pub fn is_public(self) -> bool {
        self == Self::Avatar
    }

    /// Returns the accepted contents.
    pub fn accepted_types(self) -> &'static [MediaType] {
        use MediaType::{Docx, Gif, Jpeg, Ods, Odt, Pdf, Png, Webp, Xlsx};
        match self {
            Self::EmploymentContract => &[Pdf, Jpeg, Png, Webp, Docx, Odt],
            Self::Avatar => &[Jpeg, Png, Gif, Webp],
            Self::OrderFile => &[Pdf, Jpeg, Png, Gif, Webp, Docx, Xlsx, Odt, Ods],
        }
    }

    /// Returns the media type of an accepted content, with the dimensions of a picture; otherwise the reason why it is
    /// refused.
    pub fn admit(self, sighting: Inspection) -> Result<(MediaType, Option<Dimensions>), ContentRefusal> {
        let taken = |media: MediaType| {
            if self.accepted_types().contains(&media) {
                Ok(media)
            } else {
                Err(ContentRefusal::TypeNotAccepted(self.titles()))
            }
        };
        match sighting {
            Inspection::Empty => Err(ContentRefusal::Empty),
            Inspection::Unknown => Err(ContentRefusal::TypeNotAccepted(self.titles())),
            Inspection::WithMacros => Err(ContentRefusal::WithMacros),
            Inspection::Damaged(media) => Err(ContentRefusal::Damaged(taken(media)?)),
            Inspection::Document(media) => Ok((taken(media)?, None)),
            Inspection::Image { media, width, height } => Ok((taken(media)?, Some(Dimensions::new(width, height)?))),
        }
    }

    /// `PDF, JPEG or PNG`
    fn titles(self) -> String {
        let titles: Vec<&str> = self.accepted_types().iter().map(|media| media.title()).collect();
        match titles.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

impl From<FileType> for i64 {
    fn from(kind: FileType) -> Self {
        kind.id()
    }
}

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
    fn numbers_are_the_contracts() {
        assert_eq!(FileType::ALL.map(FileType::id), [1, 2, 3]);
        assert_eq!(FileType::from_id(2), Ok(FileType::Avatar));
        assert_eq!((FileType::from_id(0), FileType::from_id(4)), (Err(UnknownFileType), Err(UnknownFileType)));
    }

    #[test]
    fn each_type_takes_its_contents() {
        use ContentRefusal as Refused;
        let image = |media| Inspection::Image { media, width: 10, height: 20 };
        let dimensions = Dimensions::new(10, 20).unwrap();
        assert_eq!(FileType::Avatar.admit(image(MediaType::Gif)), Ok((MediaType::Gif, Some(dimensions))));
        assert!(matches!(FileType::EmploymentContract.admit(image(MediaType::Gif)), Err(Refused::TypeNotAccepted(_))));
        assert!(matches!(
            FileType::Avatar.admit(Inspection::Document(MediaType::Pdf)),
            Err(Refused::TypeNotAccepted(_))
        ));
        // Damage is reported only for contents that the type accepts.
        assert!(matches!(
            FileType::Avatar.admit(Inspection::Damaged(MediaType::Docx)),
            Err(Refused::TypeNotAccepted(_))
        ));
        assert_eq!(FileType::Avatar.admit(Inspection::Damaged(MediaType::Png)), Err(Refused::Damaged(MediaType::Png)));
        assert_eq!(FileType::OrderFile.admit(Inspection::WithMacros), Err(Refused::WithMacros));
        assert_eq!(FileType::OrderFile.admit(Inspection::Empty), Err(Refused::Empty));
        let bomb = Inspection::Image { media: MediaType::Png, width: 60_000, height: 60_000 };
        assert_eq!(FileType::Avatar.admit(bomb), Err(Refused::Dimensions(InvalidDimensions)));
        for kind in FileType::ALL {
            for media in kind.accepted_types() {
                assert!(media.is_image() || !kind.is_public(), "only pictures are shown to everybody");
            }
        }
    }

    #[test]
    fn a_digest_has_one_spelling() {
        assert!(Sha256::parse(&"0f".repeat(32)).is_ok());
        assert_eq!(Sha256::parse(&"0F".repeat(32)), Err(InvalidSha256));
    }
}
