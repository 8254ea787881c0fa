use kontor_kernel::{AccessDenied, StoreError};

use crate::model::ContentRefused;
use crate::ports::StorageFailed;

/// Why a use case of files is refused.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// The content is none that the type of file takes.
    #[error("the file {0}")]
    Content(#[from] ContentRefused),
    /// It took so long to store the content that the record was given up; nothing is left of it.
    #[error("the file was not stored in time")]
    TooSlow,
    /// The place where contents are kept failed.
    #[error(transparent)]
    Storage(#[from] StorageFailed),
    /// The storage of records failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
