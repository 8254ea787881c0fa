use kontor_kernel::{RecordError, Refusal};

use crate::model::ContentRefused;
use crate::ports::StorageFailed;

/// Why a use case of files is refused.
pub type FileError = RecordError<FileRefusal>;

/// What only files refuse.
#[derive(Debug, thiserror::Error)]
pub enum FileRefusal {
    /// The content is none that the type of file takes.
    #[error("the file {0}")]
    Content(#[from] ContentRefused),
    /// It took so long to store the content that the record was given up; nothing is left of it.
    #[error("the file was not stored in time")]
    TooSlow,
    /// The place where contents are kept failed.
    #[error(transparent)]
    Storage(#[from] StorageFailed),
}

impl Refusal for FileRefusal {}
