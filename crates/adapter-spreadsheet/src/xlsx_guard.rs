//! Unpacked size of a workbook, determined before it is interpreted.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use kontor_catalog::spreadsheet::SheetError;
use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipArchive;

use crate::limits::{Limits, Pace};
use crate::xlsx_parts;
use crate::xlsx_scan::{self, Bounds, Found};

/// Size below which a high ratio is harmless.
const MAX_UNCHECKED_BYTES: u64 = 4 << 20;

/// Opens the directory of an archive, unless it has too many files or files that share content. The latter would be
/// unpacked once for each of them: the work would no longer depend on the size of the archive.
pub(crate) fn open<'a>(file: &'a File, limits: &Limits) -> Result<ZipArchive<BufReader<&'a File>>, SheetError> {
    if has_more_entries(file, limits.entries).map_err(crate::broken)? {
        return Err(SheetError::TooLarge("the number of files in it"));
    }
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|_| SheetError::NotASpreadsheet)?;
    if archive.len() > limits.entries {
        return Err(SheetError::TooLarge("the number of files in it"));
    }
    if archive.has_overlapping_files().unwrap_or(true) {
        return Err(SheetError::NotASpreadsheet);
    }
    Ok(archive)
}

/// Refuses archives that unpack to too much. Sizes declared by the archive only serve to refuse it; the limits apply to
/// the bytes that are really unpacked.
pub(crate) fn check(file: &File, limits: &Limits, pace: &mut Pace<'_>) -> Result<Found, SheetError> {
    let mut archive = open(file, limits)?;
    let workbook = xlsx_parts::workbook(&mut archive)?.to_ascii_lowercase();
    let (mut inflated, mut found) = (0_u64, Found::default());
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|_| SheetError::NotASpreadsheet)?;
        let (packed, declared) = (entry.compressed_size(), entry.size());
        if entry.encrypted() {
            return Err(SheetError::OldOrEncrypted);
        }
        drop(entry);
        let room = limits.inflated_bytes.saturating_sub(inflated);
        if declared > room {
            return Err(SheetError::TooLarge("its unpacked size"));
        }
        let name = archive.name_for_index(index).and_then(Result::ok).unwrap_or_default().to_ascii_lowercase();
        let bounds = Bounds::of(&name, name == workbook, room, limits);
        let entry = archive.by_index(index).map_err(crate::broken)?;
        let actual = xlsx_scan::scan(entry, &bounds, &mut found, pace)?;
        if name.ends_with("sharedstrings.xml")
            && is_overstated(BufReader::new(archive.by_index(index).map_err(crate::broken)?), actual)
        {
            return Err(SheetError::TooLarge("the declared number of texts"));
        }
        inflated = inflated.saturating_add(actual);
        if inflated > limits.inflated_bytes || (actual > MAX_UNCHECKED_BYTES && actual / packed.max(1) > limits.ratio) {
            return Err(SheetError::TooLarge("its unpacked size"));
        }
    }
    Ok(found)
}

/// Maximum distance of the end of the directory from the end of the file: 22 bytes and the longest comment, and 20
/// bytes before them for the locator of a large directory.
const TAIL: u64 = 20 + 22 + 65_535;

/// Returns `true` if the end of a large directory states more entries, or cannot be found. Opening the archive loads
/// the directory into memory, which would be too late for very many entries. An ordinary directory has at most 65,535.
fn has_more_entries(mut file: &File, entries: usize) -> io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let leads = |window: &[u8]| {
        let place = window.split_last_chunk().map(|(_, place)| u64::from_le_bytes(*place));
        place.filter(|_| window.starts_with(b"PK\x06\x07"))
    };
    for place in tail.windows(16).filter_map(leads) {
        // Nothing is read beyond the end.
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

/// Minimum size of a text in its table: `<si/>`.
const MIN_TEXT_BYTES: u64 = 5;

/// Returns `true` if a table of texts states more texts than fit into it. The reader allocates memory for the stated
/// number.
fn is_overstated(table: impl BufRead, size: u64) -> bool {
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
                    count > size / MIN_TEXT_BYTES + 1
                });
            }
            // The reader refuses unreadable content.
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}
