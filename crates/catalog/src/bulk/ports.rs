//! Ports of jobs.

use std::fs::File;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{JobId, Page, PageRequest, ProjectId, ProjectScoped, StoreError};

use super::{
    CompletedFile, Ending, ExportAbort, ExportCursor, ExportFile, ExportKind, ExportProgress, ExportRow, ExportScope,
    Job, JobError, JobFilter, JobLease, JobProblem, LeasedExport, LeasedJob, NewExport, NewJob, PartError, PassResult,
    Step,
};
use crate::spreadsheet::{ImportReport, RowPreview};

/// Storage of the jobs of all projects. Imports and exports are found, listed and canceled alike; the other methods are
/// for imports.
///
/// Each write is one commit, or nothing of it. A write of a worker checks in its commit that the job runs and that the
/// worker still holds its lease. After [`StoreError::OutcomeUnknown`] a worker repeats nothing: its lease expires, and
/// the job continues from its checkpoint.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait JobRepository: Send + Sync {
    /// Stores an import in the queue. Refuses `JobRefusal::TooManyWaiting` if `most` jobs of the project are waiting,
    /// also under concurrent calls. After [`StoreError::OutcomeUnknown`] the caller keeps the file: a job may refer to
    /// it.
    async fn insert(&self, project: ProjectId, job: NewJob, most: u32, at: DateTime<Utc>) -> Result<Job, JobError>;

    /// Returns the number of waiting imports and exports of the project.
    async fn waiting(&self, project: ProjectId) -> Result<u32, StoreError>;

    /// Returns a job of any project.
    async fn find(&self, id: JobId) -> Result<Option<ProjectScoped<Job>>, StoreError>;

    /// Returns one page of the project's jobs, newest first.
    async fn list(&self, project: ProjectId, filter: JobFilter, page: PageRequest) -> Result<Page<Job>, StoreError>;

    /// Returns the next problems of a job after this one, in the order of the file.
    async fn problems(&self, id: JobId, after: i64, limit: u32) -> Result<Vec<JobProblem>, StoreError>;

    /// Returns one page of the stored problems of a job, in the order of the file.
    async fn problem_page(&self, id: JobId, page: PageRequest) -> Result<Page<JobProblem>, StoreError>;

    /// Returns the first rows of an import, as its first pass found them. Empty before that, and for exports.
    async fn first_rows(&self, id: JobId) -> Result<Vec<RowPreview>, StoreError>;

    /// Cancels a job that has not ended. The worker that holds it can write nothing more. Of concurrent calls one
    /// cancels it. Returns `None` if the job has ended.
    async fn cancel(&self, id: JobId, at: DateTime<Utc>) -> Result<Option<Job>, StoreError>;

    /// Leases an import: `only` this one, or the oldest that is available. An import is available if it waits longer
    /// than the others of its project and none of these runs, or if its lease has expired. Of concurrent calls one gets
    /// it.
    async fn lease(
        &self,
        only: Option<JobId>,
        owner: &str,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedJob>, StoreError>;

    /// Records a step of the first pass with its counts and problems, and the rows of the report of the first step.
    /// Renews the lease. Refuses [`PartError::LeaseLost`] if the caller no longer holds the lease or the step was
    /// already done, and [`PartError::AuthorDenied`] if the author may no longer start such a job.
    async fn advance(&self, held: JobLease, step: Step, report: ImportReport) -> Result<(), PartError>;

    /// Renews the lease. Returns `false` if the caller no longer holds it.
    async fn renew(&self, held: JobLease, until: DateTime<Utc>) -> Result<bool, StoreError>;

    /// Records the end of the first pass. Returns `false` if the caller no longer holds the lease.
    async fn checked(&self, held: JobLease, done: PassResult) -> Result<bool, StoreError>;

    /// Ends the job, with the problems that are not recorded yet. Returns `false` if the caller no longer holds the
    /// lease.
    async fn finish(&self, held: JobLease, ending: Ending) -> Result<bool, StoreError>;

    /// Releases the lease, so that other workers can continue the job at once. This is no failed attempt.
    async fn release(&self, held: JobLease, now: DateTime<Utc>) -> Result<(), StoreError>;

    /// Returns ended imports whose file is still stored, with its location.
    async fn list_ended_with_files(&self, limit: u32) -> Result<Vec<(JobId, String)>, StoreError>;

    /// Returns those of the locations that a job refers to.
    async fn named(&self, places: Vec<String>) -> Result<Vec<String>, StoreError>;

    /// Records that the file of an import was removed. Idempotent.
    async fn forget_file(&self, id: JobId) -> Result<(), StoreError>;
}

