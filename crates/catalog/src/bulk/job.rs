use std::str::FromStr;

use chrono::{DateTime, Utc};
use kontor_kernel::{JobId, Permission, ProjectId, RecordError, Refusal, Resource, StoreError, TokenId, UserId};

use super::ExportKind;
use crate::spreadsheet::{ImportError, ImportKind, ImportMode, ImportReport, Layout, ReadOptions, RowProblems};

/// Kind of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Imports an uploaded file.
    Import(ImportKind),
    /// Creates a file for download.
    Export(ExportKind),
}

impl From<ImportKind> for JobKind {
    fn from(kind: ImportKind) -> Self {
        Self::Import(kind)
    }
}

impl From<ExportKind> for JobKind {
    fn from(kind: ExportKind) -> Self {
        Self::Export(kind)
    }
}

impl strum::VariantArray for JobKind {
    const VARIANTS: &'static [Self] = &[
        Self::Import(ImportKind::Nomenclatures),
        Self::Import(ImportKind::Inventories),
        Self::Export(ExportKind::Stock),
        Self::Export(ExportKind::Orders),
        Self::Export(ExportKind::Customers),
    ];
}

impl From<JobKind> for &'static str {
    fn from(kind: JobKind) -> Self {
        match kind {
            JobKind::Import(kind) => kind.into(),
            JobKind::Export(kind) => kind.into(),
        }
    }
}

impl FromStr for JobKind {
    type Err = strum::ParseError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        word.parse().map(Self::Import).or_else(|_| word.parse().map(Self::Export))
    }
}

impl JobKind {
    /// Returns the permissions to start and to cancel such a job.
    pub fn to_start(self) -> &'static [Permission] {
        match self {
            Self::Import(kind) => kind.to_import(),
            Self::Export(kind) => kind.to_view(),
        }
    }

    /// Returns the permission to read such a job, for employees who may not start it.
    pub fn to_view(self) -> Permission {
        match self {
            Self::Import(ImportKind::Nomenclatures) => Permission::view(Resource::Nomenclatures),
            Self::Import(ImportKind::Inventories) | Self::Export(ExportKind::Stock) => {
                Permission::view(Resource::Inventories)
            }
            Self::Export(ExportKind::Orders) => Permission::view(Resource::Orders),
            Self::Export(ExportKind::Customers) => Permission::view(Resource::Counterparties),
        }
    }
}

/// Options of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobOptions {
    /// `true` to check the file without writing.
    pub dry_run: bool,
    /// Treatment of the valid rows of a file with invalid ones.
    pub mode: ImportMode,
}

/// State of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum JobState {
    /// Waiting in the queue.
    Queued,
    /// A process is working on it, or ended without finishing it.
    Running,
    /// Finished.
    Succeeded,
    /// Failed.
    Failed,
    /// Canceled. Rows written before that are kept.
    Canceled,
}

impl JobState {
    /// Returns `true` if the state is final.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }
}

/// Pass of an import over its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum JobPhase {
    /// Rows are checked, nothing is written.
    Checking,
    /// Rows are written.
    Writing,
}

/// Counts of processed rows; in a dry run, counts of the changes that would be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Number of created records.
    pub created: u64,
    /// Number of changed records.
    pub updated: u64,
    /// Records that already match the file.
    pub unchanged: u64,
    /// Rows skipped because of a problem.
    pub skipped: u64,
    /// Problems; a row may have several.
    pub problems: u64,
}

impl From<&ImportReport> for Tally {
    fn from(report: &ImportReport) -> Self {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Self {
            created: count(report.created),
            updated: count(report.updated),
            unchanged: count(report.unchanged),
            skipped: count(report.skipped),
            problems: count(report.problems.total()),
        }
    }
}

