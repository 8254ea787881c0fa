//! What staff see of a job.

use chrono::{DateTime, Utc};
use kontor_catalog::bulk::Job;
use kontor_catalog::spreadsheet::ImportMode;
use kontor_kernel::{UserId, Word as _};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::envelope::{list, one};
use crate::http::import_rows::HeaderRecord;

#[derive(Serialize, ToSchema)]
struct JobRecord {
    id: i64,
    /// `nomenclatures_import`, `inventories_upload`, `inventories_export`, `orders_export` or `counterparties_export`.
    kind: &'static str,
    /// `queued`, `running`, `succeeded`, `failed` or `canceled`.
    status: &'static str,
    /// `checking`: every row is looked at and nothing is written; then `writing`. Exports are always `writing`.
    phase: &'static str,
    /// Whether it ends after checking.
    dry_run: bool,
    /// Whether good rows are written although others are bad.
    partial: bool,
    file_name: Option<String>,
    /// Bytes; 0 until an export has succeeded.
    file_size: u64,
    /// The moment after which the file of an export is gone; `null` for imports and until the export has succeeded.
    file_expires_at: Option<DateTime<Utc>>,
    /// Rows below the headers; `null` until checking is over, or until an export has begun.
    total_rows: Option<u64>,
    /// Rows done in this phase.
    done_rows: u64,
    created: u64,
    updated: u64,
    unchanged: u64,
    /// Rows left out because of a problem.
    skipped: u64,
    /// Problems found; `GET /api/jobs/{id}/errors` has the first 10,000.
    errors_total: u64,
    ignored_columns: Vec<String>,
    /// Whether empty cells change nothing.
    keep_empty: bool,
    /// The sheet that was read; `null` for csv, and until checking is over.
    sheet: Option<String>,
    /// The row of headers; `null` until checking is over.
    header_row: Option<u32>,
    /// The headers from left to right; none until checking is over.
    columns: Vec<HeaderRecord>,
    /// Why it failed.
    message: Option<String>,
    /// Employee who started it; `null` when it came from the command line.
    user_id: Option<i64>,
    created_at: DateTime<Utc>,
    started_at: Option<DateTime<Utc>>,
    finished_at: Option<DateTime<Utc>>,
}

impl From<Job> for JobRecord {
    fn from(job: Job) -> Self {
        let (sheet, header_row, columns) = job.layout.map_or((None, None, Vec::new()), |layout| {
            let columns = layout.columns.into_iter().map(Into::into).collect();
            (layout.sheet, Some(layout.header_row), columns)
        });
        Self {
            id: job.id.get(),
            kind: job.kind.word(),
            status: job.state.word(),
            phase: job.phase.word(),
            dry_run: job.options.dry_run,
            partial: job.options.mode == ImportMode::Partial,
            file_name: job.file_name,
            file_size: job.file_bytes,
            file_expires_at: job.file_expires_at,
            total_rows: job.total_rows,
            done_rows: job.done_rows,
            created: job.tally.created,
            updated: job.tally.updated,
            unchanged: job.tally.unchanged,
            skipped: job.tally.skipped,
            errors_total: job.tally.problems,
            ignored_columns: job.ignored_columns,
            keep_empty: job.reading.keep_empty,
            sheet,
            header_row,
            columns,
            message: job.failure,
            user_id: job.user_id.map(UserId::get),
            created_at: job.created_at,
            started_at: job.started_at,
            finished_at: job.finished_at,
        }
    }
}

one!(/// One job.
    pub OneJob { job: JobRecord });
list!(/// A page of jobs, and how many there are in all.
    pub(super) JobList { jobs: [JobRecord], jobs_count of all, pagination });
