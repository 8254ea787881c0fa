//! Responses of imports, and downloads of spreadsheets.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::{HttpResponse, HttpResponseBuilder, web};
use deserr::Deserr;
use futures_util::stream;
use kontor_catalog::bulk::JobProblem;
use kontor_catalog::spreadsheet::ports::SheetFormat;
use kontor_catalog::spreadsheet::{
    HeaderColumn, ImportError, ImportMode, ImportReport, Layout, RowPreview, RowProblem, RowProblems,
};
use kontor_kernel::Word as _;
use kontor_web::ApiError;
use kontor_web::wire::{self, InputErrors};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

/// Error in a cell.
#[derive(Serialize, ToSchema)]
pub struct RowProblemRecord {
    /// Row number in the spreadsheet, from 1.
    row: u32,
    /// Name of the column; `*` if the whole row is wrong.
    column: String,
    reason: String,
}

impl From<&RowProblem> for RowProblemRecord {
    fn from(problem: &RowProblem) -> Self {
        Self { row: problem.row, column: problem.column.to_owned(), reason: problem.reason.clone() }
    }
}

impl From<JobProblem> for RowProblemRecord {
    fn from(problem: JobProblem) -> Self {
        Self { row: problem.row, column: problem.column, reason: problem.reason }
    }
}

/// Result of an import.
#[derive(Serialize, ToSchema)]
pub struct ImportAnswer {
    message: String,
    created: usize,
    updated: usize,
    unchanged: usize,
    /// Number of rows left out because of an error; only with `partial`.
    skipped: usize,
    errors: Vec<RowProblemRecord>,
    ignored_columns: Vec<String>,
    /// Sheet that was read; `null` for csv.
    sheet: Option<String>,
    /// Number of the header row in the spreadsheet.
    header_row: u32,
    /// Headers from left to right.
    columns: Vec<HeaderRecord>,
    /// Preview of the first 20 rows; only in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    rows: Option<Vec<RowRecord>>,
}

impl ImportAnswer {
    fn new(report: ImportReport, layout: Layout) -> Self {
        let message = match report.skipped {
            0 => "Imported.".to_owned(),
            skipped => format!("Imported; {skipped} rows were skipped."),
        };
        Self {
            message,
            created: report.created,
            updated: report.updated,
            unchanged: report.unchanged,
            skipped: report.skipped,
            errors: report.problems.kept().iter().map(Into::into).collect(),
            ignored_columns: report.ignored_columns,
            sheet: layout.sheet,
            header_row: layout.header_row,
            columns: layout.columns.into_iter().map(Into::into).collect(),
            rows: None,
        }
    }
}

/// Maximum number of errors listed as text under `errors.file`.
const MAX_LISTED_ERRORS: usize = 20;

/// Returns the response of an import. Wrong rows have their own body: the readable messages of every `422`, and the
/// list of rows.
pub fn import_response(outcome: Result<ImportReport, ImportError>, layout: Layout) -> Result<HttpResponse, ApiError> {
    match outcome {
        Ok(report) => Ok(HttpResponse::Ok().json(ImportAnswer::new(report, layout))),
        Err(ImportError::Rows(problems)) => Ok(bad_rows(&problems, layout)),
        Err(error) => Err(error.into()),
    }
}

/// Reason why nothing was imported.
#[derive(Serialize, ToSchema)]
pub struct ImportRefusal {
    message: &'static str,
    /// Messages by part of the body. Of wrong rows, the first errors are listed under `file`.
    #[schema(value_type = Object)]
    errors: BTreeMap<&'static str, Vec<String>>,
    /// Wrong rows, at most 1,000 errors. Absent if the whole file or another part is rejected.
    #[schema(required = false)]
    rows: Vec<RowProblemRecord>,
    /// Total number of errors.
    #[schema(required = false)]
    rows_total: usize,
    /// Sheet that was read. Absent for csv.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    sheet: Option<String>,
    /// Number of the header row in the spreadsheet.
    #[schema(required = false)]
    header_row: u32,
    /// Headers from left to right.
    #[schema(required = false)]
    columns: Vec<HeaderRecord>,
}

fn bad_rows(problems: &RowProblems, layout: Layout) -> HttpResponse {
    let words: Vec<String> = problems.kept().iter().take(MAX_LISTED_ERRORS).map(ToString::to_string).collect();
    HttpResponse::UnprocessableEntity().json(ImportRefusal {
        message: "Nothing was imported: some rows are invalid.",
        errors: BTreeMap::from([("file", words)]),
        rows: problems.kept().iter().map(Into::into).collect(),
        rows_total: problems.total(),
        sheet: layout.sheet,
        header_row: layout.header_row,
        columns: layout.columns.into_iter().map(Into::into).collect(),
    })
}

