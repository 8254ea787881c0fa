use std::fs::File;
use std::io::{BufWriter, Seek, Write};

use csv::Writer;
use kontor_catalog::spreadsheet::Content;
use kontor_catalog::spreadsheet::ports::{SheetFailed, SheetWriter};

use crate::formula_guard::guarded;

/// Byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Writes UTF-8 with a byte order mark, so that spreadsheet programs detect the encoding.
pub(crate) struct Csv(Writer<BufWriter<File>>);

fn failed(error: impl ToString) -> SheetFailed {
    SheetFailed::Broken(error.to_string())
}

impl Csv {
    pub fn open() -> Result<Self, SheetFailed> {
        let mut file = BufWriter::new(tempfile::tempfile().map_err(failed)?);
        file.write_all(BYTE_ORDER_MARK).map_err(failed)?;
        Ok(Self(Writer::from_writer(file)))
    }
}

fn write_row<W: Write>(writer: &mut Writer<W>, cells: &[Content<'_>]) -> Result<(), SheetFailed> {
    for cell in cells {
        match cell {
            Content::Empty => writer.write_field(""),
            Content::Number(number) => writer.write_field(number),
            Content::Text(text) => writer.write_field(guarded(text).as_bytes()),
        }
        .map_err(failed)?;
    }
    writer.write_record(None::<&[u8]>).map_err(failed)
}

/// Returns a piece of a file; the first one starts with the mark.
pub(crate) fn piece(rows: &[Vec<Content<'_>>], is_first: bool) -> Result<Vec<u8>, SheetFailed> {
    let mark: &[u8] = if is_first { BYTE_ORDER_MARK } else { &[] };
    let mut writer = Writer::from_writer(mark.to_vec());
    rows.iter().try_for_each(|row| write_row(&mut writer, row))?;
    writer.into_inner().map_err(|error| failed(error.error()))
}

impl SheetWriter for Csv {
    fn row(&mut self, cells: &[Content<'_>]) -> Result<(), SheetFailed> {
        write_row(&mut self.0, cells)
    }

    fn finish(self: Box<Self>) -> Result<File, SheetFailed> {
        let buffered = self.0.into_inner().map_err(|error| failed(error.error()))?;
        let mut file = buffered.into_inner().map_err(|error| failed(error.error()))?;
        file.rewind().map_err(failed)?;
        Ok(file)
    }
}
