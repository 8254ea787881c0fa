//! One pass over a file of a workbook before it is interpreted. It measures the unpacked size and checks that no piece
//! exceeds the memory limit. The reader later holds one piece at a time: a tag, a text between tags, a cell.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, copy, sink};

use kontor_catalog::spreadsheet::SheetError;
use quick_xml::Reader;
use quick_xml::errors::Error;
use quick_xml::events::Event;

use crate::limits::{Limits, PeriodicCheck};

/// Maximum size of a piece of a file that is not named as XML, such as a picture. It is checked as well: any file of an
/// archive may turn out to be a sheet.
const MAX_UNNAMED_BYTES: u64 = 16 << 20;
/// Maximum size of files that are completely in memory while the workbook is read.
const MAX_HELD_BYTES: u64 = 16 << 20;
/// Bytes read at a time when only the size is measured.
const CHUNK_BYTES: u64 = 1 << 20;
/// Maximum tags of these files. A workbook has at most 65,490 formats, each of a few tags.
const MAX_HELD_TAGS: u32 = 500_000;
/// Maximum number of merged ranges of a workbook.
const MAX_MERGED_RANGES: usize = 100_000;

/// Findings that the reader of the cells needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Found {
    /// Number of merged ranges.
    pub merged: usize,
    /// `true` if a formula has no value.
    pub uncalculated: bool,
}

/// The current cell.
#[derive(Default)]
struct Inside {
    formula: bool,
    value: bool,
}

impl Found {
    fn tag(&mut self, name: &str, cell: &mut Inside) -> Result<(), SheetError> {
        match name {
            "mergeCell" => self.merged += 1,
            "c" => *cell = Inside::default(),
            "f" => cell.formula = true,
            "v" | "is" => cell.value = true,
            _ => {}
        }
        if self.merged > MAX_MERGED_RANGES { Err(SheetError::TooLarge("the number of merged cells")) } else { Ok(()) }
    }
}

/// Limits for a file of a workbook.
pub(crate) struct Bounds {
    room: u64,
    piece: u64,
    is_xml: bool,
    is_held: bool,
}

impl Bounds {
    /// Returns the limits of a file with this lower-case name. `is_workbook` marks the list of sheets, `room` is the
    /// remaining unpacked size.
    pub fn of(name: &str, is_workbook: bool, room: u64, limits: &Limits) -> Self {
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        let is_held = is_workbook || ends(&["styles.xml", ".rels"]) || name.contains("theme/");
        let is_xml = ends(&[".xml", ".rels"]);
        Self { room, piece: if is_xml { limits.record_bytes } else { MAX_UNNAMED_BYTES }, is_xml, is_held }
    }
}

/// Reader that returns at most the size of one piece until the next piece starts.
struct Metered<R> {
    source: R,
    piece: u64,
    held: u64,
    total: u64,
}

impl<R: BufRead> Metered<R> {
    fn is_too_long(&self) -> bool {
        self.held > self.piece
    }
}

impl<R: BufRead> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Metered<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.is_too_long() { Err(ErrorKind::FileTooLarge.into()) } else { self.source.fill_buf() }
    }

    fn consume(&mut self, amount: usize) {
        let count = u64::try_from(amount).unwrap_or(u64::MAX);
        self.held = self.held.saturating_add(count);
        self.total = self.total.saturating_add(count);
        self.source.consume(amount);
    }
}

/// Returns the unpacked size. It stops one byte after the limit.
pub(crate) fn scan(
    file: impl Read,
    bounds: &Bounds,
    found: &mut Found,
    periodic_check: &mut PeriodicCheck<'_>,
) -> Result<u64, SheetError> {
    let source = BufReader::new(file.take(bounds.room.saturating_add(1)));
    let mut reader = Reader::from_reader(Metered { source, piece: bounds.piece, held: 0, total: 0 });
    // Tag whose end is the end of the cell or text.
    let mut open: Option<String> = None;
    let (mut buffer, mut tags, mut cell) = (Vec::new(), 0_u32, Inside::default());
    loop {
        periodic_check.advance(buffer.len())?;
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => break,
            Ok(Event::Start(tag)) => {
                tags = tags.saturating_add(1);
                found.tag(tag.local_name().as_ref(), &mut cell)?;
                if open.is_none() && matches!(tag.local_name().as_ref(), "c" | "si") {
                    open = Some(tag.name().as_ref().to_owned());
                }
            }
            Ok(Event::Empty(tag)) => {
                tags = tags.saturating_add(1);
                // An empty `<v/>` is no value.
                if tag.local_name().as_ref() != "v" {
                    found.tag(tag.local_name().as_ref(), &mut cell)?;
                }
            }
            Ok(Event::End(tag)) if open.as_deref() == Some(tag.name().as_ref()) => {
                found.uncalculated |= cell.formula && !cell.value;
                open = None;
            }
            Ok(_) => {}
            Err(_) if reader.get_ref().is_too_long() => return Err(SheetError::TooLarge("one of its cells")),
            // The reader is less strict about end tags, and would find other cells.
            Err(Error::IllFormed(error)) if bounds.is_xml => return Err(crate::broken(error)),
            // The reader stops here, too.
            Err(_) => {
                let rest = rest(&mut reader.get_mut().source, periodic_check)?;
                return Ok(reader.get_ref().total.saturating_add(rest));
            }
        }
        if open.is_none() {
            reader.get_mut().held = 0;
        }
        if bounds.is_held && (tags > MAX_HELD_TAGS || reader.get_ref().total > MAX_HELD_BYTES) {
            return Err(SheetError::TooLarge("its unpacked size"));
        }
    }
    Ok(reader.get_ref().total)
}

