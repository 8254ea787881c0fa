//! Spreadsheets that come in: small ones are answered at once, large ones become jobs.

use actix_web::HttpResponse;
use actix_web::web::Data;
use kontor_catalog::bulk::{BulkService, ImportKind, Submission};
use kontor_catalog::spreadsheet::SpreadsheetService;
use kontor_kernel::Staff;
use utoipa::ToSchema;

use super::jobs::queued;
use crate::config::Config;
use crate::http::blocking::blocking;
use crate::http::sheets::{Wishes, import_answer, trial_answer};
use crate::http::upload::{Received, Upload};
use crate::http::{ApiError, SignedInStaff};

/// A spreadsheet to import.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the multipart body, which is read part by part")]
pub(super) struct SheetUpload {
    /// An xlsx or csv file.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    file: String,
    /// `1` imports the good rows although others are bad.
    partial: Option<String>,
    /// `1` finds out what would happen and writes nothing.
    dry_run: Option<String>,
    /// `1` makes a job of the import, however small the file is.
    r#async: Option<String>,
}

/// Receives a file and imports it, or queues its import.
pub(super) async fn take(
    kind: ImportKind,
    mut staff: SignedInStaff,
    sheets: Data<SpreadsheetService>,
    bulk: Data<BulkService>,
    config: Data<Config>,
    upload: Upload,
) -> Result<HttpResponse, ApiError> {
    match kind {
        ImportKind::Cards => sheets.may_import_cards(&staff)?,
        ImportKind::Stock => sheets.may_upload_stock(&staff)?,
    }
    if upload.announces_more_than(config.import_inline_bytes) {
        bulk.has_room(&staff).await?;
    }
    let received = upload.up_to(config.import_limit).receive(&mut staff, &Wishes::PARTS).await?;
    let Received { file, file_name, size, texts } = received;
    let wishes = Wishes::of(texts)?;
    if !wishes.background && size <= config.import_inline_bytes {
        let (path, reader, most) = (file.path().to_owned(), sheets.clone(), config.import_inline_rows);
        let answer = match kind {
            ImportKind::Cards => match blocking(move || reader.read_few_cards(&path, most)).await?? {
                Some(sheet) => Some(cards(&staff, &sheets, sheet, wishes).await?),
                None => None,
            },
            ImportKind::Stock => match blocking(move || reader.read_few_stock(&path, most)).await?? {
                Some(sheet) => Some(stock(&staff, &sheets, sheet, wishes).await?),
                None => None,
            },
        };
        if let Some(answer) = answer {
            return Ok(answer);
        }
    }
    let submission = Submission { kind, options: wishes.options, file: file.path().to_owned(), file_name };
    Ok(queued(bulk.submit(&staff, submission).await?))
}

/// `$do` the import, or `$check` what it would do.
macro_rules! at_once {
    ($name:ident($sheet:ty): $import:ident, $check:ident) => {
        async fn $name(
            staff: &Staff,
            sheets: &SpreadsheetService,
            sheet: $sheet,
            wishes: Wishes,
        ) -> Result<HttpResponse, ApiError> {
            let mode = wishes.options.mode;
            if wishes.options.dry_run {
                trial_answer(sheets.$check(staff, sheet).await, mode)
            } else {
                import_answer(sheets.$import(staff, sheet, mode).await)
            }
        }
    };
}

at_once!(cards(kontor_catalog::spreadsheet::CardSheet): import_cards, check_cards);
at_once!(stock(kontor_catalog::spreadsheet::StockSheet): upload_stock, check_stock);
