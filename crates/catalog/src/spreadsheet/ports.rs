//! What spreadsheets need from the outside.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{NomenclatureId, ProjectId, StoreError};

use super::{CardLine, CardSheet, Content, ImportError, ImportMode, ImportReport, SheetRefused, SheetRow, StockSheet};

/// Takes the rows of a file one by one; a refusal ends the reading.
pub type RowSink<'a> = dyn FnMut(SheetRow) -> Result<(), SheetRefused> + 'a;

/// Reads spreadsheet files. Works on the calling thread, in bounded memory.
pub trait SheetReader: Send + Sync {
    /// Hands over the rows of the first sheet from top to bottom. What kind of file it is, its content tells.
    fn read(&self, file: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetRefused>;
}

/// The files that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SheetFormat {
    /// A workbook with one sheet.
    #[default]
    Xlsx,
    /// UTF-8 text with commas.
    Csv,
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("the spreadsheet cannot be written: {0}")]
pub struct SheetFailed(pub String);

/// A file that is being written. Works on the calling thread.
pub trait SheetWriter: Send {
    /// Writes the next row.
    fn row(&mut self, cells: &[Content<'_>]) -> Result<(), SheetFailed>;

    /// Ends the file and hands it over, ready to be read from its start. It disappears when it is closed.
    fn finish(self: Box<Self>) -> Result<File, SheetFailed>;
}

/// Opens files for writing.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait SheetWriters: Send + Sync {
    /// An empty file of this format.
    fn open(&self, format: SheetFormat) -> Result<Box<dyn SheetWriter>, SheetFailed>;
}

/// The cards of a project as a whole.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CardBook: Send + Sync {
    /// Writes what [`super::Decision`] makes of the sheet, with the categories and brands it misses and what the
    /// applications sell by that, in one transaction.
    async fn import(
        &self,
        project: ProjectId,
        sheet: Arc<CardSheet>,
        mode: ImportMode,
        at: DateTime<Utc>,
    ) -> Result<ImportReport, ImportError>;

    /// The next items by number, after this one.
    async fn lines(
        &self,
        project: ProjectId,
        after: Option<NomenclatureId>,
        limit: u32,
    ) -> Result<Vec<CardLine>, StoreError>;
}

/// The stock of a project as a whole.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StockBook: Send + Sync {
    /// Writes what [`super::StockDecision`] makes of the sheet, with what the applications sell by that, in one
    /// transaction.
    async fn upload(
        &self,
        project: ProjectId,
        sheet: Arc<StockSheet>,
        mode: ImportMode,
        at: DateTime<Utc>,
    ) -> Result<ImportReport, ImportError>;
}
