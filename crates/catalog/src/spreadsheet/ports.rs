//! Ports of spreadsheets.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use kontor_kernel::{NomenclatureId, ProjectId, Stamp, StoreError};

use super::{
    CardLine, CardSheet, ColumnMap, Content, ImportError, ImportKind, ImportMode, ImportReport, SheetError, SheetRow,
    StockSheet,
};
use crate::bulk::{JobLease, PartError, Step};

/// Receives the rows of a file one by one; a refusal ends the reading.
pub type RowSink<'a> = dyn FnMut(SheetRow) -> Result<(), SheetError> + 'a;

/// Reads spreadsheet files. Works on the calling thread, in bounded memory.
pub trait SheetReader: Send + Sync {
    /// Passes the rows of the first sheet to `sink` from top to bottom. The content determines the kind of file. While
    /// the file is prepared, [`SheetRow::none_yet`] is passed repeatedly, so that the caller can end the reading.
    fn read(&self, file: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetError>;

    /// Prepares a file and gives access to its sheets. `ask` is called repeatedly during preparation and can end it. If
    /// the sender gives the header row, it determines the separator of a csv file. By default a file is one sheet
    /// without a name.
    fn book<'a>(
        &'a self,
        file: &'a Path,
        header_row: Option<u32>,
        ask: &mut dyn FnMut() -> Result<(), SheetError>,
    ) -> Result<Box<dyn SheetBook + 'a>, SheetError> {
        let (_, _) = (header_row, ask);
        Ok(Box::new(OneSheet { reader: self, file }))
    }
}

/// Header row of a sheet, as far as it is known. Broken rows are detected by the number of headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderRow {
    /// First row that is not blank.
    First,
    /// Row with this number.
    At(u32),
    /// Not known yet: rows are passed on unchanged.
    Unknown,
}

/// Opened file.
pub trait SheetBook {
    /// Returns the names of the visible sheets; `None` if the format has no sheets.
    fn sheets(&self) -> Option<&[String]>;

    /// Passes the rows of a sheet, counted from 0, to `sink` from top to bottom.
    fn read(&mut self, sheet: usize, headers: HeaderRow, sink: &mut RowSink<'_>) -> Result<(), SheetError>;
}

/// File that is read as one sheet.
struct OneSheet<'a, R: ?Sized> {
    reader: &'a R,
    file: &'a Path,
}

impl<R: SheetReader + ?Sized> SheetBook for OneSheet<'_, R> {
    fn sheets(&self) -> Option<&[String]> {
        None
    }

    fn read(&mut self, _: usize, _: HeaderRow, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        self.reader.read(self.file, sink)
    }
}

/// Storage of the column mappings of projects, one for each kind of import. Saved mappings are for many files.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ColumnMaps: Send + Sync {
    /// Returns the mapping of a project for a kind of import; empty if none is saved.
    async fn find(&self, project: ProjectId, kind: ImportKind) -> Result<ColumnMap, StoreError>;

    /// Replaces the saved mapping; an empty one removes it. Of concurrent calls the last one counts as a whole. After
    /// [`StoreError::OutcomeUnknown`] the call can be repeated.
    async fn replace(&self, project: ProjectId, kind: ImportKind, map: ColumnMap) -> Result<(), StoreError>;
}

/// File format for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum SheetFormat {
    /// Workbook with one sheet.
    #[default]
    Xlsx,
    /// UTF-8 text with commas.
    Csv,
}

/// Reason why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SheetFailed {
    /// Texts of the row are too long for a cell. The row is not written; others may follow.
    #[error("a cell holds at most {most} characters")]
    LongTexts {
        /// Cells, counted from 0, and the lengths of their texts.
        cells: Vec<(usize, usize)>,
        /// Maximum length.
        most: usize,
    },
    /// Any other failure.
    #[error("the spreadsheet cannot be written: {0}")]
    Broken(String),
}

