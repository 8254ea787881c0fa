//! Reader of csv files: text with commas, semicolons or tabs. Its encoding is UTF-8 or UTF-16 by the byte order mark,
//! otherwise UTF-8 or Windows-1251 by the bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use csv::{ByteRecord, ReaderBuilder};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1251};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use kontor_catalog::spreadsheet::ports::{HeaderRow, RowSink, SheetBook};
use kontor_catalog::spreadsheet::{Cell, SheetError, SheetRow};

use crate::csv_torn::{Quotes, Whole, quotes};
use crate::limits::{Limits, checked_cell};
use crate::writers::unguarded;

/// Size of a read, in bytes.
const BUFFER: usize = 64 << 10;
/// Size of the start that the separator is detected from, in bytes.
const START: u64 = 8192;
const UNMATCHED_QUOTE: &str = "has an unmatched quote; double each quote inside a quoted text";

/// A csv file: one sheet without a name.
pub(crate) struct Csv {
    file: File,
    encoding: &'static Encoding,
    delimiter: u8,
    limits: Limits,
}

/// Opens a file. The separator is detected in the row of headers, if the sender specified it.
pub(crate) fn open(mut file: File, header_row: Option<u32>, limits: &Limits) -> Result<Csv, SheetError> {
    let encoding = detect_encoding(&mut file)?;
    let mut book = Csv { file, encoding, delimiter: b',', limits: limits.clone() };
    let mut start = Vec::new();
    book.text()?.take(START).read_to_end(&mut start).map_err(crate::broken)?;
    refuse_other_formats(&start)?;
    book.delimiter = delimiter(&start, header_row);
    Ok(book)
}

impl Csv {
    fn text(&self) -> Result<impl Read, SheetError> {
        decoded(self.file.try_clone().map_err(crate::broken)?, self.encoding)
    }
}

impl SheetBook for Csv {
    fn sheets(&self) -> Option<&[String]> {
        None
    }

    fn read(&mut self, _: usize, headers: HeaderRow, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        rows(self.text()?, self.delimiter, &self.limits, headers, sink)
    }
}

/// Reader with a limit, because the csv reader buffers a whole record. Keeps the returned bytes until they are taken as
/// a record.
struct Metered<R> {
    source: R,
    room: u64,
    given: Vec<u8>,
    /// Length of the part of `given` that was taken. It is dropped at the next read, not at every record.
    taken: usize,
}

impl<R> Metered<R> {
    fn new(source: R) -> Self {
        Self { source, room: 0, given: Vec::new(), taken: 0 }
    }

    /// Takes the next bytes of `given`.
    fn take_record(&mut self, length: usize) -> &[u8] {
        let rest = self.given.get(self.taken..).unwrap_or_default();
        let record = rest.get(..length).unwrap_or(rest);
        self.taken += record.len();
        record
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let count = self.source.by_ref().take(self.room).read(buffer)?;
        self.room = self.room.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        self.given.drain(..std::mem::take(&mut self.taken));
        self.given.extend_from_slice(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

fn is_too_long(error: &csv::Error) -> bool {
    matches!(error.kind(), csv::ErrorKind::Io(error) if error.kind() == ErrorKind::FileTooLarge)
}

fn rows(
    source: impl Read,
    delimiter: u8,
    limits: &Limits,
    headers: HeaderRow,
    sink: &mut RowSink<'_>,
) -> Result<(), SheetError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(BUFFER)
        .from_reader(Metered::new(source));
    let mut whole = Whole::new(headers, sink);
    let mut record = ByteRecord::new();
    let (mut number, mut done): (u32, u64) = (0, 0);
    loop {
        reader.get_mut().room = limits.record_bytes;
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return whole.finish(),
            Err(error) if is_too_long(&error) => return Err(SheetError::RowTooLong(number.saturating_add(1))),
            Err(error) => return Err(crate::broken(error)),
        }
        number = number.saturating_add(1).saturating_add(skipped_lines(&record, reader.position().line()));
        if number > limits.rows {
            return Err(SheetError::TooManyRows(limits.rows));
        }
        let filled = record.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1);
        if filled > limits.columns {
            return Err(SheetError::TooManyColumns(limits.columns));
        }
        let end = reader.position().byte();
        let length = usize::try_from(end.saturating_sub(done)).unwrap_or(usize::MAX);
        done = end;
        let quotes = quotes(reader.get_mut().take_record(length), delimiter, whole.headers);
        if quotes == Quotes::Open {
            return Err(SheetError::OpenQuote(number));
        }
        // Separator hint that some programs write for themselves.
        if number == 1 && record.get(0).is_some_and(|field| field.starts_with(b"sep=")) {
            continue;
        }
        let fault = (quotes == Quotes::Torn).then(|| UNMATCHED_QUOTE.to_owned());
        let cells = record.iter().take(filled).map(|field| cell(field, limits)).collect();
        whole.push(SheetRow { number, cells, fault, decimal: decimal(delimiter) }, record.len())?;
    }
}

