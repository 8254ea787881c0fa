//! Cards as spreadsheets.

use actix_web::web::Data;
use actix_web::{HttpResponse, post};
use kontor_catalog::spreadsheet::ports::{SheetFailed, SheetWriter};
use kontor_catalog::spreadsheet::{CardLine, SpreadsheetService};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::sheets::{ExportQuery, ImportAnswer, blocking, download, import_answer, import_mode};
use crate::http::upload::Upload;
use crate::http::{ApiError, Query, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(import_nomenclatures).service(export_nomenclatures);
}

/// A spreadsheet to import.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the multipart body, which is read part by part")]
pub(super) struct SheetUpload {
    /// An xlsx or csv file.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    file: String,
    /// `1` imports the good rows although others are bad.
    partial: Option<String>,
}

/// Creates and changes items by the rows of a spreadsheet: all of them, or none.
#[utoipa::path(
    tag = "Catalog",
    request_body(content = SheetUpload, content_type = "multipart/form-data"),
    responses((status = 200, body = ImportAnswer), (status = 413, description = "The file is too large.")),
)]
#[post("/api/nomenclatures/import")]
async fn import_nomenclatures(
    staff: SignedInStaff,
    service: Data<SpreadsheetService>,
    upload: Upload,
) -> Result<HttpResponse, ApiError> {
    service.may_import_cards(&staff)?;
    let received = upload.receive().await?;
    let mode = import_mode(&received.texts)?;
    let reader = service.clone();
    let sheet = blocking(move || reader.read_cards(received.file.path())).await??;
    import_answer(service.import_cards(&staff, sheet, mode).await)
}

/// Every item of the project as a spreadsheet. Imported again it changes nothing.
#[utoipa::path(
    tag = "Catalog",
    params(ExportQuery),
    responses((
        status = 200,
        description = "The file.",
        content_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    )),
)]
#[post("/api/nomenclatures/export")]
async fn export_nomenclatures(
    staff: SignedInStaff,
    service: Data<SpreadsheetService>,
    query: Query<ExportQuery>,
) -> Result<HttpResponse, ApiError> {
    let format = query.0.format()?;
    let mut lines = service.export_cards(&staff, None).await?;
    let opener = service.clone();
    let mut writer = blocking(move || {
        let mut writer = opener.open(format)?;
        writer.row(&CardLine::header()).map(|()| writer)
    })
    .await??;
    while let Some(last) = lines.last().map(|line| line.id) {
        writer = blocking(move || write_all(writer, &lines)).await??;
        lines = service.export_cards(&staff, Some(last)).await?;
    }
    let file = blocking(move || writer.finish()).await??;
    download(file, "nomenclatures", format)
}

fn write_all(mut writer: Box<dyn SheetWriter>, lines: &[CardLine]) -> Result<Box<dyn SheetWriter>, SheetFailed> {
    lines.iter().try_for_each(|line| writer.row(&line.cells()))?;
    Ok(writer)
}
