//! Jobs, and the exports of stock, orders and customers that run as jobs.

use std::fs::File;

use actix_web::web::Path;
use actix_web::{HttpResponse, get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::bulk::{BulkService, ExportDownload, ExportKind, ExportScope, Job, JobFilter};
use kontor_catalog::spreadsheet::ports::SheetFormat;
use kontor_catalog::spreadsheet::{ImportMode, ProblemLine, SpreadsheetService};
use kontor_kernel::{PageRequest, StoreError, UserId, Violations, Word as _};
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::upload::blocking;
use kontor_web::wire::{self, InputErrors, Many};
use kontor_web::{ApiError, PathId, Query, Service, SignedInStaff};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use crate::sheets::{ExportQuery, HeaderRecord, RowProblemRecord, RowRecord, SheetFormatName, download, format_of};

handlers! {
    fn usual_routes; BulkService, "Jobs";

    /// Get an import or export job
    read "/api/jobs/{id}" as show_job -> JobResponse;

    /// Cancel an import or export job
    ///
    /// Rows already written by an import are kept.
    post "/api/jobs/{id}/cancel" as cancel_job = cancel(id) -> JobResponse, 409 "The job has already finished.";

    /// List the first rows of an import job
    ///
    /// Returns at most 20 rows as they were to be written when the file was checked. Empty until then, and for exports.
    list "/api/jobs/{id}/rows" as list_job_rows = first_rows(id) -> JobRowList;

    /// List the errors of an import job
    ///
    /// In the order of the file. Only the first 10,000 errors are stored; `errors_total` of the job counts all.
    list "/api/jobs/{id}/row_errors" as list_job_row_errors = problem_page(id, page) -> JobErrorList;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    usual_routes(config);
    config.service(list_jobs).service(download_job_errors).service(download_job_file);
}

/// Returns `202` with the queued job.
pub(super) fn queued(job: Job) -> HttpResponse {
    HttpResponse::Accepted().json(JobResponse::from(job))
}

/// List import and export jobs
///
/// Newest first.
#[utoipa::path(tag = "Jobs", params(JobQuery), responses((status = 200, body = JobList)))]
#[get("/api/jobs")]
async fn list_jobs(staff: SignedInStaff, service: Service<BulkService>, query: Query<JobQuery>) -> Answer<JobList> {
    let page = query.0.page()?;
    answer(service.list(&staff, query.0.into(), page).await?)
}

/// Download the errors of an import job
///
/// Returns a spreadsheet with row, column and reason. Only the first 10,000 errors are stored.
#[utoipa::path(
    tag = "Jobs",
    params(ExportQuery),
    responses((
        status = 200,
        description = "File contents.",
        content(
            (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            (String = "text/csv"),
        ),
    )),
)]
#[get("/api/jobs/{id}/errors")]
async fn download_job_errors(
    staff: SignedInStaff,
    service: Service<BulkService>,
    sheets: Service<SpreadsheetService>,
    id: Path<PathId>,
    query: Query<ExportQuery>,
) -> Result<HttpResponse, ApiError> {
    let format = query.0.format()?;
    let job = service.read(&staff, id.parse()?).await?;
    let mut writer = blocking(move || {
        let mut writer = sheets.open(format)?;
        writer.row(&ProblemLine::header()).map(|()| writer)
    })
    .await??;
    let mut problems = service.problems(&job, 0).await?;
    while let Some(last) = problems.last().map(|problem| problem.number) {
        writer = blocking(move || {
            problems.iter().try_for_each(|problem| writer.row(&ProblemLine::cells(problem))).map(|()| writer)
        })
        .await??;
        problems = service.problems(&job, last).await?;
    }
    let file = blocking(move || writer.finish()).await??;
    download(file, &format!("job-{}-errors", job.id), format)
}

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
    JobList { jobs: [JobRecord], jobs_count of all, pagination });
list!(/// First rows of an import.
    JobRowList { rows: [RowRecord], rows_count });
list!(/// One page of the errors of an import, with the number of stored errors.
    JobErrorList { row_errors: [RowProblemRecord], row_errors_count of all, pagination });

/// Filters and page of the list of jobs.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct JobQuery {
    /// `nomenclatures_import`, `inventories_upload`, `inventories_export`, `orders_export` or `counterparties_export`.
    /// A single value may be sent without brackets.
    #[deserr(default)]
    #[param(rename = "kind[]", value_type = Option<Vec<String>>)]
    kind: Many<wire::JobKind>,
    /// `queued`, `running`, `succeeded`, `failed` or `canceled`. A single value may be sent without brackets.
    #[deserr(default)]
    #[param(rename = "status[]", value_type = Option<Vec<String>>)]
    status: Many<wire::JobState>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 15 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl JobQuery {
    /// Returns the requested page.
    fn page(&self) -> Result<PageRequest, Violations> {
        page_of(self.page.as_ref(), self.per_page.as_ref(), 15)
    }
}

