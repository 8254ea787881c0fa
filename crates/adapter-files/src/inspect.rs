//! Recognition of contents by their bytes: checks of pictures, PDF documents, and documents in zip archives.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use kontor_content::model::{Inspection, MediaType, PictureWidth};
use kontor_content::ports::{ContentInspector, PictureResizer, Published, StorageFailed};
use zip::ZipArchive;

use crate::picture;

/// Number of bytes read to recognize a content.
const START: u64 = 8 * 1024;

/// Recognizes contents by their bytes, and checks that they are complete.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inspector;

impl ContentInspector for Inspector {
    fn inspect(&self, content: &File) -> Result<Inspection, StorageFailed> {
        detect(content).map_err(|error| StorageFailed(error.to_string()))
    }

    fn publish(&self, content: &File, media: MediaType) -> Result<Option<Published>, StorageFailed> {
        let published = catch_unwind(AssertUnwindSafe(|| picture::publish(content, media)));
        published.unwrap_or(Ok(None)).map_err(|error| StorageFailed(error.to_string()))
    }
}

impl PictureResizer for Inspector {
    fn resize(&self, content: &[u8], media: MediaType, width: PictureWidth) -> Option<Bytes> {
        let resized = catch_unwind(AssertUnwindSafe(|| picture::resize(content, media, width)));
        resized.ok()?.map(Bytes::from)
    }
}

fn detect(mut content: &File) -> io::Result<Inspection> {
    let mut start = Vec::new();
    content.rewind()?;
    content.take(START).read_to_end(&mut start)?;
    content.rewind()?;
    if start.is_empty() {
        return Ok(Inspection::Empty);
    }
    if start.starts_with(b"PK\x03\x04") {
        return detect_archive(content);
    }
    let known = infer::get(&start).and_then(|kind| MediaType::parse(kind.mime_type()).ok());
    match known {
        Some(media) if media.is_image() => {
            // A decoder that panics has met an unsupported content.
            let seen = catch_unwind(AssertUnwindSafe(|| picture::detect(content, media)));
            seen.unwrap_or(Ok(Inspection::Damaged(media)))
        }
        Some(MediaType::Pdf) if !is_whole_pdf(content)? => Ok(Inspection::Damaged(MediaType::Pdf)),
        Some(media) => Ok(Inspection::Document(media)),
        None => Ok(Inspection::Unknown),
    }
}

/// Maximum entries, more than any document has. A larger directory takes much memory to read.
const MAX_ENTRIES: u64 = 10_000;
/// Maximum distance of the end of the directory from the end of the file: 22 bytes and the longest comment, and 20
/// bytes before them for the locator of a large directory.
const DIRECTORY_TAIL: u64 = 20 + 22 + 65_535;
/// Maximum bytes unpacked of one document; later entries are accepted unchecked.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Entries with macros in documents.
const MACROS: [&str; 3] = ["word/vbaProject.bin", "xl/vbaProject.bin", "Basic/script-lc.xml"];

/// Recognizes an archive by the entry that makes it a document.
pub(crate) fn detect_archive(content: &File) -> io::Result<Inspection> {
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
    if is_whole_archive(&mut archive) { Ok(Inspection::Document(media)) } else { Ok(Inspection::Damaged(media)) }
}

/// Returns `true` if all entries exist and match their checksums. Entries that share content would be unpacked once for
/// each of them: the work would no longer depend on the size of the file.
fn is_whole_archive(archive: &mut ZipArchive<BufReader<&File>>) -> bool {
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
    content.seek(SeekFrom::Start(length.saturating_sub(DIRECTORY_TAIL)))?;
    let mut tail = Vec::new();
    content.take(DIRECTORY_TAIL).read_to_end(&mut tail)?;
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

/// Number of last bytes that contain the end mark; some programs write a few others after it.
const PDF_TAIL: u64 = 2 * 1024;
/// Maximum bytes of a dictionary that are searched.
const DICTIONARY: u64 = 64 * 1024;

/// Returns `true` if a document has an end that leads to `startxref`, a table or stream of objects, and their root. A
/// truncated document lacks at least one of them.
pub(crate) fn is_whole_pdf(content: &File) -> io::Result<bool> {
    let mut content = BufReader::new(content);
    let length = content.seek(SeekFrom::End(0))?;
    let tail = length.min(PDF_TAIL);
    content.seek(SeekFrom::Start(length - tail))?;
    let mut end = Vec::new();
    content.read_to_end(&mut end)?;
    let Some(place) = table(&end).filter(|place| *place < length) else { return Ok(false) };
    content.seek(SeekFrom::Start(place))?;
    let Some(first) = word(&mut content)? else { return Ok(false) };
    let dictionary = if first == "xref" {
        entries(&mut content, length)?
    } else {
        // `7 0 obj` with the table as a stream.
        let second = word(&mut content)?.unwrap_or_default();
        let third = word(&mut content)?.unwrap_or_default();
        first.parse::<u64>().is_ok() && second.parse::<u64>().is_ok() && third.starts_with("obj")
    };
    if !dictionary {
        return Ok(false);
    }
    let mut dictionary = Vec::new();
    content.take(DICTIONARY).read_to_end(&mut dictionary)?;
    Ok(find(&dictionary, b"/Root").is_some())
}

/// Returns the position of the object table, from the last `startxref` before the last end mark.
fn table(end: &[u8]) -> Option<u64> {
    let (before, _) = end.split_at_checked(find_last(end, b"%%EOF")?)?;
    let (_, leads) = before.split_at_checked(find_last(before, b"startxref")?)?;
    let number = str::from_utf8(leads).ok()?.strip_prefix("startxref")?;
    number.trim().parse().ok()
}

/// Reads a table up to its trailer. Every entry must point into the file.
fn entries(content: &mut BufReader<&File>, length: u64) -> io::Result<bool> {
    loop {
        let Some(first) = word(content)? else { return Ok(false) };
        if first.starts_with("trailer") {
            return Ok(true);
        }
        let number = |text: Option<String>| text.and_then(|text| text.parse::<u64>().ok());
        let (Ok(_), Some(count)) = (first.parse::<u64>(), number(word(content)?)) else { return Ok(false) };
        for _ in 0..count {
            let (place, _, kind) = (number(word(content)?), word(content)?, word(content)?);
            let fits = match kind.as_deref() {
                Some("n") => place.is_some_and(|place| place < length),
                Some("f") => place.is_some(),
                _ => false,
            };
            if !fits {
                return Ok(false);
            }
        }
    }
}

/// Returns the text up to the next white space or bracket, at most 20 bytes.
fn word(content: &mut BufReader<&File>) -> io::Result<Option<String>> {
    let mut word = String::new();
    while let Some(byte) = content.fill_buf()?.first().copied() {
        let parts = byte.is_ascii_whitespace() || byte == 0;
        if (parts && !word.is_empty()) || byte == b'<' || word.len() == 20 {
            break;
        }
        content.consume(1);
        if !parts {
            word.push(char::from(byte));
        }
    }
    Ok(Some(word).filter(|word| !word.is_empty()))
}

fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}

fn find_last(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).rposition(|window| window == text)
}
