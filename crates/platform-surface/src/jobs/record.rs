//! Record of a job.

use chrono::{DateTime, Utc};
use kontor_catalog::bulk::Job;
use kontor_catalog::spreadsheet::ImportMode;
use kontor_kernel::{UserId, Word as _};
use serde::Serialize;
use utoipa::ToSchema;

use crate::import_rows::{HeaderRecord, RowRecord};
use crate::sheets::RowProblemRecord;
use kontor_web::envelope::{list, one};

#[derive(Serialize, ToSchema)]
struct JobRecord {
    id: i64,
    /// `nomenclatures_import`, `inventories_upload`, `inventories_export`, `orders_export` or `counterparties_export`.
    kind: &'static str,
    /// `queued`, `running`, `succeeded`, `failed` or `canceled`.
    status: &'static str,
    /// `checking`: all rows are checked and nothing is written; then `writing`. Exports are always `writing`.
    phase: &'static str,
    /// `true` if the job ends after checking and writes nothing.
    dry_run: bool,
    /// `true` if valid rows are written even if others are invalid.
    partial: bool,
    file_name: Option<String>,
    /// Size of the file in bytes. `0` until an export has succeeded.
    file_size: u64,
    /// Time when the file of an export is deleted. `null` for imports, and until the export has succeeded.
    file_expires_at: Option<DateTime<Utc>>,
    /// Number of rows below the headers. `null` until checking is complete, or until an export has started.
    total_rows: Option<u64>,
    /// Number of rows processed in this phase.
    done_rows: u64,
    /// Number of records created.
    created: u64,
    /// Number of records updated.
    updated: u64,
    /// Number of records that already match the file.
    unchanged: u64,
    /// Number of rows skipped because of errors.
    skipped: u64,
    /// Number of errors found. `GET /api/jobs/{id}/row_errors` and `GET /api/jobs/{id}/errors` return the first 10,000.
    errors_total: u64,
    /// Headers that are not imported.
    ignored_columns: Vec<String>,
    /// `true` if empty cells change nothing.
    keep_empty: bool,
    /// Name of the sheet that was read. `null` for csv, and until checking is complete.
    sheet: Option<String>,
    /// Number of the header row. `null` until checking is complete.
    header_row: Option<u32>,
    /// Headers from left to right. Empty until checking is complete.
    columns: Vec<HeaderRecord>,
    /// Reason of the failure.
    message: Option<String>,
    /// Id of the employee who started the job. `null` if it was started from the command line.
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

one!(/// Job.
    pub JobResponse { job: JobRecord });
list!(/// One page of jobs, with the total number of jobs.
    pub(super) JobList { jobs: [JobRecord], jobs_count of all, pagination });
list!(/// First rows of an import.
    pub(super) JobRowList { rows: [RowRecord], rows_count });
list!(/// One page of the errors of an import, with the number of stored errors.
    pub(super) JobErrorList { row_errors: [RowProblemRecord], row_errors_count of all, pagination });