impl From<JobQuery> for JobFilter {
    fn from(query: JobQuery) -> Self {
        Self {
            kinds: query.kind.0.into_iter().map(|kind| kind.0).collect(),
            states: query.status.0.into_iter().map(|state| state.0).collect(),
        }
    }
}

/// Download the file of an export
///
/// Available after the export has succeeded, for 24 hours.
#[utoipa::path(
    tag = "Jobs",
    responses(
        (
            status = 200,
            description = "File contents.",
            content(
                (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
                (String = "text/csv"),
            ),
        ),
        (status = 404, description = "The job is an import, has no file, or its file has expired."),
        (status = 409, description = "The export is not finished."),
    ),
)]
#[get("/api/jobs/{id}/file")]
async fn download_job_file(
    staff: SignedInStaff,
    service: Service<BulkService>,
    id: Path<PathId>,
) -> Result<HttpResponse, ApiError> {
    let id = id.parse()?;
    let ExportDownload { kind, format, path } = service.file(&staff, id).await?;
    let opened = blocking(move || File::open(path)).await?;
    let file = opened.map_err(|error| StoreError::Unavailable(error.to_string()))?;
    download(file, &format!("{}-{id}", kind.file_stem()), format)
}

/// Export stock
///
/// Starts a job. The file has one row per item and warehouse. It can be uploaded again; unchanged rows have no effect.
///
/// Columns: `article`, `warehouse`, `quantity`, `price`, `name`, `reserved`, `available`, `kontor_id`. `warehouse` is
/// the name, or the id if several warehouses share the name.
#[utoipa::path(
    tag = "Stock",
    params(ExportQuery),
    responses(
        (status = 202, description = "The export is queued.", body = JobResponse),
        (status = 409, description = "Too many jobs of the project are queued."),
    ),
)]
#[post("/api/inventories/export")]
pub(super) async fn export_inventories(
    staff: SignedInStaff,
    service: Service<BulkService>,
    query: Query<ExportQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(queued(service.export(&staff, ExportKind::Stock.into(), query.0.format()?).await?))
}

/// Export customers
///
/// Starts a job. Deleted customers are not included.
///
/// Columns: `id`, `type`, `name`, `inn`, `kpp`, `last_name`, `first_name`, `middle_name`, `birthday`, `address`,
/// `phone_1`, `phone_2`, `email`, `orders_count`, `created_at`.
#[utoipa::path(
    tag = "Customers",
    params(ExportQuery),
    responses(
        (status = 202, description = "The export is queued.", body = JobResponse),
        (status = 409, description = "Too many jobs of the project are queued."),
    ),
)]
#[post("/api/counterparties/export")]
pub(super) async fn export_counterparties(
    staff: SignedInStaff,
    service: Service<BulkService>,
    query: Query<ExportQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(queued(service.export(&staff, ExportKind::Customers.into(), query.0.format()?).await?))
}

/// Export orders
///
/// Starts a job. The file has one row per order line.
///
/// Columns: `order_id`, `created_at`, `status`, `payment_state`, `paid_at`, `counterparty_id`, `counterparty_name`,
/// `phone`, `email`, `nomenclature_id`, `article`, `name`, `quantity`, `price`, `product_discount_amount`,
/// `promo_discount_amount`, `total`, `refunded_quantity`, `refunded_amount`, `final_price`, `delivery_price`,
/// `amount_due`. The last three are totals of the order, repeated in each of its rows.
#[utoipa::path(
    tag = "Orders",
    params(OrderExportQuery),
    responses(
        (status = 202, description = "The export is queued.", body = JobResponse),
        (status = 409, description = "Too many jobs of the project are queued."),
    ),
)]
#[post("/api/orders/export")]
pub(super) async fn export_orders(
    staff: SignedInStaff,
    service: Service<BulkService>,
    query: Query<OrderExportQuery>,
) -> Result<HttpResponse, ApiError> {
    let (scope, format) = query.0.parse()?;
    Ok(queued(service.export(&staff, scope, format).await?))
}

/// File format, and the creation dates of the orders to export.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OrderExportQuery {
    /// `xlsx` or `csv`.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    format: Option<SheetFormatName>,
    /// First creation day to export, in the project's time zone.
    #[deserr(default)]
    #[param(inline)]
    created_from: Option<wire::Date>,
    /// Last creation day to export, in the project's time zone.
    #[deserr(default)]
    #[param(inline)]
    created_to: Option<wire::Date>,
}

impl OrderExportQuery {
    /// Returns the scope and the format of the export, or all violations.
    fn parse(&self) -> Result<(ExportScope, SheetFormat), Violations> {
        let day = |day: Option<&wire::Date>| day.map(|day| day.0);
        let (created_from, created_to) = (day(self.created_from.as_ref()), day(self.created_to.as_ref()));
        let mut wrong = Violations::default();
        let format = wrong.check("format", format_of(self.format.as_ref()));
        if created_from.zip(created_to).is_some_and(|(from, to)| to < from) {
            wrong.add("created_to", "must not be before created_from");
        }
        wrong.into_result()?;
        Ok((ExportScope { kind: ExportKind::Orders, created_from, created_to }, format.unwrap_or_default()))
    }
}
