//! Writers of xlsx files, and of csv files. Csv is protected against formula injection, for programs that separate
//! cells by commas or by semicolons.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Seek, Write};

use csv::Writer;
use kontor_catalog::spreadsheet::Content;
use kontor_catalog::spreadsheet::ports::{SheetFailed, SheetWriter};
use rust_xlsxwriter::Workbook;

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

/// Returns `true` if a formula can start with this text. Some programs accept full-width signs; blanks and quotes are
/// skipped.
fn begins_formula(text: &str) -> bool {
    text.trim_start_matches([' ', '\u{a0}', '"', '\'']).starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

/// Returns `true` if a cell could start after this character.
fn parts_cells(sign: char) -> bool {
    matches!(sign, ';' | '\t' | '\n' | '\r')
}

/// Returns the positions at which a cell could start.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    let parted =
        text.char_indices().filter(|(_, sign)| parts_cells(*sign)).map(|(place, sign)| place + sign.len_utf8());
    std::iter::once(0).chain(parted)
}

/// Returns the text with an apostrophe wherever a formula could start.
pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
    let mut guarded = String::new();
    let mut done = 0;
    for start in starts(text).filter(|start| text.get(*start..).is_some_and(begins_formula)) {
        guarded.push_str(text.get(done..start).unwrap_or_default());
        guarded.push('\'');
        done = start;
    }
    if guarded.is_empty() {
        return Cow::Borrowed(text);
    }
    guarded.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(guarded)
}

/// Returns the text without the protection.
pub(crate) fn unguarded(text: &str) -> Cow<'_, str> {
    let mut plain = String::new();
    let mut done = 0;
    let is_guarded = |rest: &str| rest.starts_with('\'') && begins_formula(rest);
    for start in starts(text).filter(|start| text.get(*start..).is_some_and(is_guarded)) {
        plain.push_str(text.get(done..start).unwrap_or_default());
        done = start + 1;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    plain.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(plain)
}

/// A workbook with one sheet whose rows are written to a temporary file.
pub(crate) struct Xlsx {
    book: Workbook,
    row: u32,
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn written_cells_never_start_a_formula() {
        for (text, safe) in [
            ("mug", "mug"),
            ("a-b; c = d", "a-b; c = d"),
            ("'quoted'", "'quoted'"),
            ("=1+1", "'=1+1"),
            ("＝1+1", "'＝1+1"),
            ("'=1", "''=1"),
            ("cat;=1+1;dog", "cat;'=1+1;dog"),
            ("one\n=1\r\n- two", "one\n'=1\r\n'- two"),
            ("a\t\"@x\"", "a\t'\"@x\""),
            (" =1", "' =1"),
        ] {
            assert_eq!(guarded(text), safe);
            assert_eq!(unguarded(safe), text);
        }
    }

    proptest! {
        #[test]
        fn guarded_cells_read_back_unchanged(text in "[a=＝+@;'\" \t\n\r-]{0,24}") {
            let safe = guarded(&text);
            prop_assert_eq!(&unguarded(&safe), &text);
            for cell in safe.split(parts_cells) {
                prop_assert!(!cell.starts_with(['=', '+', '-', '@', '＝']), "{:?}", safe);
            }
        }
    }
}
