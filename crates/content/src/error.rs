use kontor_kernel::{EndsBeforeStart, ReadError, RecordError, Refusal};

use crate::model::{ContentRefusal, TreeRefusal};
use crate::ports::StorageFailed;

/// Error of a use case of files.
pub type FileError = RecordError<FileRefusal>;

/// Refusals specific to files.
#[derive(Debug, thiserror::Error)]
pub enum FileRefusal {
    /// The type of file does not accept the content.
    #[error("the file {0}")]
    Content(#[from] ContentRefusal),
    /// A smaller copy was requested of a file that is not a picture.
    #[error("the file is not a picture")]
    NotAPicture,
    /// A smaller copy was requested of a damaged picture.
    #[error("the picture cannot be decoded")]
    Undecodable,
    /// Storing the content took longer than the time limit. The record and the content are removed.
    #[error("the file was not stored in time")]
    TooSlow,
    /// The storage of contents failed.
    #[error(transparent)]
    Storage(#[from] StorageFailed),
}

impl Refusal for FileRefusal {}

/// Error of a use case of content pages.
pub type PageError = RecordError<PageRefusal>;

/// Refusals specific to content pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageRefusal {
    /// Another content page of the project has the slug.
    #[error("another page has this slug")]
    SlugTaken,
    /// The type does not exist.
    #[error("there is no such page type")]
    UnknownType,
}

impl Refusal for PageRefusal {}

/// Error of a use case of blocks, menu items and slides.
pub type PartError = RecordError<PartRefusal>;

/// Refusals specific to blocks, menu items and slides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PartRefusal {
    /// The position in the tree is not allowed.
    #[error(transparent)]
    Tree(#[from] TreeRefusal),
    /// Another record of the same kind in the application has the code.
    #[error("another record has this code")]
    CodeTaken,
    /// Another record of the same kind in the application has the slug.
    #[error("another record has this slug")]
    SlugTaken,
    /// The type does not exist.
    #[error("there is no such type")]
    UnknownType,
    /// The record has children.
    #[error("other records are below it")]
    HasChildren,
    /// The period of a slide ends before it begins.
    #[error(transparent)]
    Period(#[from] EndsBeforeStart),
}

impl Refusal for PartRefusal {}

/// Error of a content read for customers.
pub type ContentError = ReadError;