/// File being written. Works on the calling thread.
pub trait SheetWriter: Send {
    /// Writes the next row.
    fn row(&mut self, cells: &[Content<'_>]) -> Result<(), SheetFailed>;

    /// Completes the file and returns it, positioned at its start. The file is removed when it is closed.
    fn finish(self: Box<Self>) -> Result<File, SheetFailed>;
}

/// Creates files for writing.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait SheetWriters: Send + Sync {
    /// Creates an empty file of this format.
    fn open(&self, format: SheetFormat) -> Result<Box<dyn SheetWriter>, SheetFailed>;

    /// Returns these rows as a chunk of csv. The chunks of a file are concatenated; `is_first` marks the first.
    #[expect(clippy::elidable_lifetime_names, reason = "mockall needs the name")]
    fn piece<'a>(&self, rows: &[Vec<Content<'a>>], is_first: bool) -> Result<Vec<u8>, SheetFailed>;
}

/// Bulk access to the items of a project. A sheet refers to records of its project alone: others are unknown to it.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ItemSheetRepository: Send + Sync {
    /// Writes the changes that [`super::Decision`] computes from the sheet, in one transaction, or nothing of it. It
    /// includes new categories, brands and tags, the storefront offers and the history entries. Refuses
    /// [`ImportError::Rows`] if rows are invalid and the mode is not partial, and [`ImportError::Stale`] if a
    /// concurrent call wrote an article or a name of the sheet. After [`StoreError::OutcomeUnknown`] the call can be
    /// repeated: rows that match their items change nothing.
    async fn import(&self, stamp: Stamp, sheet: Arc<CardSheet>, mode: ImportMode) -> Result<ImportReport, ImportError>;

    /// Returns the report of [`ItemSheetRepository::import`] without writing.
    async fn check(&self, project: ProjectId, sheet: Arc<CardSheet>) -> Result<ImportReport, ImportError>;

    /// Imports a part of a job's file like [`ItemSheetRepository::import`]. The same transaction records that the step
    /// is done. Refuses [`PartError::LeaseLost`] if the lease of the job is lost or the step was already done, and
    /// [`PartError::AuthorDenied`] if the author may no longer start such a job.
    async fn import_part(
        &self,
        held: JobLease,
        step: Step,
        sheet: Arc<CardSheet>,
        mode: ImportMode,
        stamp: Stamp,
    ) -> Result<ImportReport, PartError>;

    /// Returns the next items after this one, by identifier.
    async fn lines(
        &self,
        project: ProjectId,
        after: Option<NomenclatureId>,
        limit: u32,
    ) -> Result<Vec<CardLine>, StoreError>;
}

/// Bulk access to the stock levels of a project. A sheet refers to records of its project alone.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StockSheetRepository: Send + Sync {
    /// Writes the changes that [`super::StockDecision`] computes from the sheet, with stock movements and storefront
    /// offers, in one transaction, or nothing of it. Refuses [`ImportError::Rows`] if rows are invalid and the mode is
    /// not partial, and [`ImportError::Stale`] if a concurrent call created a stock level of the sheet. After
    /// [`StoreError::OutcomeUnknown`] the caller compares the stock with the sheet before it repeats the call: orders
    /// may have reduced it since.
    async fn upload(&self, stamp: Stamp, sheet: Arc<StockSheet>, mode: ImportMode)
    -> Result<ImportReport, ImportError>;

    /// Returns the report of [`StockSheetRepository::upload`] without writing.
    async fn check(&self, project: ProjectId, sheet: Arc<StockSheet>) -> Result<ImportReport, ImportError>;

    /// Imports a part of a job's file like [`StockSheetRepository::upload`]. The same transaction records that the step
    /// is done. Refuses [`PartError::LeaseLost`] if the lease of the job is lost or the step was already done, and
    /// [`PartError::AuthorDenied`] if the author may no longer start such a job.
    async fn upload_part(
        &self,
        held: JobLease,
        step: Step,
        sheet: Arc<StockSheet>,
        mode: ImportMode,
        stamp: Stamp,
    ) -> Result<ImportReport, PartError>;
}
