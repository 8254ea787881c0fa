use kontor_kernel::{RecordError, Refusal, StoreError};

use crate::spreadsheet::ImportError;

/// Error of a use case of jobs.
pub type JobError = RecordError<JobRefusal>;

/// Refusals specific to jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JobRefusal {
    /// The job has ended.
    #[error("the job has already ended")]
    Ended,
    /// The project has the maximum number of waiting jobs.
    #[error("{0} jobs of the project are already queued; try again when one of them has ended")]
    TooManyWaiting(u32),
    /// The file of the export is not ready yet.
    #[error("the export is not finished; download its file when its status is succeeded")]
    Unfinished,
}

impl Refusal for JobRefusal {}

/// Reason why a part of a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The job was canceled, or another process took it over.
    #[error("the lease of the job has expired")]
    LeaseLost,
    /// The import refused the part.
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl From<StoreError> for PartError {
    fn from(error: StoreError) -> Self {
        Self::Import(ImportError::Store(error))
    }
}
