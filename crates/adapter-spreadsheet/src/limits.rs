//! Limits for reading a file: sizes, the allowed content of a cell, and the check for cancellation while a file is
//! prepared and no row can be passed on yet.

use std::borrow::Cow;

use kontor_catalog::spreadsheet::{Cell, SheetError};

/// Limits for reading a file.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum size of the file, in bytes.
    pub file_bytes: u64,
    /// Maximum size of its unpacked content, in bytes.
    pub inflated_bytes: u64,
    /// Maximum ratio of unpacked to packed size.
    pub ratio: u64,
    /// Maximum files inside a workbook.
    pub entries: usize,
    /// Maximum rows, empty ones included.
    pub rows: u32,
    /// Maximum columns up to the last filled one.
    pub columns: usize,
    /// Maximum size of one record of a csv file, and of one cell of a workbook in its stored form, in bytes.
    pub record_bytes: u64,
    /// Maximum size of the text of one cell, in bytes.
    pub cell_bytes: usize,
}

impl Limits {
    /// Limits for files that are read in the background: 1 GiB, unpacked 8 GiB, ratio 200, the default rows and
    /// columns.
    pub fn large() -> Self {
        Self { file_bytes: 1 << 30, inflated_bytes: 8 << 30, ..Self::default() }
    }
}

/// Default limits: 64 MiB, unpacked 512 MiB, ratio 200, 10,000 entries, 1,100,000 rows, 200 columns, 1 MiB per record,
/// 256 KiB per cell.
impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            inflated_bytes: 512 << 20,
            ratio: 200,
            entries: 10_000,
            rows: 1_100_000,
            columns: 200,
            record_bytes: 1 << 20,
            cell_bytes: 256 << 10,
        }
    }
}

/// Returns `true` for control characters. Not every database stores a NUL, and the others are invisible.
fn is_refused(sign: char) -> bool {
    sign.is_control() && !matches!(sign, '\n' | '\r' | '\t')
}

/// Returns the cell with this text, or the reason why the text is not allowed.
pub(crate) fn checked_cell(text: Cow<'_, str>, limits: &Limits) -> Cell {
    if text.len() > limits.cell_bytes {
        return Cell::Fault(format!("must have at most {} bytes", limits.cell_bytes));
    }
    match text.chars().find(|sign| is_refused(*sign)) {
        None => Cell::Text(text.into_owned()),
        Some(sign) => Cell::Fault(format!("must not contain control characters; there is a U+{:04X}", u32::from(sign))),
    }
}

/// Number of bytes between two checks.
const CHUNK_BYTES: usize = 1 << 20;

/// Calls the check after every stretch of work; a refusal ends the work.
pub(crate) struct PeriodicCheck<'a> {
    ask: &'a mut dyn FnMut() -> Result<(), SheetError>,
    done: usize,
}

impl<'a> PeriodicCheck<'a> {
    pub fn new(ask: &'a mut dyn FnMut() -> Result<(), SheetError>) -> Self {
        Self { ask, done: 0 }
    }

    /// Adds the number of processed bytes.
    pub fn advance(&mut self, bytes: usize) -> Result<(), SheetError> {
        self.done = self.done.saturating_add(bytes);
        if self.done < CHUNK_BYTES {
            return Ok(());
        }
        self.done = 0;
        (self.ask)()
    }
}