/// Background import or export. Fields specific to imports are empty in exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Identifier.
    pub id: JobId,
    /// Kind.
    pub kind: JobKind,
    /// Options.
    pub options: JobOptions,
    /// Options for reading the file.
    pub reading: ReadOptions,
    /// State.
    pub state: JobState,
    /// Current or last pass.
    pub phase: JobPhase,
    /// File name given by the sender.
    pub file_name: Option<String>,
    /// Size of the file in bytes; 0 until an export has created it.
    pub file_bytes: u64,
    /// Time after which the file of a finished export is removed.
    pub file_expires_at: Option<DateTime<Utc>>,
    /// Rows below the headers; known after the first pass.
    pub total_rows: Option<u64>,
    /// Rows done in this pass.
    pub done_rows: u64,
    /// Row of the spreadsheet up to which this pass is done.
    pub checkpoint: u32,
    /// Counts of the processed rows.
    pub tally: Tally,
    /// Unknown headers; known after the first pass.
    pub ignored_columns: Vec<String>,
    /// Location of the table in the file; known after the first pass.
    pub layout: Option<Layout>,
    /// Reason of the failure.
    pub failure: Option<String>,
    /// Employee who started the job; `None` if it was started from the command line.
    pub user_id: Option<UserId>,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time at which work first started.
    pub started_at: Option<DateTime<Utc>>,
    /// Time at which the job ended.
    pub finished_at: Option<DateTime<Utc>>,
}

/// Import to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// Kind of records.
    pub kind: ImportKind,
    /// Options.
    pub options: JobOptions,
    /// Options for reading the file.
    pub reading: ReadOptions,
    /// Location of the file.
    pub place: String,
    /// File name given by the sender.
    pub file_name: Option<String>,
    /// Size in bytes.
    pub file_bytes: u64,
    /// Employee who started it.
    pub user_id: Option<UserId>,
    /// Token that started it, if an agent did.
    pub token_id: Option<TokenId>,
}

/// Filter of jobs; empty lists do not filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobFilter {
    /// Kinds of jobs.
    pub kinds: Vec<JobKind>,
    /// States of jobs.
    pub states: Vec<JobState>,
}

/// Time-limited exclusive right of a worker to a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLease {
    /// Job.
    pub job: JobId,
    /// Project.
    pub project: ProjectId,
    /// Worker that holds the lease.
    pub owner: String,
}

/// Import leased by a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedJob {
    /// Job at the time of the lease.
    pub job: Job,
    /// Kind of records.
    pub kind: ImportKind,
    /// Project.
    pub project: ProjectId,
    /// Location of its file.
    pub place: String,
    /// Worker that holds the lease.
    pub owner: String,
    /// Number of attempts since the last progress, including this one.
    pub tries: u32,
}

impl LeasedJob {
    /// Returns the lease.
    pub fn lease(&self) -> JobLease {
        JobLease { job: self.job.id, project: self.project, owner: self.owner.clone() }
    }
}

/// One step of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Row up to which the pass was done before.
    pub after: u32,
    /// Row up to which it is done now.
    pub through: u32,
    /// Rows in between that are not blank.
    pub rows: u64,
    /// New end of the lease.
    pub until: DateTime<Utc>,
}

/// Result of the first pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassResult {
    /// Rows below the headers.
    pub total_rows: u64,
    /// Location of the table in the file.
    pub layout: Layout,
    /// `true` if the second pass begins; it starts at the top.
    pub go_on: bool,
    /// `true` if the counts of the first pass are the result (dry run); otherwise they are reset.
    pub is_answer: bool,
    /// New end of the lease.
    pub until: DateTime<Utc>,
}

/// End of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// Final state.
    pub state: JobState,
    /// Reason of the failure.
    pub failure: Option<String>,
    /// Problems that are not recorded yet.
    pub problems: RowProblems,
    /// Time of the end.
    pub at: DateTime<Utc>,
}

/// Row of the error sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobProblem {
    /// Position in the error sheet.
    pub number: i64,
    /// Row number as the spreadsheet counts, from 1.
    pub row: u32,
    /// Name of the column.
    pub column: String,
    /// Problem.
    pub reason: String,
}

/// Progress of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Current pass.
    pub phase: JobPhase,
    /// Rows done in it.
    pub done_rows: u64,
    /// Total number of rows, if known.
    pub total_rows: Option<u64>,
}

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
    /// The author was banned, or lost the permission or the token.
    #[error("the author of the job is no longer allowed to do this")]
    AuthorDenied,
    /// The import refused the part.
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl From<StoreError> for PartError {
    fn from(error: StoreError) -> Self {
        Self::Import(ImportError::Store(error))
    }
}
