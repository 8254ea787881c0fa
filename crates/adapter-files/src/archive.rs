//! Documents in zip archives, recognized by the names of their entries. Entries are unpacked without storing them, to
//! check the checksums.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use kontor_content::model::{Inspection, MediaType};
use zip::ZipArchive;

/// Maximum entries, more than any document has. A larger directory takes much memory to read.
const MAX_ENTRIES: u64 = 10_000;
/// Maximum distance of the end of the directory from the end of the file: 22 bytes and the longest comment, and 20
/// bytes before them for the locator of a large directory.
const TAIL: u64 = 20 + 22 + 65_535;
/// Maximum bytes unpacked of one document; later entries are accepted unchecked.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Entries with macros in documents.
const MACROS: [&str; 3] = ["word/vbaProject.bin", "xl/vbaProject.bin", "Basic/script-lc.xml"];

/// Recognizes an archive by the entry that makes it a document.
pub(crate) fn detect(content: &File) -> io::Result<Inspection> {
    if is_crowded(content)? {
        return Ok(Inspection::Unknown);
    }
    let Ok(mut archive) = ZipArchive::new(BufReader::new(content)) else { return Ok(Inspection::Unknown) };
    let media = if archive.index_for_name("word/document.xml").is_some() {
        MediaType::Docx
    } else if archive.index_for_name("xl/workbook.xml").is_some() {
        MediaType::Xlsx
    } else {
        match open_document(&mut archive) {
            Some(media) => media,
            None => return Ok(Inspection::Unknown),
        }
    };
    if MACROS.iter().any(|name| archive.index_for_name(name).is_some()) {
        return Ok(Inspection::WithMacros);
    }
    if is_whole(&mut archive) { Ok(Inspection::Document(media)) } else { Ok(Inspection::Damaged(media)) }
}

/// Returns `true` if all entries exist and match their checksums. Entries that share content would be unpacked once for
/// each of them: the work would no longer depend on the size of the file.
fn is_whole(archive: &mut ZipArchive<BufReader<&File>>) -> bool {
    if archive.has_overlapping_files().unwrap_or(true) {
        return false;
    }
    let mut left = MAX_BYTES;
    for place in 0..archive.len() {
        let Ok(entry) = archive.by_index(place) else { return false };
        let Ok(unpacked) = io::copy(&mut entry.take(left), &mut io::sink()) else { return false };
        left = left.saturating_sub(unpacked);
        if left == 0 {
            break;
        }
    }
    true
}

/// Returns the type of an `OpenDocument`, from its first entry.
fn open_document(archive: &mut ZipArchive<BufReader<&File>>) -> Option<MediaType> {
    let mut mime = String::new();
    archive.by_name("mimetype").ok()?.take(100).read_to_string(&mut mime).ok()?;
    [MediaType::Odt, MediaType::Ods].into_iter().find(|media| media.mime() == mime.trim())
}

/// Returns `true` if the end of a large directory states too many entries, or cannot be found. An ordinary directory
/// has at most 65,535.
fn is_crowded(mut content: &File) -> io::Result<bool> {
    let length = content.seek(SeekFrom::End(0))?;
    content.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    content.take(TAIL).read_to_end(&mut tail)?;
    let leads = |window: &[u8]| {
        let place = window.split_last_chunk().map(|(_, place)| u64::from_le_bytes(*place));
        place.filter(|_| window.starts_with(b"PK\x06\x07"))
    };
    for place in tail.windows(16).filter_map(leads) {
        // Nothing is read beyond the end.
        content.seek(SeekFrom::Start(place.min(length)))?;
        let mut end = Vec::new();
        content.take(40).read_to_end(&mut end)?;
        let total = end.split_last_chunk().map(|(_, total)| u64::from_le_bytes(*total));
        let is_end = end.len() == 40 && end.starts_with(b"PK\x06\x06");
        if total.filter(|_| is_end).is_none_or(|total| total > MAX_ENTRIES) {
            return Ok(true);
        }
    }
    content.rewind()?;
    Ok(false)
}
