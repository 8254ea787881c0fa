use std::fs::File;
use std::io::{BufWriter, Seek, Write};

use csv::Writer;
use kontor_catalog::spreadsheet::Content;
use kontor_catalog::spreadsheet::ports::{SheetFailed, SheetWriter};

/// UTF-8 with a byte order mark, by which spreadsheet programs know it.
pub(crate) struct Csv(Writer<BufWriter<File>>);

fn failed(error: impl ToString) -> SheetFailed {
    SheetFailed(error.to_string())
}

/// Whether a spreadsheet program would take the text for a formula, or for such a text already made harmless.
pub(crate) fn needs_apostrophe(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\''])
}

impl Csv {
    pub fn open() -> Result<Self, SheetFailed> {
        let mut file = BufWriter::new(tempfile::tempfile().map_err(failed)?);
        file.write_all(b"\xEF\xBB\xBF").map_err(failed)?;
        Ok(Self(Writer::from_writer(file)))
    }
}

impl SheetWriter for Csv {
    fn row(&mut self, cells: &[Content<'_>]) -> Result<(), SheetFailed> {
        for cell in cells {
            match cell {
                Content::Empty => self.0.write_field(""),
                Content::Number(number) => self.0.write_field(number),
                Content::Text(text) if needs_apostrophe(text) => self.0.write_field(format!("'{text}")),
                Content::Text(text) => self.0.write_field(text.as_bytes()),
            }
            .map_err(failed)?;
        }
        self.0.write_record(None::<&[u8]>).map_err(failed)
    }

    fn finish(self: Box<Self>) -> Result<File, SheetFailed> {
        let buffered = self.0.into_inner().map_err(|error| failed(error.error()))?;
        let mut file = buffered.into_inner().map_err(|error| failed(error.error()))?;
        file.rewind().map_err(failed)?;
        Ok(file)
    }
}
