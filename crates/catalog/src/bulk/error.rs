use kontor_kernel::{AccessDenied, StoreError};

use crate::spreadsheet::ImportError;

/// Why a use case of jobs is refused.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such job.
    #[error("there is no such job")]
    NotFound,
    /// The job is over.
    #[error("the job has ended already")]
    Ended,
    /// So many jobs of the project wait already.
    #[error("{0} jobs of the project wait already; try again when one of them has ended")]
    TooManyWaiting(u32),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a part of a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The job was canceled, or another process has taken it over.
    #[error("the job is no longer held")]
    Lost,
    /// The import refused the part.
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl From<StoreError> for PartError {
    fn from(error: StoreError) -> Self {
        Self::Import(ImportError::Store(error))
    }
}
