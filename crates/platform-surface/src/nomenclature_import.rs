//! Import and export of items as spreadsheets.

use actix_web::web::{Bytes, Data};
use actix_web::{HttpResponse, post};
use futures_util::stream;
use kontor_catalog::bulk::BulkService;
use kontor_catalog::spreadsheet::ports::SheetFormat;
use kontor_catalog::spreadsheet::{ImportColumns, ImportKind, SpreadsheetService};
use kontor_kernel::Staff;
use utoipa_actix_web::service_config::ServiceConfig;

use super::bulk_upload::{self, Importers, SheetUpload};
use super::jobs::JobResponse;
use crate::sheets::{ExportQuery, ImportAnswer, ImportRefusal, download, send_csv};
use kontor_web::upload::{Upload, blocking};
use kontor_web::{ApiError, Query, Service, Settings, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(import_nomenclatures).service(export_nomenclatures);
}

/// Import items from a spreadsheet
///
/// Creates and updates items by the rows of the file. If a row is invalid, nothing is written, unless `partial` is set.
/// Large files are imported as a job.
///
/// Columns are those of an export. Items are matched by `article`, or by `kontor_id` if they have none. Missing columns
/// keep values, and empty cells clear optional ones. `category` is a path, such as `A / B`; new categories, brands and
/// tags are created.
#[utoipa::path(
    tag = "Catalog",
    request_body(content = SheetUpload, content_type = "multipart/form-data"),
    responses(
        (status = 200, body = ImportAnswer),
        (status = 202, description = "The import is queued as a job.", body = JobResponse),
        (status = 409, description = "Too many imports of the project are queued."),
        (status = 413, description = "The file is too large."),
        (
            status = 422,
            description = "Nothing was imported: rows, the file or another part of the body are invalid.",
            body = ImportRefusal,
        ),
    ),
)]
#[post("/api/nomenclatures/import")]
async fn import_nomenclatures(
    staff: SignedInStaff,
    sheets: Service<SpreadsheetService>,
    bulk: Service<BulkService>,
    saved: Service<ImportColumns>,
    config: Data<Settings>,
    upload: Upload,
) -> Result<HttpResponse, ApiError> {
    bulk_upload::take(ImportKind::Nomenclatures, staff, Importers { sheets, bulk, saved }, config, upload).await
}

/// Export all items as a spreadsheet
///
/// The file can be imported again; unchanged rows have no effect.
#[utoipa::path(
    tag = "Catalog",
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
#[post("/api/nomenclatures/export")]
async fn export_nomenclatures(
    staff: SignedInStaff,
    service: Service<SpreadsheetService>,
    query: Query<ExportQuery>,
) -> Result<HttpResponse, ApiError> {
    match query.0.format()? {
        SheetFormat::Csv => csv(staff.0, service).await,
        SheetFormat::Xlsx => xlsx(&staff, service).await,
    }
}

/// Builds the workbook in a temporary file, because it can be sent only when complete.
async fn xlsx(staff: &Staff, service: Service<SpreadsheetService>) -> Result<HttpResponse, ApiError> {
    let format = SheetFormat::Xlsx;
    let mut lines = service.export_cards(staff, None).await?;
    let opener = service.clone();
    let mut export = blocking(move || opener.begin_export(format)).await??;
    while let Some(last) = lines.last().map(|line| line.id) {
        export = blocking(move || export.add(&lines).map(|()| export)).await??;
        lines = service.export_cards(staff, Some(last)).await?;
    }
    let file = blocking(move || export.finish()).await??;
    download(file, "nomenclatures", format)
}

/// Streams the catalog page by page: the next page is read after the client received the last one. The first page is
/// read before the response starts, so that a refusal can set the status.
async fn csv(staff: Staff, service: Service<SpreadsheetService>) -> Result<HttpResponse, ApiError> {
    let first = service.export_cards(&staff, None).await?;
    let pieces =
        stream::try_unfold((staff, service, Some(first), true), |(staff, service, lines, is_first)| async move {
            let Some(lines) = lines else { return Ok(None) };
            let last = lines.last().map(|line| line.id);
            let writer = service.clone();
            let piece = blocking(move || writer.piece(&lines, is_first)).await.map_err(aborted)?.map_err(aborted)?;
            let next = match last {
                None => None,
                Some(last) => Some(service.export_cards(&staff, Some(last)).await.map_err(aborted)?),
            };
            let next = next.filter(|lines| !lines.is_empty());
            Ok(Some((Bytes::from(piece), (staff, service, next, false))))
        });
    Ok(send_csv("nomenclatures", pieces))
}

/// Aborts the response. An error cannot be reported in another way after the response has started.
fn aborted(error: impl std::fmt::Display) -> std::io::Error {
    tracing::warn!(%error, "an export was aborted");
    std::io::Error::other(error.to_string())
}
