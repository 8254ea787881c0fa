//! Workbooks with very many texts. A workbook stores the texts of its cells in one table, which readers load
//! completely. A table that is too large for the memory is written to a temporary file, and the texts are inserted into
//! the cells.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use kontor_catalog::spreadsheet::SheetError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, Writer};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::limits::{Limits, PeriodicCheck};
use crate::xlsx_guard::{finished, name};

/// Maximum unpacked size of a table that stays in memory.
const SMALL: u64 = 16 << 20;
/// Minimum memory of a text, in bytes.
const MIN_TEXT_MEMORY: u64 = 24;

fn is_table(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("sharedstrings.xml")
}

/// Returns `true` if the file can be a sheet. Sheets can have any name.
fn is_sheet(name: &str) -> bool {
    let is_xml = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
    is_xml && !is_table(name)
}

/// Returns `true` if the table of texts is too large for the memory, or states a number of texts that is. The reader
/// allocates memory for the stated number.
pub(crate) fn too_many(file: &File) -> Result<bool, SheetError> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(crate::broken)?;
    for index in 0..archive.len() {
        if !is_table(&name(&archive, index)) {
            continue;
        }
        let entry = archive.by_index(index).map_err(crate::broken)?;
        if entry.size() > SMALL {
            return Ok(true);
        }
        let mut start = Vec::new();
        entry.take(4096).read_to_end(&mut start).map_err(crate::broken)?;
        let announced = String::from_utf8_lossy(&start).split("uniqueCount=").nth(1).map(|rest| {
            let digits: String = rest.chars().skip(1).take_while(char::is_ascii_digit).collect();
            digits.parse::<u64>().unwrap_or(u64::MAX)
        });
        if announced.unwrap_or_default().saturating_mul(MIN_TEXT_MEMORY) > SMALL {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the workbook with its texts in the cells.
pub(crate) fn put_into_cells(
    file: &File,
    limits: &Limits,
    periodic_check: &mut PeriodicCheck<'_>,
) -> Result<File, SheetError> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(crate::broken)?;
    let table = (0..archive.len()).find(|index| is_table(&name(&archive, *index)));
    let table = table.ok_or_else(|| crate::broken("it has no texts"))?;
    let texts = Texts::spill(BufReader::new(archive.by_index(table).map_err(crate::broken)?), periodic_check)?;
    let mut whole = ZipWriter::new(BufWriter::new(tempfile::tempfile().map_err(crate::broken)?));
    let options = SimpleFileOptions::default().compression_level(Some(1)).large_file(true);
    let mut room = limits.inflated_bytes;
    for index in 0..archive.len() {
        let name = name(&archive, index);
        if is_sheet(&name) {
            whole.start_file(name, options).map_err(crate::broken)?;
            let source = BufReader::new(archive.by_index(index).map_err(crate::broken)?);
            room = fill(source, Bounded { inner: &mut whole, room }, &texts, periodic_check)?;
        } else if !is_table(&name) {
            whole.raw_copy_file(archive.by_index_raw(index).map_err(crate::broken)?).map_err(crate::broken)?;
        }
    }
    finished(whole)
}

/// Texts as in the table, one after the other, and their positions.
struct Texts {
    texts: File,
    places: File,
}

impl Texts {
    fn spill(table: impl BufRead, periodic_check: &mut PeriodicCheck<'_>) -> Result<Self, SheetError> {
        let open = || tempfile::tempfile().map_err(crate::broken);
        let (mut texts, mut places) = (Writer::new(BufWriter::new(open()?)), BufWriter::new(open()?));
        let mut reader = Reader::from_reader(table);
        reader.config_mut().check_end_names = false;
        let (mut start, mut inside, mut buffer) = (0_u64, false, Vec::new());
        loop {
            periodic_check.advance(buffer.len())?;
            buffer.clear();
            let event = reader.read_event_into(&mut buffer).map_err(crate::broken)?;
            match event {
                Event::Eof => break,
                Event::Start(tag) if tag.local_name().as_ref() == "si" => {
                    places.write_all(&start.to_le_bytes()).map_err(crate::broken)?;
                    inside = true;
                }
                Event::Empty(tag) if tag.local_name().as_ref() == "si" => {
                    places.write_all(&start.to_le_bytes()).map_err(crate::broken)?;
                }
                Event::End(tag) if tag.local_name().as_ref() == "si" => {
                    inside = false;
                    start = texts.get_mut().stream_position().map_err(crate::broken)?;
                }
                event if inside => texts.write_event(event).map_err(crate::broken)?,
                _ => {}
            }
        }
        places.write_all(&start.to_le_bytes()).map_err(crate::broken)?;
        let written = |file: BufWriter<File>| file.into_inner().map_err(|error| crate::broken(error.error()));
        Ok(Self { texts: written(texts.into_inner())?, places: written(places)? })
    }

    /// Reads the text with this number, as XML.
    fn read(&self, number: u64, text: &mut Vec<u8>) -> io::Result<()> {
        let mut place = [[0; 8]; 2];
        self.places.read_exact_at(place.as_flattened_mut(), number.saturating_mul(8))?;
        let [start, end] = place.map(u64::from_le_bytes);
        text.resize(usize::try_from(end.saturating_sub(start)).unwrap_or_default(), 0);
        self.texts.read_exact_at(text, start)
    }
}

/// Writer with a limit: a few texts in very many cells may exceed the size of the archive.
struct Bounded<W> {
    inner: W,
    room: u64,
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.room = self.room.checked_sub(size).ok_or_else(|| io::Error::from(ErrorKind::FileTooLarge))?;
        self.inner.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn refused(error: io::Error) -> SheetError {
    match error.kind() {
        ErrorKind::FileTooLarge => SheetError::TooLarge("its unpacked size"),
        ErrorKind::UnexpectedEof => crate::broken("a cell refers to a missing text"),
        _ => crate::broken(error),
    }
}

/// Copies a sheet. Returns the remaining room.
fn fill<W: Write>(
    sheet: impl BufRead,
    target: Bounded<W>,
    texts: &Texts,
    periodic_check: &mut PeriodicCheck<'_>,
) -> Result<u64, SheetError> {
    let mut reader = Reader::from_reader(sheet);
    reader.config_mut().check_end_names = false;
    let mut writer = Writer::new(target);
    let (mut buffer, mut number, mut text) = (Vec::new(), String::new(), Vec::new());
    // `true` inside a cell with a text of the table, and inside the number of the text.
    let (mut in_cell, mut in_number) = (false, false);
    loop {
        periodic_check.advance(buffer.len())?;
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(crate::broken)? {
            Event::Eof => break,
            Event::Start(cell) if names_a_text(&cell) => {
                (in_cell, in_number) = (true, false);
                number.clear();
                writer.write_event(Event::Start(with_text(&cell))).map_err(refused)?;
            }
            Event::Start(tag) if in_cell => in_number = tag.local_name().as_ref() == "v",
            Event::Text(digits) if in_cell && in_number => number.push_str(&digits),
            Event::End(cell) if in_cell && cell.local_name().as_ref() == "c" => {
                in_cell = false;
                if let Ok(number) = number.trim().parse() {
                    texts.read(number, &mut text).map_err(refused)?;
                    periodic_check.advance(text.len())?;
                    let inner = writer.get_mut();
                    for piece in [b"<is>".as_slice(), &text, b"</is>"] {
                        inner.write_all(piece).map_err(refused)?;
                    }
                }
                writer.write_event(Event::End(cell)).map_err(refused)?;
            }
            Event::End(_) if in_cell => in_number = false,
            _ if in_cell => {}
            event => writer.write_event(event).map_err(refused)?,
        }
    }
    Ok(writer.into_inner().room)
}

fn names_a_text(cell: &BytesStart<'_>) -> bool {
    cell.local_name().as_ref() == "c"
        && cell.attributes().flatten().any(|attribute| attribute.key.as_ref() == "t" && &*attribute.value == "s")
}

fn with_text<'a>(cell: &'a BytesStart<'_>) -> BytesStart<'a> {
    let mut inline = BytesStart::new(cell.name().into_inner());
    for attribute in cell.attributes().flatten().filter(|attribute| attribute.key.as_ref() != "t") {
        inline.push_attribute(attribute);
    }
    inline.push_attribute(("t", "inlineStr"));
    inline
}
