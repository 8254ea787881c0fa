//! Exports: files of records, created in the background and kept for a day.

use std::borrow::Cow;
use std::fs::File;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use kontor_kernel::{Clock, Permission, ProjectId, Resource, StoreError, TokenId, UserId};

use super::ports::{ExportRepository, ExportSource, UploadStore};
use super::{BlockOn, JobLease, JobPhase, JobState, Progress, RunOutcome};
use crate::spreadsheet::Content;
use crate::spreadsheet::ports::{SheetFailed, SheetFormat, SheetWriter, SheetWriters};

/// Kind of records of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
pub enum ExportKind {
    /// Stock levels, one row per item and warehouse.
    #[strum(serialize = "inventories_export")]
    Stock,
    /// Orders, one row per line.
    #[strum(serialize = "orders_export")]
    Orders,
    /// Customers who are not deleted.
    #[strum(serialize = "counterparties_export")]
    Customers,
}

impl ExportKind {
    /// Returns the permissions to start and to cancel such an export.
    pub(super) fn to_view(self) -> &'static [Permission] {
        const STOCK: [Permission; 1] = [Permission::view(Resource::Inventories)];
        const ORDERS: [Permission; 1] = [Permission::view(Resource::Orders)];
        const CUSTOMERS: [Permission; 1] = [Permission::view(Resource::Counterparties)];
        match self {
            Self::Stock => &STOCK,
            Self::Orders => &ORDERS,
            Self::Customers => &CUSTOMERS,
        }
    }

    /// Returns the name of a record for messages.
    pub(super) fn record(self) -> &'static str {
        match self {
            Self::Stock => "stock record",
            Self::Orders => "order",
            Self::Customers => "customer",
        }
    }

    /// Returns the start of the file name.
    pub fn file_stem(self) -> &'static str {
        match self {
            Self::Stock => "inventories",
            Self::Orders => "orders",
            Self::Customers => "counterparties",
        }
    }
}

/// Records included in an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportScope {
    /// Kind of records.
    pub kind: ExportKind,
    /// First day of creation, in the time zone of the project. Used for orders only.
    pub created_from: Option<NaiveDate>,
    /// Last day of creation.
    pub created_to: Option<NaiveDate>,
}

impl From<ExportKind> for ExportScope {
    /// Includes all records.
    fn from(kind: ExportKind) -> Self {
        Self { kind, created_from: None, created_to: None }
    }
}

/// Export to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewExport {
    /// Included records.
    pub scope: ExportScope,
    /// Format of the file.
    pub format: SheetFormat,
    /// Employee who requested it.
    pub user_id: Option<UserId>,
    /// Token that requested it, if an agent did.
    pub token_id: Option<TokenId>,
}

/// Export leased by a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedExport {
    /// Lease.
    pub held: JobLease,
    /// Included records.
    pub scope: ExportScope,
    /// Format of the file.
    pub format: SheetFormat,
    /// Number of attempts, including this one.
    pub tries: u32,
}

/// Position of a row in its export. Rows are in ascending order of position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ExportCursor {
    /// Identifier of the record.
    pub record: i64,
    /// Identifier of the line, for records with several rows.
    pub line: i64,
}

/// Row of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRow {
    /// Position.
    pub at: ExportCursor,
    /// Cells, in the order of the headers.
    pub cells: Vec<Content<'static>>,
}

/// Progress of an export. The total is determined when the export begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportProgress {
    /// Written rows.
    pub done_rows: u64,
    /// All rows.
    pub total_rows: u64,
}

/// Complete file stored for download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedFile {
    /// Location of the file.
    pub place: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Time after which the file is removed.
    pub expires_at: DateTime<Utc>,
}

/// File of a finished export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// Location of the file.
    pub place: String,
    /// Format.
    pub format: SheetFormat,
}

