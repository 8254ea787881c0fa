//! Import and export of spreadsheets: xlsx and csv in bounded memory.
//!
//! **Owns** the detection of formats by content, the limits for opening a file, and the conversion between cells and
//! text.
//!
//! **Invariants**
//! - A file that exceeds the limit of unpacked bytes is refused before any of it is interpreted.
//! - Rows are passed on one by one; a sheet is never completely in memory, and no cell exceeds its limit.
//! - While a file is prepared, the receiver of its rows is repeatedly checked for cancellation.
//! - No text with control characters is returned, neither in a cell nor in a reason.
//! - A written text is read back as the same text: it never becomes a number, a date or a formula.
//!
//! ```
//! use kontor_adapter_spreadsheet::Spreadsheets;
//! use kontor_catalog::spreadsheet::ports::SheetReader;
//!
//! let file = tempfile::NamedTempFile::new()?;
//! std::fs::write(file.path(), "article;price\nMUG-01;1 234,50\n")?;
//! let mut rows = 0;
//! Spreadsheets::default().read(file.path(), &mut |_row| { rows += 1; Ok(()) })?;
//! assert_eq!(rows, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv_reader;
mod csv_torn;
mod limits;
mod number_format;
mod writers;
mod xlsx_guard;
mod xlsx_reader;
mod xlsx_scan;
mod xlsx_texts;

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use kontor_catalog::spreadsheet::ports::{
    HeaderRow, RowSink, SheetBook, SheetFailed, SheetFormat, SheetReader, SheetWriter, SheetWriters,
};
use kontor_catalog::spreadsheet::{Content, SheetError, SheetRow, quotable};

pub use limits::Limits;

use self::limits::PeriodicCheck;

/// Reads and writes spreadsheet files.
#[derive(Debug, Clone, Default)]
pub struct Spreadsheets {
    limits: Limits,
}

impl Spreadsheets {
    /// Creates a reader and writer with other limits than the default ones.
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits }
    }
}

fn broken(error: impl ToString) -> SheetError {
    SheetError::Broken(quotable(&error.to_string()))
}

impl SheetReader for Spreadsheets {
    fn read(&self, path: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        let mut book = self.book(path, None, &mut || sink(SheetRow::none_yet()))?;
        book.read(0, HeaderRow::First, sink)
    }

    fn book<'a>(
        &'a self,
        path: &'a Path,
        header_row: Option<u32>,
        ask: &mut dyn FnMut() -> Result<(), SheetError>,
    ) -> Result<Box<dyn SheetBook + 'a>, SheetError> {
        let mut file = File::open(path).map_err(broken)?;
        if file.metadata().map_err(broken)?.len() > self.limits.file_bytes {
            return Err(SheetError::TooLarge("the file"));
        }
        let mut start = Vec::new();
        file.by_ref().take(4).read_to_end(&mut start).map_err(broken)?;
        file.rewind().map_err(broken)?;
        if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
            let mut periodic_check = PeriodicCheck::new(ask);
            if let Some(usual) = xlsx_guard::with_usual_names(&file, &mut xlsx_guard::open(&file, &self.limits)?)? {
                file = usual;
            }
            let found = xlsx_guard::check(&file, &self.limits, &mut periodic_check)?;
            if xlsx_texts::too_many(&file)? {
                file = xlsx_texts::put_into_cells(&file, &self.limits, &mut periodic_check)?;
            }
            Ok(Box::new(xlsx_reader::open(file, found, &self.limits)?))
        } else if start.starts_with(b"\xD0\xCF\x11\xE0") {
            Err(SheetError::OldOrEncrypted)
        } else {
            Ok(Box::new(csv_reader::open(file, header_row, &self.limits)?))
        }
    }
}

impl SheetWriters for Spreadsheets {
    fn open(&self, format: SheetFormat) -> Result<Box<dyn SheetWriter>, SheetFailed> {
        Ok(match format {
            SheetFormat::Xlsx => Box::new(writers::Xlsx::open()?),
            SheetFormat::Csv => Box::new(writers::Csv::open()?),
        })
    }

    fn piece(&self, rows: &[Vec<Content<'_>>], is_first: bool) -> Result<Vec<u8>, SheetFailed> {
        writers::piece(rows, is_first)
    }
}