/// Storage of the exports of all projects, from the queue to the download.
///
/// Writes are committed as in [`JobRepository`]. An export that is leased again starts from its first row.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ExportRepository: Send + Sync {
    /// Stores an export in the queue. Refuses `JobRefusal::TooManyWaiting` if `most` jobs of the project are waiting,
    /// also under concurrent calls. After [`StoreError::OutcomeUnknown`] a caller looks for it in the list before it
    /// repeats the call.
    async fn queue(&self, project: ProjectId, export: NewExport, most: u32, at: DateTime<Utc>)
    -> Result<Job, JobError>;

    /// Leases the oldest available export: one that waits longer than the others of its project while none of these
    /// runs, or one whose lease has expired. Of concurrent calls one gets it.
    async fn lease_export(
        &self,
        owner: &str,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedExport>, StoreError>;

    /// Records progress and renews the lease. Refuses [`ExportAbort::LeaseLost`] if the caller no longer holds it, and
    /// [`ExportAbort::AuthorDenied`] if the author may no longer start such an export.
    async fn progress(&self, held: JobLease, progress: ExportProgress, until: DateTime<Utc>)
    -> Result<(), ExportAbort>;

    /// Ends the export with its file, or with the reason of the failure. Returns `false` if the caller no longer holds
    /// the lease. After [`StoreError::OutcomeUnknown`] the caller keeps the file: the export may refer to it.
    async fn end(
        &self,
        held: JobLease,
        outcome: Result<CompletedFile, String>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Releases the lease, so that other workers can start the export again at once. This is no failed attempt.
    async fn release_export(&self, held: JobLease, now: DateTime<Utc>) -> Result<(), StoreError>;

    /// Returns the file of a finished export, unless it has expired.
    async fn file(&self, id: JobId, now: DateTime<Utc>) -> Result<Option<ExportFile>, StoreError>;

    /// Returns exports whose file has expired and is still stored, with its location.
    async fn expired(&self, now: DateTime<Utc>, limit: u32) -> Result<Vec<(JobId, String)>, StoreError>;

    /// Records that the file of an export was removed. Idempotent.
    async fn forget_export(&self, id: JobId) -> Result<(), StoreError>;
}

/// Source of the rows of exports, each of the records of one project. The upload of exported stock changes nothing.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ExportSource: Send + Sync {
    /// Returns the names of the columns.
    fn header(&self, kind: ExportKind) -> &'static [&'static str];

    /// Returns the number of rows.
    async fn total(&self, project: ProjectId, scope: ExportScope) -> Result<u64, StoreError>;

    /// Returns the next rows after this position, at most `limit`. An empty page is the end.
    async fn rows(
        &self,
        project: ProjectId,
        scope: ExportScope,
        after: ExportCursor,
        limit: u32,
    ) -> Result<Vec<ExportRow>, StoreError>;
}

/// Storage of job files: uploads until their imports have ended, exports until they expire.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait UploadStore: Send + Sync {
    /// Stores a copy that survives a crash. Returns its location and its size in bytes.
    async fn keep(&self, file: &Path) -> Result<(String, u64), StoreError>;

    /// Stores the rest of the file of an export, from its current read position. Returns its location and its size in
    /// bytes.
    async fn keep_export(&self, file: File) -> Result<(String, u64), StoreError>;

    /// Returns a path at which this machine can read the file.
    async fn open(&self, place: &str) -> Result<PathBuf, StoreError>;

    /// Returns locations of files stored before this time, at most `most`.
    async fn list_stored_before(&self, at: DateTime<Utc>, most: usize) -> Result<Vec<String>, StoreError>;

    /// Removes the file. Idempotent.
    async fn remove_file(&self, place: &str) -> Result<(), StoreError>;
}