/// Returns the size of the remaining content.
fn rest(source: &mut impl Read, periodic_check: &mut PeriodicCheck<'_>) -> Result<u64, SheetError> {
    let mut size: u64 = 0;
    loop {
        let stretch = copy(&mut source.by_ref().take(CHUNK_BYTES), &mut sink()).map_err(crate::broken)?;
        if stretch == 0 {
            return Ok(size);
        }
        size = size.saturating_add(stretch);
        periodic_check.advance(usize::try_from(stretch).unwrap_or(usize::MAX))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Approximate number of bytes after the start.
    const SIZE: usize = 20 << 20;

    /// Returns the result of the scan, and the number of bytes read.
    fn scanned(start: &str, rest: &[u8], name: &str) -> (Result<u64, SheetError>, u64) {
        let limits = Limits { record_bytes: 100_000, ..Limits::default() };
        let mut rest = io::Cursor::new(rest.repeat(SIZE / rest.len()));
        let bounds = Bounds::of(name, false, u64::MAX - 1, &limits);
        let outcome = scan(
            start.as_bytes().chain(&mut rest),
            &bounds,
            &mut Found::default(),
            &mut PeriodicCheck::new(&mut || Ok(())),
        );
        (outcome, rest.position())
    }

    #[test]
    fn no_piece_is_read_to_its_end_when_it_is_too_long() {
        let long = Err(SheetError::TooLarge("one of its cells"));
        for (start, rest) in [
            ("<sheetData><row><c t=\"inlineStr\"><is><t>", "x"),
            ("<sheetData><row><c t=\"inlineStr\"><is>", "<r><t>x</t></r>"),
            ("<sst><si>", "<r><t>&lt;</t></r>"),
            ("<sst><x:si><si></si>", "<t>x</t>"),
            ("<sheetData><!-- ", "<c></c>"),
            ("<sheetData><row r=\"", "<c></c>"),
            ("<sheetData><![CDATA[", "<c></c>"),
            ("", "x"),
        ] {
            let (outcome, taken) = scanned(start, rest.as_bytes(), "xl/worksheets/sheet1.xml");
            assert_eq!(outcome, long, "{start}");
            assert!(taken < 200_000, "{start}: {taken}");
        }
        let (outcome, taken) = scanned("<sheetData>", b"<row><c><v>1</v></c></row>", "xl/worksheets/sheet1.xml");
        assert_eq!(outcome, Ok(taken + 11));
        // Mismatched end tags would let a text continue after its cell.
        let (outcome, _) = scanned("<c><is></c>", b"<t>x</t>", "xl/worksheets/sheet1.xml");
        assert!(matches!(outcome, Err(SheetError::Broken(_))), "{outcome:?}");
    }

    #[test]
    fn entries_that_are_not_xml_are_only_measured() {
        for picture in [b"\x89PNG<\xFF</a>".as_slice(), b"\xFF<\xFD>\xFE"] {
            let (outcome, taken) = scanned("", picture, "xl/media/image1.png");
            assert_eq!(outcome, Ok(taken));
            assert!(taken > 19 << 20);
        }
    }

    #[test]
    fn entries_held_in_memory_are_bounded() {
        let large = Err(SheetError::TooLarge("its unpacked size"));
        for name in ["xl/styles.xml", "xl/_rels/workbook.xml.rels"] {
            assert_eq!(scanned("<cellXfs>", b"<xf/>", name).0, large);
            let padded = format!("<xf>{}</xf>", " ".repeat(50_000));
            assert_eq!(scanned("<cellXfs>", padded.as_bytes(), name).0, large);
        }
    }
}
