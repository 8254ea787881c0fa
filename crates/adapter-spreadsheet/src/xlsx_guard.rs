//! Files of a workbook by their role, and their unpacked size, determined before the workbook is interpreted. The
//! writing program chooses the names of the files; relationships define the roles.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom};

use kontor_catalog::spreadsheet::SheetError;
use quick_xml::Reader;
use quick_xml::events::Event;
use zip::{ZipArchive, ZipWriter};

use crate::limits::{Limits, PeriodicCheck};
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
pub(crate) fn check(file: &File, limits: &Limits, periodic_check: &mut PeriodicCheck<'_>) -> Result<Found, SheetError> {
    let mut archive = open(file, limits)?;
    let workbook = workbook(&mut archive)?.to_ascii_lowercase();
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
        let actual = xlsx_scan::scan(entry, &bounds, &mut found, periodic_check)?;
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

/// Default name of the list of sheets, unless the relationships define another one.
const DEFAULT_WORKBOOK: &str = "xl/workbook.xml";
/// Maximum bytes read of a list of relationships.
const MAX_LIST_BYTES: u64 = 1 << 20;

/// A file that a relationship refers to.
struct Related {
    kind: String,
    target: String,
}

type Archive<'a> = ZipArchive<BufReader<&'a File>>;

/// Returns the name of the file with the list of sheets.
pub(crate) fn workbook(archive: &mut Archive<'_>) -> Result<String, SheetError> {
    let root = related(archive, "_rels/.rels")?;
    let main = root.into_iter().find(|part| part.kind.ends_with("/officeDocument"));
    let main = main.map_or(DEFAULT_WORKBOOK.to_owned(), |part| part.target.trim_start_matches('/').to_owned());
    Some(main).filter(|name| archive.index_for_name(name).is_some()).ok_or(SheetError::NotASpreadsheet)
}

/// Returns the workbook with the default names for its texts and styles, if it has others. The reader only finds the
/// default names, and would read a date as a number.
pub(crate) fn with_usual_names(file: &File, archive: &mut Archive<'_>) -> Result<Option<File>, SheetError> {
    let workbook = workbook(archive)?;
    let (folder, name) =
        workbook.rsplit_once('/').map_or((String::new(), &*workbook), |(folder, name)| (format!("{folder}/"), name));
    let mut names = Vec::new();
    for part in related(archive, &format!("{folder}_rels/{name}.rels"))? {
        let usual = match part.kind.rsplit('/').next() {
            Some("sharedStrings") => "sharedStrings.xml",
            Some("styles") => "styles.xml",
            _ => continue,
        };
        let target =
            part.target.strip_prefix('/').map_or_else(|| format!("{folder}{}", part.target), ToOwned::to_owned);
        let usual = format!("{folder}{usual}");
        if target != usual && archive.index_for_name(&target).is_some() {
            names.push((target, usual));
        }
    }
    if names.is_empty() { Ok(None) } else { renamed(file, &names).map(Some) }
}

fn related(archive: &mut Archive<'_>, list: &str) -> Result<Vec<Related>, SheetError> {
    let Some(index) = archive.index_for_name(list) else { return Ok(Vec::new()) };
    let list = archive.by_index(index).map_err(crate::broken)?.take(MAX_LIST_BYTES);
    let mut reader = Reader::from_reader(BufReader::new(list));
    let (mut parts, mut buffer) = (Vec::new(), Vec::new());
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(crate::broken)? {
            Event::Eof => return Ok(parts),
            Event::Start(tag) | Event::Empty(tag) if tag.local_name().as_ref() == "Relationship" => {
                let (mut kind, mut target) = (String::new(), String::new());
                for attribute in tag.attributes().with_checks(false).filter_map(Result::ok) {
                    match attribute.key.as_ref() {
                        "Type" => kind = attribute.value.into_owned(),
                        "Target" => target = attribute.value.into_owned(),
                        _ => {}
                    }
                }
                parts.push(Related { kind, target });
            }
            _ => {}
        }
    }
}

fn renamed(file: &File, names: &[(String, String)]) -> Result<File, SheetError> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(crate::broken)?;
    let mut whole = ZipWriter::new(BufWriter::new(tempfile::tempfile().map_err(crate::broken)?));
    for index in 0..archive.len() {
        let name = name(&archive, index);
        // A file that has a default name without the role is not copied.
        if names.iter().any(|(_, usual)| *usual == name) {
            continue;
        }
        let usual = names.iter().find(|(target, _)| *target == name).map_or(name.clone(), |(_, usual)| usual.clone());
        let entry = archive.by_index_raw(index).map_err(crate::broken)?;
        whole.raw_copy_file_rename(entry, usual).map_err(crate::broken)?;
    }
    finished(whole)
}

/// Returns the name of an entry. A name that is not text is irrelevant here.
pub(crate) fn name<R: Read + Seek>(archive: &ZipArchive<R>, index: usize) -> String {
    archive.name_for_index(index).and_then(Result::ok).map(Cow::into_owned).unwrap_or_default()
}

/// Completes an archive and returns its file, ready to be read.
pub(crate) fn finished(archive: ZipWriter<BufWriter<File>>) -> Result<File, SheetError> {
    let buffered = archive.finish().map_err(crate::broken)?;
    let mut file = buffered.into_inner().map_err(|error| crate::broken(error.error()))?;
    file.rewind().map_err(crate::broken)?;
    Ok(file)
}
