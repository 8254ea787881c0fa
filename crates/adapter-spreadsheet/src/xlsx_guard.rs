//! What a workbook unpacks to, found out before any of it is interpreted.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use kontor_catalog::spreadsheet::SheetRefused;
use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipArchive;

use crate::limits::Limits;
use crate::pace::Pace;
use crate::xlsx_parts;
use crate::xlsx_scan::{self, Bounds, Found};

/// Below this size a high ratio harms nobody.
const HARMLESS: u64 = 4 << 20;

/// Opens the directory of an archive, unless it has too many files.
pub(crate) fn open<'a>(file: &'a File, limits: &Limits) -> Result<ZipArchive<BufReader<&'a File>>, SheetRefused> {
    if announces_more(file, limits.entries).map_err(crate::broken)? {
        return Err(SheetRefused::TooLarge("the number of files in it"));
    }
    let archive = ZipArchive::new(BufReader::new(file)).map_err(|_| SheetRefused::NotASpreadsheet)?;
    if archive.len() > limits.entries {
        return Err(SheetRefused::TooLarge("the number of files in it"));
    }
    Ok(archive)
}

/// Refuses archives that unpack to too much. The sizes an archive declares of itself are believed only when they are too
/// large: what matters is what really comes out.
pub(crate) fn check(file: &File, limits: &Limits, pace: &mut Pace<'_>) -> Result<Found, SheetRefused> {
    let mut archive = open(file, limits)?;
    let workbook = xlsx_parts::workbook(&mut archive)?.to_ascii_lowercase();
    let (mut inflated, mut found) = (0_u64, Found::default());
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|_| SheetRefused::NotASpreadsheet)?;
        let (packed, declared) = (entry.compressed_size(), entry.size());
        if entry.encrypted() {
            return Err(SheetRefused::OldOrEncrypted);
        }
        drop(entry);
        let room = limits.inflated_bytes.saturating_sub(inflated);
        if declared > room {
            return Err(SheetRefused::TooLarge("what it unpacks to"));
        }
        let name = archive.name_for_index(index).and_then(Result::ok).unwrap_or_default().to_ascii_lowercase();
        let bounds = Bounds::of(&name, name == workbook, room, limits);
        let entry = archive.by_index(index).map_err(crate::broken)?;
        let actual = xlsx_scan::scan(entry, &bounds, &mut found, pace)?;
        if name.ends_with("sharedstrings.xml")
            && lies(BufReader::new(archive.by_index(index).map_err(crate::broken)?), actual)
        {
            return Err(SheetRefused::TooLarge("the number of texts it announces"));
        }
        inflated = inflated.saturating_add(actual);
        if inflated > limits.inflated_bytes || (actual > HARMLESS && actual / packed.max(1) > limits.ratio) {
            return Err(SheetRefused::TooLarge("what it unpacks to"));
        }
    }
    Ok(found)
}

/// Where the end of the directory can be: 22 bytes and the longest comment before the end of the file, and 20 bytes before
/// them that lead to the end of a large directory.
const TAIL: u64 = 20 + 22 + 65_535;

/// Whether the end of a large directory announces more entries, or cannot be found. The directory is in memory as soon as
/// the archive is opened, which is too late for very many; an ordinary one never has more than 65,535.
fn announces_more(mut file: &File, entries: usize) -> io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let leads = |window: &[u8]| {
        let place = window.split_last_chunk().map(|(_, place)| u64::from_le_bytes(*place));
        place.filter(|_| window.starts_with(b"PK\x06\x07"))
    };
    for place in tail.windows(16).filter_map(leads) {
        // Behind the end nothing is read.
        file.seek(SeekFrom::Start(place.min(length)))?;
        let mut end = Vec::new();
        file.take(40).read_to_end(&mut end)?;
        let total = end.split_last_chunk().map(|(_, total)| u64::from_le_bytes(*total));
        let is_end = end.len() == 40 && end.starts_with(b"PK\x06\x06");
        let total = total.filter(|_| is_end).and_then(|total| usize::try_from(total).ok());
        if total.is_none_or(|total| total > entries) {
            return Ok(true);
        }
    }
    file.rewind()?;
    Ok(false)
}

/// A text takes at least `<si/>` in its table.
const SHORTEST_TEXT: u64 = 5;

/// Whether a table of texts announces more of them than can stand in it. Whoever reads it makes room for as many as it
/// announces, whatever comes.
fn lies(table: impl BufRead, size: u64) -> bool {
    let mut reader = Reader::from_reader(table);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(tag)) if tag.local_name().as_ref() == "sst" => {
                let mut attributes = tag.attributes();
                let attributes = attributes.with_checks(false).filter_map(Result::ok);
                let mut counts = attributes.filter(|one| one.key.as_ref() == "uniqueCount");
                return counts.any(|one| {
                    let digits: String = one.value.chars().filter(char::is_ascii_digit).collect();
                    let count: u64 = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(u64::MAX) };
                    count > size / SHORTEST_TEXT + 1
                });
            }
            // What cannot be read is refused by whoever reads it.
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}