/// Returns the decimal separator. Programs separate cells by semicolons if the comma is the decimal separator.
fn decimal(delimiter: u8) -> Option<char> {
    match delimiter {
        b',' => Some('.'),
        b';' => Some(','),
        _ => None,
    }
}

/// Refuses other formats: text has no NUL, and a table does not start like a document, an image or JSON.
fn refuse_other_formats(text: &[u8]) -> Result<(), SheetError> {
    let first = text.trim_ascii_start();
    let other = [b"{".as_slice(), b"[", b"<", b"%PDF", b"\x89PNG", b"\xFF\xD8"];
    let control = text.iter().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\r' | b'\t'));
    if control || other.iter().any(|sign| first.starts_with(sign)) { Err(SheetError::NotASpreadsheet) } else { Ok(()) }
}

/// Returns the separator of a line: the most frequent candidate outside of quotes. The line is the row of headers if it
/// is known, else the first one with a candidate.
fn delimiter(text: &[u8], header_row: Option<u32>) -> u8 {
    let hint = text.strip_prefix(b"sep=").and_then(|rest| rest.first().copied());
    if let Some(sign @ (b',' | b';' | b'\t')) = hint {
        return sign;
    }
    let most = |counts: [(u8, u32); 3]| counts.into_iter().rev().max_by_key(|(_, count)| *count);
    let lines = separator_counts(text);
    let chosen = header_row.and_then(|row| lines.get(usize::try_from(row).ok()?.checked_sub(1)?).copied());
    chosen.into_iter().chain(lines).filter_map(most).find(|(_, count)| *count > 0).map_or(b',', |(sign, _)| sign)
}

/// Returns the number of each separator outside of quotes, by line.
fn separator_counts(text: &[u8]) -> Vec<[(u8, u32); 3]> {
    const NONE: [(u8, u32); 3] = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    let (mut lines, mut counts) = (Vec::new(), NONE);
    for byte in text {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => lines.push(std::mem::replace(&mut counts, NONE)),
            byte if !quoted => counts.iter_mut().filter(|(sign, _)| sign == byte).for_each(|(_, count)| *count += 1),
            _ => {}
        }
    }
    lines.push(counts);
    lines
}

/// Returns the number of empty lines above a record, from the reader's line before and after it. Spreadsheet programs
/// count them as rows, but not the lines inside a cell.
fn skipped_lines(record: &ByteRecord, after: u64) -> u32 {
    let before = record.position().map_or(after, csv::Position::line);
    let inside = record.iter().flatten().filter(|byte| **byte == b'\n').count();
    let own = u64::try_from(inside).unwrap_or_default() + 1;
    u32::try_from(after.saturating_sub(before).saturating_sub(own)).unwrap_or(u32::MAX)
}

fn cell(field: &[u8], limits: &Limits) -> Cell {
    match std::str::from_utf8(field) {
        Ok(text) => checked_cell(unguarded(text), limits),
        Err(_) => Cell::Fault("is not UTF-8 text; save the file as CSV UTF-8".to_owned()),
    }
}

