//! Stock upload from spreadsheets.

use actix_web::web::Data;
use actix_web::{HttpResponse, post};
use kontor_catalog::bulk::BulkService;
use kontor_catalog::spreadsheet::{ImportColumns, ImportKind, SpreadsheetService};
use utoipa_actix_web::service_config::ServiceConfig;

use super::bulk_upload::{self, Importers, SheetUpload};
use super::jobs::JobResponse;
use crate::sheets::{ImportAnswer, ImportRefusal};
use kontor_web::Settings;
use kontor_web::upload::Upload;
use kontor_web::{ApiError, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(upload_inventories);
}

/// Upload stock from a spreadsheet
///
/// Creates and updates stock by the rows of the file. If a row is invalid, nothing is written, unless `partial` is set.
/// Large files are imported as a job.
///
/// Columns: `article` or `kontor_id`, `warehouse` (name or id), `quantity`, `price`. Empty cells change nothing.
#[utoipa::path(
    tag = "Stock",
    request_body(content = SheetUpload, content_type = "multipart/form-data"),
    responses(
        (status = 200, body = ImportAnswer),
        (status = 202, description = "The upload is queued as a job.", body = JobResponse),
        (status = 409, description = "Too many imports of the project are queued."),
        (status = 413, description = "The file is too large."),
        (
            status = 422,
            description = "Nothing was imported: rows, the file or another part of the body are invalid.",
            body = ImportRefusal,
        ),
    ),
)]
#[post("/api/inventories/upload")]
async fn upload_inventories(
    staff: SignedInStaff,
    sheets: Data<SpreadsheetService>,
    bulk: Data<BulkService>,
    saved: Data<ImportColumns>,
    config: Data<Settings>,
    upload: Upload,
) -> Result<HttpResponse, ApiError> {
    bulk_upload::take(ImportKind::Inventories, staff, Importers { sheets, bulk, saved }, config, upload).await
}
