//! JPEG. The decoder accepts truncated photos, so the end is checked first.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

use kontor_content::model::MediaType;

use super::{Damaged, decode, decoding_lock, open};

/// Decodes the data between the first mark and the last. Bytes after it are written by cameras and never shown.
pub(super) fn check(mut content: BufReader<&File>) -> Result<(), Damaged> {
    if !ends(&mut content)? {
        return Err(Damaged);
    }
    content.rewind()?;
    let _turn = decoding_lock();
    decode(open(content, MediaType::Jpeg)?)
}

/// Returns the photo without segments of cameras and programs, and without bytes after its end. `None` if it has no
/// end.
pub(super) fn without_metadata(photo: &[u8]) -> Option<Vec<u8>> {
    let mut bare = vec![0xFF, 0xD8];
    let mut rest = photo.strip_prefix(&[0xFF, 0xD8])?;
    let mut in_scan = false;
    loop {
        let (data, marked) = rest.split_at_checked(rest.iter().position(|byte| *byte == 0xFF)?)?;
        if in_scan {
            bare.extend(data);
        }
        let behind = marked.get(marked.iter().position(|byte| *byte != 0xFF)?..)?;
        let (mark, behind) = behind.split_first()?;
        rest = behind;
        match mark {
            0xD9 => {
                bare.extend([0xFF, 0xD9]);
                return Some(bare);
            }
            0x00 | 0x01 | 0xD0..=0xD7 => bare.extend([0xFF, *mark]),
            _ => {
                let length = u16::from_be_bytes(*behind.first_chunk()?);
                let (segment, behind) = behind.split_at_checked(usize::from(length))?;
                rest = behind;
                in_scan = *mark == 0xDA;
                let content = segment.get(2..)?;
                if *mark == 0xE0 {
                    bare.extend(jfif(content).into_iter().flatten());
                } else if is_shown(*mark, content) {
                    bare.extend([0xFF, *mark]);
                    bare.extend(segment);
                }
            }
        }
    }
}

/// Returns the segment with version and density, without a preview.
fn jfif(content: &[u8]) -> Option<Vec<u8>> {
    let densities = content.get(..12).filter(|content| content.starts_with(b"JFIF\0"))?;
    Some([&[0xFF, 0xE0, 0, 16], densities, &[0, 0]].concat())
}

/// Returns `true` if a segment affects the look of the photo: sizes, color profile, printer colors.
fn is_shown(mark: u8, content: &[u8]) -> bool {
    match mark {
        0xE2 => content.starts_with(b"ICC_PROFILE\0"),
        0xEE => content.starts_with(b"Adobe"),
        0xE1..=0xEF | 0xFE => false,
        _ => true,
    }
}

/// Returns `true` if the file has picture data and an end mark.
fn ends(content: &mut BufReader<&File>) -> io::Result<bool> {
    let mut has_picture = false;
    if next(content)? != Some(0xFF) || next(content)? != Some(0xD8) {
        return Ok(false);
    }
    loop {
        content.skip_until(0xFF)?;
        let mark = loop {
            match next(content)? {
                Some(0xFF) => {}
                Some(mark) => break mark,
                None => return Ok(false),
            }
        };
        match mark {
            0xD9 => return Ok(has_picture),
            // A byte of the picture, and marks without contents.
            0x00 | 0x01 | 0xD0..=0xD7 => {}
            _ => {
                has_picture |= mark == 0xDA;
                let mut length = [0; 2];
                match content.read_exact(&mut length) {
                    Ok(()) => {}
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
                    Err(error) => return Err(error),
                }
                // Nothing is read beyond the end.
                content.seek_relative(i64::from(u16::from_be_bytes(length)).saturating_sub(2).max(0))?;
            }
        }
    }
}

fn next(content: &mut BufReader<&File>) -> io::Result<Option<u8>> {
    let byte = content.fill_buf()?.first().copied();
    content.consume(usize::from(byte.is_some()));
    Ok(byte)
}
