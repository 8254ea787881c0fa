//! What imports answer, and files that are sent.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::{HttpResponse, web};
use futures_util::stream;
use kontor_catalog::spreadsheet::ports::{SheetFailed, SheetFormat};
use kontor_catalog::spreadsheet::{ImportError, ImportMode, ImportReport, RowProblem, RowProblems};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::ApiError;

/// A wrong cell.
#[derive(Serialize, ToSchema)]
pub struct RowProblemRecord {
    /// As the spreadsheet counts, from 1.
    row: u32,
    column: String,
    reason: String,
}

impl From<&RowProblem> for RowProblemRecord {
    fn from(problem: &RowProblem) -> Self {
        Self { row: problem.row, column: problem.column.to_owned(), reason: problem.reason.clone() }
    }
}

/// What an import did.
#[derive(Serialize, ToSchema)]
pub struct ImportAnswer {
    message: String,
    created: usize,
    updated: usize,
    unchanged: usize,
    /// Rows left out because of a problem; only with `partial`.
    skipped: usize,
    errors: Vec<RowProblemRecord>,
    ignored_columns: Vec<String>,
}

impl From<ImportReport> for ImportAnswer {
    fn from(report: ImportReport) -> Self {
        let message = match report.skipped {
            0 => "Imported.".to_owned(),
            skipped => format!("Imported; {skipped} rows were left out."),
        };
        Self {
            message,
            created: report.created,
            updated: report.updated,
            unchanged: report.unchanged,
            skipped: report.skipped,
            errors: report.problems.kept().iter().map(Into::into).collect(),
            ignored_columns: report.ignored_columns,
        }
    }
}

/// How many problems stand under `errors.file` in words.
const IN_WORDS: usize = 20;

/// The answer of an import. Bad rows have a body of their own: the readable messages of every `422` and the rows beside.
pub fn import_answer(outcome: Result<ImportReport, ImportError>) -> Result<HttpResponse, ApiError> {
    match outcome {
        Ok(report) => Ok(HttpResponse::Ok().json(ImportAnswer::from(report))),
        Err(ImportError::Rows(problems)) => Ok(bad_rows(&problems)),
        Err(error) => Err(error.into()),
    }
}

fn bad_rows(problems: &RowProblems) -> HttpResponse {
    let words: Vec<String> = problems
        .kept()
        .iter()
        .take(IN_WORDS)
        .map(|problem| format!("row {}, {}: {}", problem.row, problem.column, problem.reason))
        .collect();
    let rows: Vec<RowProblemRecord> = problems.kept().iter().map(Into::into).collect();
    HttpResponse::UnprocessableEntity().json(json!({
        "message": "Nothing was imported: some rows are wrong.",
        "errors": { "file": words },
        "rows": rows,
        "rows_total": problems.total(),
    }))
}

impl From<ImportError> for ApiError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Denied(denied) => denied.into(),
            ImportError::Sheet(refused) => Self::invalid("file", refused),
            ImportError::Rows(problems) => Self::invalid("file", ImportError::Rows(problems)),
            ImportError::Stale => Self::Message(StatusCode::CONFLICT, ImportError::Stale.to_string()),
            ImportError::Store(error) => error.into(),
        }
    }
}

impl From<SheetFailed> for ApiError {
    fn from(error: SheetFailed) -> Self {
        Self::Message(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
    }
}

/// The part `partial`: whether the good rows are wanted although others are bad.
pub fn import_mode(texts: &BTreeMap<String, String>) -> Result<ImportMode, ApiError> {
    match texts.get("partial").map(|text| text.trim()) {
        None | Some("" | "0" | "false") => Ok(ImportMode::AllOrNothing),
        Some("1" | "true") => Ok(ImportMode::Partial),
        Some(_) => Err(ApiError::invalid("partial", "must be true or false")),
    }
}

/// Runs work that blocks where blocking is allowed.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    web::block(work).await.map_err(|error| ApiError::internal(&error))
}

/// Sends a file piece by piece.
pub fn download(file: File, name: &str, format: SheetFormat) -> Result<HttpResponse, ApiError> {
    let size = file.metadata().map_err(|error| ApiError::internal(&error))?.len();
    let (media, ending) = match format {
        SheetFormat::Xlsx => ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
        SheetFormat::Csv => ("text/csv; charset=utf-8", "csv"),
    };
    let pieces = stream::try_unfold(file, |mut file| async {
        let read = web::block(move || {
            let mut piece = Vec::new();
            file.by_ref().take(64 * 1024).read_to_end(&mut piece).map(|_| (piece, file))
        });
        let (piece, file) = read.await.map_err(std::io::Error::other)??;
        Ok::<_, std::io::Error>((!piece.is_empty()).then(|| (web::Bytes::from(piece), file)))
    });
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, media))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.{ending}\"")))
        .no_chunking(size)
        .streaming(pieces))
}
