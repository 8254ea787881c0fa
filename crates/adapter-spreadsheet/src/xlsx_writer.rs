use std::fs::File;
use std::io::{BufWriter, Seek};

use kontor_catalog::spreadsheet::Content;
use kontor_catalog::spreadsheet::ports::{SheetFailed, SheetWriter};
use rust_xlsxwriter::{Workbook, XlsxError};

/// A workbook with one sheet whose rows go to a temporary file as they are written.
pub(crate) struct Xlsx {
    book: Workbook,
    row: u32,
}

fn failed(error: impl ToString) -> SheetFailed {
    SheetFailed(error.to_string())
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
        let sheet = self.book.worksheet_from_index(0).map_err(failed)?;
        for (column, cell) in (0_u16..).zip(cells) {
            match cell {
                Content::Empty => continue,
                Content::Text(text) => sheet.write_string(self.row, column, text.as_ref()),
                Content::Number(number) => sheet.write_number(self.row, column, number.parse::<f64>().map_err(failed)?),
            }
            .map_err(|error| match error {
                XlsxError::MaxStringLengthExceeded => SheetFailed(format!(
                    "a text in row {} is longer than an xlsx cell takes (32767 characters); export csv instead",
                    self.row + 1
                )),
                error => failed(error),
            })?;
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
