//! PDF check: the end leads to the object table, and the table to the root object.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// Number of last bytes that contain the end mark; some programs write a few others after it.
const TAIL: u64 = 2 * 1024;
/// Maximum bytes of a dictionary that are searched.
const DICTIONARY: u64 = 64 * 1024;

/// Returns `true` if a document has an end that leads to `startxref`, a table or stream of objects, and their root. A
/// truncated document lacks at least one of them.
pub(crate) fn is_whole(content: &File) -> io::Result<bool> {
    let mut content = BufReader::new(content);
    let length = content.seek(SeekFrom::End(0))?;
    let tail = length.min(TAIL);
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
