//! What spreadsheets need from the outside.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use kontor_kernel::{NomenclatureId, ProjectId, Stamp, StoreError};

use super::{
    CardLine, CardSheet, ColumnMap, Content, ImportError, ImportKind, ImportMode, ImportReport, SheetRefused, SheetRow,
    StockSheet,
};
use crate::bulk::{JobLease, PartError, Step};

/// Takes the rows of a file one by one; a refusal ends the reading.
pub type RowSink<'a> = dyn FnMut(SheetRow) -> Result<(), SheetRefused> + 'a;

/// Reads spreadsheet files. Works on the calling thread, in bounded memory.
pub trait SheetReader: Send + Sync {
    /// Hands over the rows of the first sheet from top to bottom. What kind of file it is, its content tells. As long as a
    /// file is prepared [`SheetRow::none_yet`] is handed over now and then, so that whoever waits can end the reading.
    fn read(&self, file: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetRefused>;

    /// Prepares a file and gives access to its sheets. `ask` is called now and then meanwhile and can end it. The row of
    /// headers, if the sender names it, tells what separates the cells of a csv file. Unless a reader knows better, a file
    /// is one sheet without a name.
    fn book<'a>(
        &'a self,
        file: &'a Path,
        header_row: Option<u32>,
        ask: &mut dyn FnMut() -> Result<(), SheetRefused>,
    ) -> Result<Box<dyn SheetBook + 'a>, SheetRefused> {
        let (_, _) = (header_row, ask);
        Ok(Box::new(OneSheet { reader: self, file }))
    }
}

/// The row of headers of a sheet, as far as it is known. Which rows are torn shows by the number of headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderRow {
    /// The first row that is not blank.
    First,
    /// The row with this number.
    At(u32),
    /// Not known yet: rows are handed over as they stand.
    Unknown,
}

/// A file that was opened.
pub trait SheetBook {
    /// Names of the visible sheets; `None` if the format has no sheets.
    fn sheets(&self) -> Option<&[String]>;

    /// Hands over the rows of a sheet, counted from 0, from top to bottom.
    fn read(&mut self, sheet: usize, headers: HeaderRow, sink: &mut RowSink<'_>) -> Result<(), SheetRefused>;
}

/// A file that is read as a whole.
struct OneSheet<'a, R: ?Sized> {
    reader: &'a R,
    file: &'a Path,
}

impl<R: SheetReader + ?Sized> SheetBook for OneSheet<'_, R> {
    fn sheets(&self) -> Option<&[String]> {
        None
    }

    fn read(&mut self, _: usize, _: HeaderRow, sink: &mut RowSink<'_>) -> Result<(), SheetRefused> {
        self.reader.read(self.file, sink)
    }
}

/// The mappings of columns that projects save.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ColumnMaps: Send + Sync {
    /// The mapping of a project for a kind of import; empty if none is saved.
    async fn find(&self, project: ProjectId, kind: ImportKind) -> Result<ColumnMap, StoreError>;

    /// Saves a mapping in the place of the one there is.
    async fn replace(&self, project: ProjectId, kind: ImportKind, map: ColumnMap) -> Result<(), StoreError>;
}

/// The files that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum SheetFormat {
    /// A workbook with one sheet.
    #[default]
    Xlsx,
    /// UTF-8 text with commas.
    Csv,
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SheetFailed {
    /// Texts of the row are longer than a cell takes. The row is not written; others may follow.
    #[error("a cell takes {most} characters")]
    LongTexts {
        /// Which cells, counted from 0, and the lengths of their texts.
        cells: Vec<(usize, usize)>,
        /// The longest text.
        most: usize,
    },
    /// Something else.
    #[error("the spreadsheet cannot be written: {0}")]
    Broken(String),
}

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

    /// These rows as a piece of csv; the pieces of a file follow each other, the first one of them first.
    #[expect(clippy::elidable_lifetime_names, reason = "mockall needs the name")]
    fn piece<'a>(&self, rows: &[Vec<Content<'a>>], is_first: bool) -> Result<Vec<u8>, SheetFailed>;
}

/// The cards of a project as a whole.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CardBook: Send + Sync {
    /// Writes what [`super::Decision`] makes of the sheet, with the categories and brands it misses, what the
    /// applications sell by that and the histories of the cards, in one transaction.
    async fn import(&self, stamp: Stamp, sheet: Arc<CardSheet>, mode: ImportMode) -> Result<ImportReport, ImportError>;

    /// What [`CardBook::import`] would do and which problems it would find. Writes nothing.
    async fn check(&self, project: ProjectId, sheet: Arc<CardSheet>) -> Result<ImportReport, ImportError>;

    /// As [`CardBook::import`], for a part of a job's file. The record that the step is done is in the same transaction;
    /// refuses [`PartError::Lost`] when the job is no longer held or somebody else has done the step.
    async fn import_part(
        &self,
        held: JobLease,
        step: Step,
        sheet: Arc<CardSheet>,
        mode: ImportMode,
        stamp: Stamp,
    ) -> Result<ImportReport, PartError>;

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
    /// Writes what [`super::StockDecision`] makes of the sheet, with its movements and what the applications sell by
    /// that, in one transaction.
    async fn upload(&self, stamp: Stamp, sheet: Arc<StockSheet>, mode: ImportMode)
    -> Result<ImportReport, ImportError>;

    /// What [`StockBook::upload`] would do and which problems it would find. Writes nothing.
    async fn check(&self, project: ProjectId, sheet: Arc<StockSheet>) -> Result<ImportReport, ImportError>;

    /// As [`StockBook::upload`], for a part of a job's file. The record that the step is done is in the same transaction;
    /// refuses [`PartError::Lost`] when the job is no longer held or somebody else has done the step.
    async fn upload_part(
        &self,
        held: JobLease,
        step: Step,
        sheet: Arc<StockSheet>,
        mode: ImportMode,
        stamp: Stamp,
    ) -> Result<ImportReport, PartError>;
}
