//! Stock as spreadsheets.

use actix_web::web::Data;
use actix_web::{HttpResponse, post};
use kontor_catalog::spreadsheet::SpreadsheetService;
use utoipa_actix_web::service_config::ServiceConfig;

use super::nomenclature_import::SheetUpload;
use crate::http::sheets::{ImportAnswer, blocking, import_answer, import_mode};
use crate::http::upload::Upload;
use crate::http::{ApiError, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(upload_inventories);
}

/// Creates and changes stock by the rows of a spreadsheet: all of them, or none.
#[utoipa::path(
    tag = "Stock",
    request_body(content = SheetUpload, content_type = "multipart/form-data"),
    responses((status = 200, body = ImportAnswer), (status = 413, description = "The file is too large.")),
)]
#[post("/api/inventories/upload")]
async fn upload_inventories(
    staff: SignedInStaff,
    service: Data<SpreadsheetService>,
    upload: Upload,
) -> Result<HttpResponse, ApiError> {
    service.may_upload_stock(&staff)?;
    let received = upload.receive().await?;
    let mode = import_mode(&received.texts)?;
    let reader = service.clone();
    let sheet = blocking(move || reader.read_stock(received.file.path())).await??;
    import_answer(service.upload_stock(&staff, sheet, mode).await)
}