/// Returns the response of a dry run of an import.
pub fn dry_run_response(
    outcome: Result<ImportReport, ImportError>,
    layout: Layout,
    mode: ImportMode,
) -> Result<HttpResponse, ApiError> {
    match outcome? {
        mut report if report.problems.is_empty() || mode == ImportMode::Partial => {
            let message = "Nothing was imported: this was a dry run.".to_owned();
            let rows = std::mem::take(&mut report.rows).into_iter().map(Into::into).collect();
            Ok(HttpResponse::Ok().json(ImportAnswer { message, rows: Some(rows), ..ImportAnswer::new(report, layout) }))
        }
        report => Ok(bad_rows(&report.problems, layout)),
    }
}

/// Format of an export.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// `xlsx` or `csv`.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    format: Option<SheetFormatName>,
}

impl ExportQuery {
    /// Returns the requested format.
    pub fn format(&self) -> Result<SheetFormat, ApiError> {
        format_of(self.format.as_ref()).map_err(|wrong| ApiError::invalid("format", wrong))
    }
}

/// Name of a format, as sent.
pub type SheetFormatName = wire::Line64;

/// Returns the format with this name; xlsx by default.
pub fn format_of(name: Option<&SheetFormatName>) -> Result<SheetFormat, &'static str> {
    match name.map(|name| name.0.as_str()) {
        None | Some("xlsx") => Ok(SheetFormat::Xlsx),
        Some("csv") => Ok(SheetFormat::Csv),
        Some(_) => Err("must be one of xlsx, csv"),
    }
}

/// Returns a response with the headers of a download.
fn attachment(name: &str, format: SheetFormat) -> HttpResponseBuilder {
    let (media, ending) = match format {
        SheetFormat::Xlsx => ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
        SheetFormat::Csv => ("text/csv; charset=utf-8", "csv"),
    };
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, media))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.{ending}\"")));
    response
}

/// Streams a csv file while it is created. Creation stops if the client disconnects.
pub fn send_csv<S>(name: &str, pieces: S) -> HttpResponse
where
    S: stream::Stream<Item = Result<web::Bytes, std::io::Error>> + 'static,
{
    attachment(name, SheetFormat::Csv).streaming(pieces)
}

/// Streams a file in chunks.
pub fn download(file: File, name: &str, format: SheetFormat) -> Result<HttpResponse, ApiError> {
    let size = file.metadata().map_err(|error| ApiError::internal(&error))?.len();
    let pieces = stream::try_unfold(file, |mut file| async {
        let read = web::block(move || {
            let mut piece = Vec::new();
            file.by_ref().take(64 * 1024).read_to_end(&mut piece).map(|_| (piece, file))
        });
        let (piece, file) = read.await.map_err(std::io::Error::other)??;
        Ok::<_, std::io::Error>((!piece.is_empty()).then(|| (web::Bytes::from(piece), file)))
    });
    Ok(attachment(name, format).no_chunking(size).streaming(pieces))
}

/// Header of the file.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HeaderRecord {
    /// Text of the header in the file.
    header: String,
    /// Name of the matching column; `null` if the header is ignored.
    column: Option<String>,
}

impl From<HeaderColumn> for HeaderRecord {
    fn from(HeaderColumn { header, column }: HeaderColumn) -> Self {
        Self { header, column }
    }
}

/// Preview of a row.
#[derive(Serialize, ToSchema)]
pub struct RowRecord {
    /// Row number in the spreadsheet, from 1.
    row: u32,
    /// `create`, `update`, `unchanged` or `skip`.
    action: &'static str,
    article: Option<String>,
    /// Id of the item or stock level; `null` for a new record.
    id: Option<i64>,
    /// Warehouse as written in the file; only for stock levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    warehouse: Option<String>,
    /// Values by column, formatted as in an export and cut at 200 characters. A new record has its non-empty values, an
    /// existing one the values that change.
    #[schema(value_type = Object)]
    fields: BTreeMap<Cow<'static, str>, Option<String>>,
    /// Current values of the columns that change.
    #[schema(value_type = Object)]
    before: BTreeMap<Cow<'static, str>, Option<String>>,
}

impl From<RowPreview> for RowRecord {
    fn from(preview: RowPreview) -> Self {
        Self {
            row: preview.row,
            action: preview.action.word(),
            article: preview.article.map(Into::into),
            id: preview.id,
            warehouse: preview.warehouse,
            fields: preview.fields.into_iter().collect(),
            before: preview.before.into_iter().collect(),
        }
    }
}
