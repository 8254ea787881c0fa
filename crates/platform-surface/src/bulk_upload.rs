//! Upload of spreadsheets, the parts of such a request beside its file, and the saved column mappings of a project.
//! Small files are imported at once, large files as a job.

use std::collections::BTreeMap;

use actix_web::web::Data;
use actix_web::{HttpResponse, get, post, put};
use deserr::Deserr;
use kontor_catalog::bulk::{BulkService, JobOptions, Submission};
use kontor_catalog::spreadsheet::{ColumnMap, ImportColumns, ImportKind, ImportMode, ReadOptions, SpreadsheetService};
use kontor_kernel::{Line, Staff, Violations};
use kontor_web::envelope::{Answer, answer};
use kontor_web::upload::{Received, Texts, Upload, blocking};
use kontor_web::wire::InputErrors;
use kontor_web::{ApiError, Body, Service, Settings, SignedInStaff};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::jobs::{JobResponse, queued};
use crate::sheets::{ImportAnswer, ImportRefusal, dry_run_response, import_response};

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

/// Options of an import request.
#[derive(Debug, Clone)]
pub struct ImportRequestOptions {
    /// `partial` and `dry_run`.
    pub options: JobOptions,
    /// `async`: create a job, even for a small file.
    pub background: bool,
    /// `sheet`, `header_row`, `keep_empty` and, if sent, `columns`.
    pub reading: ReadOptions,
    /// `true` if the part `columns` was sent; otherwise the saved columns apply.
    pub has_columns: bool,
}

impl ImportRequestOptions {
    /// Names of the parts.
    pub const PARTS: [&str; 7] = ["partial", "dry_run", "async", "keep_empty", "sheet", "header_row", "columns"];

    /// Reads the parts and reports all wrong ones together.
    pub fn of(kind: ImportKind, texts: Texts) -> Result<Self, Violations> {
        let flags = ["partial", "dry_run", "async", "keep_empty"].map(|name| (name, flag(texts.get(name))));
        let given = |name: &str| texts.get(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let (sheet, header_row, columns) = (given("sheet"), given("header_row"), given("columns"));
        let mut wrong = texts.violations;
        let [partial, dry_run, background, keep_empty] =
            flags.map(|(name, flag)| wrong.check(name, flag).unwrap_or_default());
        let sheet = sheet.and_then(|text| wrong.check("sheet", Line::parse(&text).map_err(|error| error.to_string())));
        let header_row = header_row.and_then(|text| wrong.check("header_row", row(&text)));
        let has_columns = columns.is_some();
        let columns = columns.map_or(Ok(ColumnMap::default()), |text| mapping(kind, &text));
        let columns = columns.unwrap_or_else(|reasons| {
            for reason in reasons {
                wrong.add("columns", reason);
            }
            ColumnMap::default()
        });
        wrong.into_result()?;
        let mode = if partial { ImportMode::Partial } else { ImportMode::AllOrNothing };
        let reading = ReadOptions { sheet, header_row, columns, keep_empty };
        Ok(Self { options: JobOptions { dry_run, mode }, background, reading, has_columns })
    }
}

fn flag(text: Option<&str>) -> Result<bool, String> {
    match text {
        None | Some("" | "0" | "false") => Ok(false),
        Some("1" | "true") => Ok(true),
        Some(_) => Err("must be true or false".to_owned()),
    }
}

fn row(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|row| *row > 0).ok_or_else(|| "must be a whole number from 1".to_owned())
}

/// Parses a JSON object of headers and column names.
fn mapping(kind: ImportKind, text: &str) -> Result<ColumnMap, Vec<String>> {
    let Ok(Value::Object(object)) = serde_json::from_str(text) else {
        return Err(vec!["must be a JSON object of headers and the names of their columns".to_owned()]);
    };
    let (mut entries, mut wrong) = (Vec::new(), Vec::new());
    for (header, column) in object {
        match column {
            Value::String(column) => entries.push((header, Some(column))),
            Value::Null => entries.push((header, None)),
            _ => wrong.push(format!("`{header}` must be the name of a column or null")),
        }
    }
    match ColumnMap::of_file(kind, entries) {
        Ok(map) if wrong.is_empty() => Ok(map),
        Ok(_) => Err(wrong),
        Err(reasons) => Err(wrong.into_iter().chain(reasons).collect()),
    }
}

pub(super) fn column_routes(config: &mut ServiceConfig<'_>) {
    config
        .service(show_nomenclature_columns)
        .service(set_nomenclature_columns)
        .service(show_inventory_columns)
        .service(set_inventory_columns);
}

/// Mapping from file headers to columns.
#[derive(Serialize, ToSchema)]
struct SavedColumns {
    /// Column names by header. `null` ignores the header.
    #[schema(value_type = Object)]
    columns: BTreeMap<String, Option<&'static str>>,
}

impl From<ColumnMap> for SavedColumns {
    fn from(map: ColumnMap) -> Self {
        let columns = map.headers().iter().map(|mapped| (mapped.header.to_string(), mapped.column));
        Self { columns: columns.collect() }
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ColumnsInput {
    /// Column names by header, at most 200. `null` ignores the header. Several headers may map to one column, for files
    /// of different suppliers. `{}` clears the mapping.
    #[schema(value_type = Object)]
    columns: BTreeMap<String, Option<String>>,
}

impl ColumnsInput {
    fn map(self, kind: ImportKind) -> Result<ColumnMap, Violations> {
        ColumnMap::shared(kind, self.columns).map_err(|reasons| {
            let mut wrong = Violations::default();
            for reason in reasons {
                wrong.add("columns", reason);
            }
            wrong
        })
    }
}

/// Get the saved columns of item imports
///
/// An import without the part `columns` uses the saved columns whose headers are in its file.
#[utoipa::path(tag = "Catalog", responses((status = 200, body = SavedColumns)))]
#[get("/api/nomenclatures/import/columns")]
async fn show_nomenclature_columns(staff: SignedInStaff, service: Service<ImportColumns>) -> Answer<SavedColumns> {
    answer(service.read(&staff, ImportKind::Nomenclatures).await?)
}

/// Save the columns of item imports
///
/// Replaces the saved columns.
#[utoipa::path(tag = "Catalog", request_body = ColumnsInput, responses((status = 200, body = SavedColumns)))]
#[put("/api/nomenclatures/import/columns")]
async fn set_nomenclature_columns(
    staff: SignedInStaff,
    service: Service<ImportColumns>,
    body: Body<ColumnsInput>,
) -> Answer<SavedColumns> {
    let kind = ImportKind::Nomenclatures;
    answer(service.replace(&staff, kind, body.0.map(kind)?).await?)
}

/// Get the saved columns of stock uploads
///
/// An upload without the part `columns` uses the saved columns whose headers are in its file.
#[utoipa::path(tag = "Stock", responses((status = 200, body = SavedColumns)))]
#[get("/api/inventories/upload/columns")]
async fn show_inventory_columns(staff: SignedInStaff, service: Service<ImportColumns>) -> Answer<SavedColumns> {
    answer(service.read(&staff, ImportKind::Inventories).await?)
}

/// Save the columns of stock uploads
///
/// Replaces the saved columns.
#[utoipa::path(tag = "Stock", request_body = ColumnsInput, responses((status = 200, body = SavedColumns)))]
#[put("/api/inventories/upload/columns")]
async fn set_inventory_columns(
    staff: SignedInStaff,
    service: Service<ImportColumns>,
    body: Body<ColumnsInput>,
) -> Answer<SavedColumns> {
    let kind = ImportKind::Inventories;
    answer(service.replace(&staff, kind, body.0.map(kind)?).await?)
}
