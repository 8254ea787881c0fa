use std::str::FromStr;

use chrono::{DateTime, Utc};
use kontor_kernel::{JobId, Permission, ProjectId, Resource, UserId};

use super::ExportKind;
use crate::spreadsheet::{ImportKind, ImportMode, ImportReport, Layout, ReadOptions, RowProblems};

/// The work of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Reads a file that was sent.
    Import(ImportKind),
    /// Makes a file that can be downloaded.
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
    /// Permissions to start and to cancel such a job.
    pub fn to_start(self) -> &'static [Permission] {
        match self {
            Self::Import(kind) => kind.to_import(),
            Self::Export(kind) => kind.to_view(),
        }
    }

    /// Permission to read such a job, for employees who may not start it.
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

/// How a job goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobOptions {
    /// Only finds out what would happen.
    pub dry_run: bool,
    /// What becomes of the good rows of a file with bad ones.
    pub mode: ImportMode,
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum JobState {
    /// It waits for its turn.
    Queued,
    /// A process works on it, or has died doing so.
    Running,
    /// It came to its end.
    Succeeded,
    /// It was given up.
    Failed,
    /// Somebody stopped it. What was written until then stays.
    Canceled,
}

impl JobState {
    /// Whether nothing more happens.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }
}

/// Which pass over the file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum JobPhase {
    /// Every row is looked at, nothing is written.
    Checking,
    /// The rows are written.
    Writing,
}

/// What has become of rows; in a dry run, what would become of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// New records.
    pub created: u64,
    /// Records that were changed.
    pub updated: u64,
    /// Records that already were as the file says.
    pub unchanged: u64,
    /// Rows that were left out because of a problem.
    pub skipped: u64,
    /// Problems, of which a row may have several.
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

/// An import or export in the background. What only imports have is empty in exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// What it does.
    pub kind: JobKind,
    /// How it goes about it.
    pub options: JobOptions,
    /// Choices about the reading of its file.
    pub reading: ReadOptions,
    /// How it stands.
    pub state: JobState,
    /// Which pass it is in, or was in at the end.
    pub phase: JobPhase,
    /// What the sender called the file.
    pub file_name: Option<String>,
    /// The size of the file in bytes; 0 until an export has made it.
    pub file_bytes: u64,
    /// The moment after which the file of a finished export is gone.
    pub file_expires_at: Option<DateTime<Utc>>,
    /// Rows below the headers; known after the first pass.
    pub total_rows: Option<u64>,
    /// How many of them are done in this pass.
    pub done_rows: u64,
    /// The row of the spreadsheet up to which this pass is done.
    pub checkpoint: u32,
    /// What has become of them.
    pub tally: Tally,
    /// Headers that were not understood; known after the first pass.
    pub ignored_columns: Vec<String>,
    /// Place of the rows in the file; known after the first pass.
    pub layout: Option<Layout>,
    /// Why it was given up.
    pub failure: Option<String>,
    /// Who sent the file; nobody when it came from the command line.
    pub user_id: Option<UserId>,
    /// When it was sent.
    pub created_at: DateTime<Utc>,
    /// When somebody first worked on it.
    pub started_at: Option<DateTime<Utc>>,
    /// When it was over.
    pub finished_at: Option<DateTime<Utc>>,
}

/// An import to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// The records it is about.
    pub kind: ImportKind,
    /// How it goes about it.
    pub options: JobOptions,
    /// Choices about the reading of its file.
    pub reading: ReadOptions,
    /// Where the file is kept.
    pub place: String,
    /// What the sender called it.
    pub file_name: Option<String>,
    /// Its size.
    pub file_bytes: u64,
    /// Who sent it.
    pub user_id: Option<UserId>,
}

/// Which jobs are asked for; what is empty does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobFilter {
    /// Only these kinds.
    pub kinds: Vec<JobKind>,
    /// Only these states.
    pub states: Vec<JobState>,
}

/// The right to work on a job until the lease runs out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLease {
    /// The job.
    pub job: JobId,
    /// Its project.
    pub project: ProjectId,
    /// Who holds it.
    pub owner: String,
}

/// An import that was taken to work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedJob {
    /// As it stands.
    pub job: Job,
    /// The records it is about.
    pub kind: ImportKind,
    /// The project it belongs to.
    pub project: ProjectId,
    /// Where its file is kept.
    pub place: String,
    /// Who took it.
    pub owner: String,
    /// How often it was taken since it last went forward, this time included.
    pub tries: u32,
}

impl LeasedJob {
    /// The right to work on it.
    pub fn lease(&self) -> JobLease {
        JobLease { job: self.job.id, project: self.project, owner: self.owner.clone() }
    }
}

/// One step of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The row up to which the pass was done before.
    pub after: u32,
    /// The row up to which it is done now.
    pub through: u32,
    /// Rows in between that are not blank.
    pub rows: u64,
    /// How long the right to work on the job lasts from now on.
    pub until: DateTime<Utc>,
}

/// What is known after the first pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassDone {
    /// Rows below the headers.
    pub total_rows: u64,
    /// Place of the rows in the file.
    pub layout: Layout,
    /// Whether the second pass begins; it starts at the top.
    pub go_on: bool,
    /// Whether what would happen is to be told; otherwise the records counted so far are forgotten.
    pub is_answer: bool,
    /// How long the right to work on the job lasts from now on.
    pub until: DateTime<Utc>,
}

/// How a job ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// One of the states that are over.
    pub state: JobState,
    /// Why it was given up.
    pub failure: Option<String>,
    /// Problems that are not recorded yet.
    pub problems: RowProblems,
    /// The moment.
    pub at: DateTime<Utc>,
}

/// One line of the error sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobProblem {
    /// Its place in the error sheet.
    pub number: i64,
    /// The row as the spreadsheet counts.
    pub row: u32,
    /// The name of the column.
    pub column: String,
    /// What is wrong.
    pub reason: String,
}

/// How far a pass is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Which pass.
    pub phase: JobPhase,
    /// Rows done in it.
    pub done_rows: u64,
    /// Of so many, when that is known.
    pub total_rows: Option<u64>,
}
