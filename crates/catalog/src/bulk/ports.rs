//! What jobs need from the outside.

use std::fs::File;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{JobId, OfProject, Page, PageRequest, ProjectId, StoreError};

use super::{
    Ending, ExportCursor, ExportFile, ExportKind, ExportProgress, ExportRow, ExportScope, Job, JobError, JobFilter,
    JobLease, JobProblem, KeptFile, LeasedExport, LeasedJob, NewExport, NewJob, PassDone, Step,
};
use crate::spreadsheet::ImportReport;

/// The jobs of all projects. Imports and exports are found, listed and canceled alike; the other steps are those of imports.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait JobBook: Send + Sync {
    /// Stores an import that waits for its turn, refusing `JobRefusal::TooManyWaiting` when `most` of the project wait.
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

    /// Takes an import to work on: `only` this one, or the oldest that may be taken. It may be taken when it waits and no
    /// other import of its project runs, or when the lease of whoever ran it has run out.
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

    /// Imports that are over and whose file is still kept, with its place.
    async fn leftovers(&self, limit: u32) -> Result<Vec<(JobId, String)>, StoreError>;

    /// Which of these places a job names.
    async fn named(&self, places: Vec<String>) -> Result<Vec<String>, StoreError>;

    /// Records that the file of an import is gone.
    async fn forget_file(&self, id: JobId) -> Result<(), StoreError>;
}

/// The exports of all projects, from the queue to the download.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ExportBook: Send + Sync {
    /// Stores an export that waits for its turn, refusing `JobRefusal::TooManyWaiting` when `most` jobs of the project wait.
    async fn queue(&self, project: ProjectId, export: NewExport, most: u32, at: DateTime<Utc>)
    -> Result<Job, JobError>;

    /// Takes the oldest export that may be taken: one that waits while no other export of its project runs, or one whose
    /// lease has run out.
    async fn lease_export(
        &self,
        owner: &str,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedExport>, StoreError>;

    /// Records progress and holds the export until then. `false` when it is no longer leased by the caller.
    async fn progress(
        &self,
        held: JobLease,
        progress: ExportProgress,
        until: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Ends the export with its file, or with the reason why there is none. `false` when it is no longer leased by the caller.
    async fn end(
        &self,
        held: JobLease,
        outcome: Result<KeptFile, String>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Lets others begin the export anew at once.
    async fn hand_back(&self, held: JobLease, now: DateTime<Utc>) -> Result<(), StoreError>;

    /// The file of a finished export, unless it has expired.
    async fn file(&self, id: JobId, now: DateTime<Utc>) -> Result<Option<ExportFile>, StoreError>;

    /// Exports whose file has expired and is still kept, with its place.
    async fn expired(&self, now: DateTime<Utc>, limit: u32) -> Result<Vec<(JobId, String)>, StoreError>;

    /// Records that the file of an export is gone.
    async fn forget_export(&self, id: JobId) -> Result<(), StoreError>;
}

/// The rows of exports.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ExportSource: Send + Sync {
    /// The names of the columns.
    fn header(&self, kind: ExportKind) -> &'static [&'static str];

    /// The number of rows.
    async fn total(&self, project: ProjectId, scope: ExportScope) -> Result<u64, StoreError>;

    /// The next rows after this place, at most so many. An empty page is the end.
    async fn rows(
        &self,
        project: ProjectId,
        scope: ExportScope,
        after: ExportCursor,
        limit: u32,
    ) -> Result<Vec<ExportRow>, StoreError>;
}

/// Keeps the files of jobs: uploads until their imports are over, exports until they expire.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait UploadStore: Send + Sync {
    /// Keeps a copy that survives a crash. Returns its place and its size in bytes.
    async fn keep(&self, file: &Path) -> Result<(String, u64), StoreError>;

    /// Keeps what can be read from the file of an export on. Returns its place and its size in bytes.
    async fn keep_export(&self, file: File) -> Result<(String, u64), StoreError>;

    /// Where the file can be read on this machine.
    async fn open(&self, place: &str) -> Result<PathBuf, StoreError>;

    /// Places of files that were kept before this moment, at most so many.
    async fn kept_before(&self, at: DateTime<Utc>, most: usize) -> Result<Vec<String>, StoreError>;

    /// Throws the file away; one that is gone already is no error.
    async fn discard(&self, place: &str) -> Result<(), StoreError>;
}
