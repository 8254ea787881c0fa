//! Upload of spreadsheets. Small files are imported at once, large files as a job.

use actix_web::web::Data;
use actix_web::{HttpResponse, post};
use kontor_catalog::bulk::{BulkService, JobOptions, Submission};
use kontor_catalog::spreadsheet::{ImportColumns, ImportKind, SpreadsheetService};
use kontor_kernel::Staff;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::jobs::{JobResponse, queued};
use crate::import_parts::ImportRequestOptions;
use crate::sheets::{ImportAnswer, ImportRefusal, dry_run_response, import_response};
use kontor_web::blocking::blocking;
use kontor_web::upload::{Received, Upload};
use kontor_web::{ApiError, Service, Settings, SignedInStaff};

/// Spreadsheet to import.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the multipart body, which is read part by part")]
pub(super) struct SheetUpload {
    /// File in xlsx or csv format.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    file: String,
    /// `1` imports valid rows even if others are invalid.
    partial: Option<String>,
    /// `1` checks the file and returns the result without writing anything.
    dry_run: Option<String>,
    /// `1` runs the import as a job, even for a small file.
    r#async: Option<String>,
    /// Name of a sheet, or its number among the visible sheets. Without it, the first sheet with a header row is used.
    sheet: Option<String>,
    /// Number of the header row, starting with 1. Without it, headers are searched in the first 30 rows.
    header_row: Option<String>,
    /// JSON object that maps headers to column names, with `null` to ignore a header. Without it, the saved columns are
    /// used.
    columns: Option<String>,
    /// `1` ignores empty cells: their fields keep their values.
    keep_empty: Option<String>,
}

/// Services that an import needs.
pub(super) struct Importers {
    pub sheets: Service<SpreadsheetService>,
    pub bulk: Service<BulkService>,
    pub saved: Service<ImportColumns>,
}

/// Receives a file and imports it, or queues its import as a job.
pub(super) async fn take(
    kind: ImportKind,
    mut staff: SignedInStaff,
    Importers { sheets, bulk, saved }: Importers,
    config: Data<Settings>,
    upload: Upload,
) -> Result<HttpResponse, ApiError> {
    match kind {
        ImportKind::Nomenclatures => sheets.may_import_cards(&staff)?,
        ImportKind::Inventories => sheets.may_upload_stock(&staff)?,
    }
    if upload.announces_more_than(config.import_inline_bytes) {
        bulk.require_queue_space(&staff).await?;
    }
    let received = upload.up_to(config.import_limit).receive(&mut staff, &ImportRequestOptions::PARTS).await?;
    let Received { file, file_name, size, texts } = received;
    let mut wishes = ImportRequestOptions::of(kind, texts)?;
    if !wishes.has_columns {
        wishes.reading.columns = saved.read(&staff, kind).await?;
    }
    if !wishes.background && size <= config.import_inline_bytes {
        let (path, reader, most) = (file.path().to_owned(), sheets.clone(), config.import_inline_rows);
        let reading = wishes.reading.clone();
        let answer = match kind {
            ImportKind::Nomenclatures => match blocking(move || reader.read_few_cards(&path, &reading, most)).await?? {
                Some(sheet) => Some(cards(&staff, &sheets, sheet, wishes.options).await?),
                None => None,
            },
            ImportKind::Inventories => match blocking(move || reader.read_few_stock(&path, &reading, most)).await?? {
                Some(sheet) => Some(stock(&staff, &sheets, sheet, wishes.options).await?),
                None => None,
            },
        };
        if let Some(answer) = answer {
            return Ok(answer);
        }
    }
    let ImportRequestOptions { options, reading, .. } = wishes;
    let submission = Submission { kind, options, reading, file: file.path().to_owned(), file_name };
    Ok(queued(bulk.submit(&staff, submission).await?))
}

/// Defines a function that runs the import with `$import`, or only checks it with `$check`.
macro_rules! at_once {
    ($name:ident($sheet:ty): $import:ident, $check:ident) => {
        async fn $name(
            staff: &Staff,
            sheets: &SpreadsheetService,
            sheet: $sheet,
            options: JobOptions,
        ) -> Result<HttpResponse, ApiError> {
            let (layout, mode) = (sheet.layout.clone(), options.mode);
            if options.dry_run {
                dry_run_response(sheets.$check(staff, sheet).await, layout, mode)
            } else {
                import_response(sheets.$import(staff, sheet, mode).await, layout)
            }
        }
    };
}

at_once!(cards(kontor_catalog::spreadsheet::CardSheet): import_cards, check_cards);
at_once!(stock(kontor_catalog::spreadsheet::StockSheet): upload_stock, check_stock);

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
    sheets: Service<SpreadsheetService>,
    bulk: Service<BulkService>,
    saved: Service<ImportColumns>,
    config: Data<Settings>,
    upload: Upload,
) -> Result<HttpResponse, ApiError> {
    take(ImportKind::Inventories, staff, Importers { sheets, bulk, saved }, config, upload).await
}