/// Longest part of a line that is examined at once, in bytes.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// Returns the file from its start as UTF-8 without a byte order mark. Invalid UTF-8 is kept and reported for its cell.
fn decoded(mut file: File, encoding: &'static Encoding) -> Result<DecodeReaderBytes<File, Vec<u8>>, SheetError> {
    file.rewind().map_err(crate::broken)?;
    let mut builder = DecodeReaderBytesBuilder::new();
    builder.encoding(Some(encoding).filter(|encoding| *encoding != UTF_8)).strip_bom(true).utf8_passthru(true);
    Ok(builder.build(file))
}

/// Detects the encoding of a file by reading it to its end.
fn detect_encoding(file: &mut File) -> Result<&'static Encoding, SheetError> {
    let mut lines = BufReader::with_capacity(BUFFER, file);
    if let Some((encoding, _)) = Encoding::for_bom(lines.fill_buf().map_err(crate::broken)?) {
        return Ok(encoding);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let (mut letters, mut damages) = (0_u64, 0_u64);
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).map_err(crate::broken)? == 0 {
            break;
        }
        if let Ok(text) = std::str::from_utf8(&line) {
            letters += u64::from(!text.is_ascii());
            continue;
        }
        detector.feed(&line, false);
        for chunk in line.utf8_chunks() {
            letters += u64::try_from(chunk.valid().chars().filter(|sign| !sign.is_ascii()).count()).unwrap_or_default();
            damages += u64::from(!chunk.invalid().is_empty());
        }
    }
    // Bytes of Windows-1251 are rarely valid UTF-8. A valid line counts as one letter.
    if damages == 0 || letters > damages.saturating_mul(3) {
        return Ok(UTF_8);
    }
    detector.feed(&[], true);
    let guess = detector.guess(Some(b"ru"), Utf8Detection::Deny);
    if guess == WINDOWS_1251 { Ok(guess) } else { Err(SheetError::Encoding) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_most_frequent_sign() {
        for (text, sign) in [
            ("a;b;c\n1,2,3,4", b';'),
            ("a\tb", b'\t'),
            ("a,b", b','),
            ("\"x;y;z\",b\n", b','),
            ("one", b','),
            ("sep=;\na,b,c", b';'),
        ] {
            assert_eq!(delimiter(text.as_bytes(), None), sign, "{text}");
        }
    }

    #[test]
    fn a_letterhead_has_no_delimiter_of_the_table() {
        let text = b"Price list\n\n1, Main street, \"a;b\"\narticle;name\n";
        assert_eq!((delimiter(text, Some(4)), delimiter(text, None)), (b';', b','));
        assert_eq!(delimiter(b"Price list\n\narticle;name;price, RUB\n", None), b';');
        assert_eq!(delimiter(text, Some(1)), b',', "a line without separators tells nothing");
    }

    /// Counts the bytes read from it.
    struct Counted<'a, R>(R, &'a std::cell::Cell<usize>);

    impl<R: Read> Read for Counted<'_, R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.read(buffer)?;
            self.1.set(self.1.get() + count);
            Ok(count)
        }
    }

    #[test]
    fn a_record_without_an_end_is_not_read_to_its_end() {
        let limits = Limits { record_bytes: 100_000, ..Limits::default() };
        for start in ["article;name\nA-1;", "article;name\nA-1;\"", "article;name\n\"\n\n"] {
            let taken = std::cell::Cell::new(0);
            let endless = Counted(start.as_bytes().chain(io::repeat(b'x').take(64 << 20)), &taken);
            let mut read = 0;
            let refused = rows(endless, b';', &limits, HeaderRow::First, &mut |_| {
                read += 1;
                Ok(())
            });
            assert_eq!((refused, read), (Err(SheetError::RowTooLong(2)), 1), "{start}");
            assert!(taken.get() <= 100_000 + 2 * BUFFER, "{}", taken.get());
        }
        // Many records that are longer only in total are accepted.
        let many = "A-1;Mug\n".repeat(50_000);
        let mut read = 0;
        rows(many.as_bytes(), b';', &limits, HeaderRow::First, &mut |_| {
            read += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(read, 50_000);
    }
}
