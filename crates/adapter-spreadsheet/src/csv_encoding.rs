//! Encodings of csv files: UTF-8 and UTF-16 by their byte order marks, otherwise UTF-8 or Windows-1251 by their bytes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1251};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use kontor_catalog::spreadsheet::SheetError;

/// Size of a read, in bytes.
const BUFFER: usize = 64 << 10;
/// Longest part of a line that is examined at once, in bytes.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// Returns the file from its start as UTF-8 without a byte order mark. Invalid UTF-8 is kept and reported for its cell.
pub(crate) fn text(
    mut file: File,
    encoding: &'static Encoding,
) -> Result<DecodeReaderBytes<File, Vec<u8>>, SheetError> {
    file.rewind().map_err(crate::broken)?;
    let mut builder = DecodeReaderBytesBuilder::new();
    builder.encoding(Some(encoding).filter(|encoding| *encoding != UTF_8)).strip_bom(true).utf8_passthru(true);
    Ok(builder.build(file))
}

/// Detects the encoding of a file by reading it to its end.
pub(crate) fn encoding(file: &mut File) -> Result<&'static Encoding, SheetError> {
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
