use kontor_kernel::{RecordError, Refusal, StoreError};

use crate::model::{ContentRefused, TreeRefusal};
use crate::ports::StorageFailed;

/// Why a use case of files is refused.
pub type FileError = RecordError<FileRefusal>;

/// What only files refuse.
#[derive(Debug, thiserror::Error)]
pub enum FileRefusal {
    /// The content is none that the type of file takes.
    #[error("the file {0}")]
    Content(#[from] ContentRefused),
    /// A smaller copy of something that is no picture.
    #[error("the file is not a picture")]
    NotAPicture,
    /// A smaller copy of a picture that was stored damaged.
    #[error("the picture cannot be decoded")]
    Undecodable,
    /// It took so long to store the content that the record was given up; nothing is left of it.
    #[error("the file was not stored in time")]
    TooSlow,
    /// The place where contents are kept failed.
    #[error(transparent)]
    Storage(#[from] StorageFailed),
}

impl Refusal for FileRefusal {}

/// Why a use case of pages is refused.
pub type PageError = RecordError<PageRefusal>;

/// What only pages refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageRefusal {
    /// Another page of the project has the slug.
    #[error("the slug is that of another page")]
    SlugTaken,
    /// There is no such type.
    #[error("there is no such page type")]
    UnknownType,
}

impl Refusal for PageRefusal {}

/// Why a use case of blocks and menu items is refused.
pub type PartError = RecordError<PartRefusal>;

/// What only blocks and menu items refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PartRefusal {
    /// It cannot stand there.
    #[error(transparent)]
    Tree(#[from] TreeRefusal),
    /// Another one of the application has the code.
    #[error("the code is that of another one")]
    CodeTaken,
    /// Another one of the application has the slug.
    #[error("the slug is that of another one")]
    SlugTaken,
    /// There is no such type.
    #[error("there is no such type")]
    UnknownType,
    /// Others lie below it.
    #[error("others lie below it")]
    HasChildren,
}

impl Refusal for PartRefusal {}

/// Why content is not shown to customers.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// There is no such record in the application or project.
    #[error("there is no such record")]
    NotFound,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
