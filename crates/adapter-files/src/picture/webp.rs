//! WebP, with one frame or many.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use image::AnimationDecoder;
use image::codecs::webp::WebPDecoder;
use kontor_content::model::MediaType;

use super::{Damaged, MAX_PIXELS, decode, decoding_lock, open, size_of};

/// Decodes all frames, of a long animation the first ones. Bytes after the end stated in the header are never shown.
pub(super) fn check(mut content: BufReader<&File>) -> Result<(), Damaged> {
    if !has_all_parts(&mut content)? {
        return Err(Damaged);
    }
    content.rewind()?;
    let _turn = decoding_lock();
    let decoder = WebPDecoder::new(&mut content)?;
    if !decoder.has_animation() {
        drop(decoder);
        content.rewind()?;
        return decode(open(content, MediaType::Webp)?);
    }
    let size = size_of(&decoder)?;
    let area = u64::from(size.width()) * u64::from(size.height());
    for frame in decoder.into_frames().take(usize::try_from(MAX_PIXELS / area.max(1))?) {
        frame?;
    }
    Ok(())
}

/// Returns `true` if the chunks fill the length in the header, and the file contains all of it.
fn has_all_parts(content: &mut BufReader<&File>) -> Result<bool, Damaged> {
    let length = content.seek(SeekFrom::End(0))?;
    content.rewind()?;
    let mut head = [0; 12];
    content.read_exact(&mut head)?;
    let end = 8 + part_length(&head)?;
    if !head.starts_with(b"RIFF") || !head.ends_with(b"WEBP") || end > length {
        return Ok(false);
    }
    let mut place = 12;
    while place < end {
        content.seek(SeekFrom::Start(place))?;
        let mut part = [0; 8];
        content.read_exact(&mut part)?;
        let length = part_length(&part)?;
        // Chunks start at even positions.
        place += 8 + length + length % 2;
    }
    // The last chunk may lack its padding byte.
    Ok(place <= end + 1)
}

fn part_length(head: &[u8]) -> Result<u64, Damaged> {
    let length = head.get(4..8).and_then(|length| length.first_chunk()).ok_or(Damaged)?;
    Ok(u64::from(u32::from_le_bytes(*length)))
}
