//! What jobs need from the outside.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{JobId, OfProject, Page, PageRequest, ProjectId, StoreError};

use super::{Ending, Job, JobError, JobFilter, JobLease, JobProblem, LeasedJob, NewJob, PassDone, Step};
use crate::spreadsheet::ImportReport;

/// The jobs of all projects.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait JobBook: Send + Sync {
    /// Stores a job that waits for its turn, refusing `JobRefusal::TooManyWaiting` when `most` of the project wait.
    async fn insert(&self, project: ProjectId, job: NewJob, most: u32, at: DateTime<Utc>) -> Result<Job, JobError>;

    /// How many jobs of the project wait.
    async fn waiting(&self, project: ProjectId) -> Result<u32, StoreError>;

    /// A job of any project.
    async fn find(&self, id: JobId) -> Result<Option<OfProject<Job>>, StoreError>;

    /// One page of the project's jobs, newest first.
    async fn list(&self, project: ProjectId, filter: JobFilter, page: PageRequest) -> Result<Page<Job>, StoreError>;

    /// The next problems of a job, after this one, in the order of the file.
    async fn problems(&self, id: JobId, after: i64, limit: u32) -> Result<Vec<JobProblem>, StoreError>;

    /// Ends a job that is not over. Whoever works on it can write no more. `None` when it is over already.
    async fn cancel(&self, id: JobId, at: DateTime<Utc>) -> Result<Option<Job>, StoreError>;

    /// Takes a job to work on: `only` this one, or the oldest that may be taken. A job may be taken when it waits and no
    /// other of its project runs, or when the lease of whoever ran it has run out.
    async fn lease(
        &self,
        only: Option<JobId>,
        owner: &str,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedJob>, StoreError>;

    /// Records a step of the first pass. `false` when the job is no longer leased by the caller.
    async fn advance(&self, held: JobLease, step: Step, report: ImportReport) -> Result<bool, StoreError>;

    /// Holds the job longer. `false` when it is no longer leased by the caller.
    async fn renew(&self, held: JobLease, until: DateTime<Utc>) -> Result<bool, StoreError>;

    /// Records the end of the first pass. `false` when the job is no longer leased by the caller.
    async fn checked(&self, held: JobLease, done: PassDone) -> Result<bool, StoreError>;

    /// Ends the job. `false` when it is no longer leased by the caller.
    async fn finish(&self, held: JobLease, ending: Ending) -> Result<bool, StoreError>;

    /// Lets others go on with the job at once.
    async fn release(&self, held: JobLease, now: DateTime<Utc>) -> Result<(), StoreError>;

    /// Jobs that are over and whose file is still kept, with its place.
    async fn leftovers(&self, limit: u32) -> Result<Vec<(JobId, String)>, StoreError>;

    /// Which of these places a job names.
    async fn named(&self, places: Vec<String>) -> Result<Vec<String>, StoreError>;

    /// Records that the file of a job is gone.
    async fn forget_file(&self, id: JobId) -> Result<(), StoreError>;
}

/// Keeps uploaded files until their jobs are over.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait UploadStore: Send + Sync {
    /// Keeps a copy that survives a crash. Returns its place and its size in bytes.
    async fn keep(&self, file: &Path) -> Result<(String, u64), StoreError>;

    /// Where the file can be read on this machine.
    async fn open(&self, place: &str) -> Result<PathBuf, StoreError>;

    /// Places of files that were kept before this moment, at most so many.
    async fn kept_before(&self, at: DateTime<Utc>, most: usize) -> Result<Vec<String>, StoreError>;

    /// Throws the file away; one that is gone already is no error.
    async fn discard(&self, place: &str) -> Result<(), StoreError>;
}
