use std::fs::File;
use std::io::{BufWriter, Seek};

use kontor_catalog::spreadsheet::Content;
use kontor_catalog::spreadsheet::ports::{SheetFailed, SheetWriter};
use rust_xlsxwriter::Workbook;

/// A workbook with one sheet whose rows are written to a temporary file.
pub(crate) struct Xlsx {
    book: Workbook,
    row: u32,
}

fn failed(error: impl ToString) -> SheetFailed {
    SheetFailed::Broken(error.to_string())
}

/// Maximum length of a text in a cell, in UTF-16 units, as spreadsheet programs count.
const MAX_TEXT_UNITS: usize = 32_767;

/// Returns the length of a text that is too long. There are never more units than bytes.
fn too_long(cell: &Content<'_>) -> Option<usize> {
    let Content::Text(text) = cell else { return None };
    if text.len() <= MAX_TEXT_UNITS {
        return None;
    }
    Some(text.encode_utf16().count()).filter(|length| *length > MAX_TEXT_UNITS)
}

impl Xlsx {
    pub fn open() -> Result<Self, SheetFailed> {
        let mut book = Workbook::new();
        book.add_worksheet_with_constant_memory().map_err(failed)?;
        Ok(Self { book, row: 0 })
    }
}

impl SheetWriter for Xlsx {
    fn row(&mut self, cells: &[Content<'_>]) -> Result<(), SheetFailed> {
        let long: Vec<(usize, usize)> =
            cells.iter().enumerate().filter_map(|(place, cell)| Some((place, too_long(cell)?))).collect();
        if !long.is_empty() {
            return Err(SheetFailed::LongTexts { cells: long, most: MAX_TEXT_UNITS });
        }
        let sheet = self.book.worksheet_from_index(0).map_err(failed)?;
        for (column, cell) in (0_u16..).zip(cells) {
            match cell {
                Content::Empty => continue,
                Content::Text(text) => sheet.write_string(self.row, column, text.as_ref()),
                Content::Number(number) => sheet.write_number(self.row, column, number.parse::<f64>().map_err(failed)?),
            }
            .map_err(failed)?;
        }
        self.row += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<File, SheetFailed> {
        let mut file = tempfile::tempfile().map_err(failed)?;
        self.book.save_to_writer(BufWriter::new(&mut file)).map_err(failed)?;
        file.rewind().map_err(failed)?;
        Ok(file)
    }
}