/// Reason why a file was not created.
#[derive(Debug, thiserror::Error)]
pub enum ExportAbort {
    /// The export was canceled, or another process took it over.
    #[error("the lease of the export has expired")]
    LeaseLost,
    /// The author was banned, or lost the permission or the token.
    #[error("the author of the export is no longer allowed to do this")]
    AuthorDenied,
    /// The process is shutting down.
    #[error("the export was stopped")]
    Stopped,
    /// The format cannot hold these records.
    #[error("{0}")]
    Refused(String),
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates the files of exports. Runs on a thread that may block.
pub struct ExportRunner {
    /// Storage of export jobs.
    pub exports: Arc<dyn ExportRepository>,
    /// Reads the records.
    pub source: Arc<dyn ExportSource>,
    /// Writes files.
    pub writers: Arc<dyn SheetWriters>,
    /// Storage of finished files.
    pub files: Arc<dyn UploadStore>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl ExportRunner {
    /// Rows per page.
    pub const PAGE: u32 = 500;
    /// Maximum attempts before an export fails.
    pub const MAX_ATTEMPTS: u32 = 5;
    /// Maximum rows of a workbook below its headers.
    const MAX_ROWS: u64 = 1_048_575;
    /// Maximum number of expired files removed in one call.
    const EXPIRED: u32 = 20;

    /// Returns the time for which a finished export is kept.
    pub fn lifetime() -> TimeDelta {
        TimeDelta::hours(24)
    }

    fn lease_time() -> TimeDelta {
        TimeDelta::seconds(60)
    }

    /// Returns the lease while the file is completed and stored. No renewal is possible then, and a workbook of a
    /// million rows is compressed in this step.
    fn completion_lease() -> TimeDelta {
        TimeDelta::minutes(10)
    }

    /// Leases the oldest export that is available.
    pub async fn lease(&self, owner: &str) -> Result<Option<LeasedExport>, StoreError> {
        let now = self.clock.now();
        self.exports.lease_export(owner, now, now + Self::lease_time()).await
    }

    /// Removes expired files. Returns their number.
    pub async fn remove_finished_files(&self) -> Result<usize, StoreError> {
        let expired = self.exports.expired(self.clock.now(), Self::EXPIRED).await?;
        for (export, place) in &expired {
            self.files.remove_file(place).await?;
            self.exports.forget_export(*export).await?;
        }
        Ok(expired.len())
    }

    /// Creates the file of an export from its first row. After every page `watch` receives the progress and returns
    /// `true` to continue. On a storage error the export stays running: its lease expires and it is leased again.
    pub fn run<W: BlockOn>(
        &self,
        waits: &W,
        leased: &LeasedExport,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<RunOutcome, StoreError> {
        let held = &leased.held;
        if leased.tries > Self::MAX_ATTEMPTS {
            return self.fail(waits, held, "the service failed repeatedly; start a new export".to_owned());
        }
        let mut renew = |progress: ExportProgress, lease: TimeDelta| {
            waits.wait(self.exports.progress(held.clone(), progress, self.clock.now() + lease))?;
            let ExportProgress { done_rows, total_rows } = progress;
            let shown = Progress { phase: JobPhase::Writing, done_rows, total_rows: Some(total_rows) };
            if watch(shown) { Ok(()) } else { Err(ExportAbort::Stopped) }
        };
        match self.write(waits, held.project, leased.scope, leased.format, &mut renew) {
            Ok(file) => self.keep(waits, held, file),
            Err(ExportAbort::LeaseLost) => Ok(RunOutcome::LeaseLost),
            Err(ExportAbort::Stopped) => {
                waits.wait(self.exports.release_export(held.clone(), self.clock.now()))?;
                Ok(RunOutcome::Stopped)
            }
            Err(ExportAbort::Refused(reason)) => self.fail(waits, held, reason),
            Err(denied @ ExportAbort::AuthorDenied) => self.fail(waits, held, denied.to_string()),
            Err(ExportAbort::Store(error)) => Err(error),
        }
    }

    /// Writes the records of a project to a new file. `hold` is called before the first page, after every page and
    /// before the file is completed, each time with the time until the next call. An error of `hold` ends the writing.
    pub fn write<W: BlockOn>(
        &self,
        waits: &W,
        project: ProjectId,
        scope: ExportScope,
        format: SheetFormat,
        hold: &mut dyn FnMut(ExportProgress, TimeDelta) -> Result<(), ExportAbort>,
    ) -> Result<File, ExportAbort> {
        let total_rows = waits.wait(self.source.total(project, scope))?;
        let mut progress = ExportProgress { done_rows: 0, total_rows };
        fits(format, total_rows)?;
        hold(progress, Self::lease_time())?;
        let titles = self.source.header(scope.kind);
        let header: Vec<Content<'_>> = titles.iter().map(|title| Content::Text(Cow::Borrowed(*title))).collect();
        let mut writer = self.writers.open(format).map_err(failed)?;
        writer.row(&header).map_err(failed)?;
        let mut after = ExportCursor::default();
        loop {
            let rows = waits.wait(self.source.rows(project, scope, after, Self::PAGE))?;
            let Some(last) = rows.last() else { break };
            after = last.at;
            progress.done_rows += u64::try_from(rows.len()).map_err(StoreError::corrupt)?;
            fits(format, progress.done_rows)?;
            for row in &rows {
                write_row(&mut *writer, row, scope, titles)?;
            }
            hold(progress, Self::lease_time())?;
        }
        hold(progress, Self::completion_lease())?;
        writer.finish().map_err(failed)
    }

    /// If the file is stored but the export is not updated, the sweep of files without a job removes it.
    fn keep<W: BlockOn>(&self, waits: &W, held: &JobLease, file: File) -> Result<RunOutcome, StoreError> {
        let (place, bytes) = waits.wait(self.files.keep_export(file))?;
        let at = self.clock.now();
        let kept = CompletedFile { place: place.clone(), bytes, expires_at: at + Self::lifetime() };
        if waits.wait(self.exports.end(held.clone(), Ok(kept), at))? {
            return Ok(RunOutcome::Ended(JobState::Succeeded));
        }
        waits.wait(self.files.remove_file(&place))?;
        Ok(RunOutcome::LeaseLost)
    }

    fn fail<W: BlockOn>(&self, waits: &W, held: &JobLease, reason: String) -> Result<RunOutcome, StoreError> {
        let ended = waits.wait(self.exports.end(held.clone(), Err(reason), self.clock.now()))?;
        Ok(if ended { RunOutcome::Ended(JobState::Failed) } else { RunOutcome::LeaseLost })
    }
}

fn fits(format: SheetFormat, rows: u64) -> Result<(), ExportAbort> {
    if format == SheetFormat::Csv || rows <= ExportRunner::MAX_ROWS {
        return Ok(());
    }
    let most = ExportRunner::MAX_ROWS;
    Err(ExportAbort::Refused(format!("there are more than {most} rows, the limit of a workbook; use csv")))
}

fn write_row(
    writer: &mut dyn SheetWriter,
    row: &ExportRow,
    scope: ExportScope,
    titles: &[&str],
) -> Result<(), ExportAbort> {
    let (cells, most) = match writer.row(&row.cells) {
        Err(SheetFailed::LongTexts { cells, most }) => (cells, most),
        written => return written.map_err(failed),
    };
    let long = cells.into_iter().map(|(cell, length)| {
        let (column, record, id) = (titles.get(cell).copied().unwrap_or_default(), scope.kind.record(), row.at.record);
        format!("the {column} of {record} {id} has {length} characters but a cell holds {most}; use csv")
    });
    Err(ExportAbort::Refused(long.collect::<Vec<_>>().join("\n")))
}

/// A full disk, for example, is reported as unavailable, so that the export is retried.
fn failed(error: SheetFailed) -> ExportAbort {
    ExportAbort::Store(StoreError::Unavailable(error.to_string()))
}
