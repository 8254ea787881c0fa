//! Import and export jobs: progress, errors, files, cancellation.

mod file;
mod query;
mod record;

use actix_web::web::{Data, Path};
use actix_web::{HttpResponse, get, post};
use kontor_catalog::bulk::{BulkService, Job};
use kontor_catalog::spreadsheet::{ProblemLine, SpreadsheetService};
use utoipa_actix_web::service_config::ServiceConfig;

use self::query::JobQuery;
use self::record::JobList;
pub(super) use self::record::JobResponse;
use crate::endpoints::handlers;
use crate::sheets::{ExportQuery, download};
use kontor_web::blocking::blocking;
use kontor_web::envelope::{Answer, answer};
use kontor_web::{ApiError, PathId, Query, SignedInStaff};

handlers! {
    fn usual_routes; BulkService, "Jobs";

    /// Get an import or export job
    read "/api/jobs/{id}" as show_job -> JobResponse;

    /// Cancel an import or export job
    ///
    /// Rows already written by an import are kept.
    post "/api/jobs/{id}/cancel" as cancel_job = cancel(id) -> JobResponse, 409 "The job has already finished.";
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    usual_routes(config);
    config.service(list_jobs).service(download_job_errors).service(file::download_job_file);
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
async fn list_jobs(staff: SignedInStaff, service: Data<BulkService>, query: Query<JobQuery>) -> Answer<JobList> {
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
    service: Data<BulkService>,
    sheets: Data<SpreadsheetService>,
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
