//! Checks of each format, and copies without metadata. Decoders accept truncated pictures, so the end of a JPEG and of
//! a PNG is checked first.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use gif::DecodeOptions;
use image::AnimationDecoder;
use image::codecs::webp::WebPDecoder;
use kontor_content::model::MediaType;

use super::{Damaged, MAX_PIXELS, decode, decoding_lock, open, size_of};

/// Pixels of a frame that are decoded at a time.
const DECODED_PIXELS: u64 = 64 * 1024;

/// Application extensions that affect the look of an animation: repetition and colors.
const VISIBLE_EXTENSIONS: [&[u8]; 3] = [b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012"];

/// Decodes frame by frame, in pieces, up to the end mark.
pub(super) fn check_gif(content: BufReader<&File>) -> Result<(), Damaged> {
    let mut reader = DecodeOptions::new().read_info(content)?;
    let (mut frames, mut decoded) = (0_u64, 0_u64);
    let mut piece = Vec::new();
    while let Some(frame) = reader.next_frame_info()? {
        frames += 1;
        let mut missing = u64::from(frame.width) * u64::from(frame.height);
        decoded = decoded.saturating_add(missing);
        if decoded > MAX_PIXELS {
            continue;
        }
        while missing > 0 {
            let length = missing.min(DECODED_PIXELS);
            piece.resize(usize::try_from(length)?, 0);
            if !reader.fill_buffer(&mut piece)? {
                return Err(Damaged);
            }
            missing -= length;
        }
    }
    if frames > 0 { Ok(()) } else { Err(Damaged) }
}

/// Returns the animation without comments, texts, data of programs, and bytes after its end. `None` if it has no end.
pub(super) fn gif_without_metadata(animation: &[u8]) -> Option<Vec<u8>> {
    let (head, rest) = animation.split_at_checked(13)?;
    let (colors, mut rest) = rest.split_at_checked(table_length(*head.get(10)?))?;
    let mut bare = [head, colors].concat();
    loop {
        let (length, is_shown) = match rest {
            [0x3B, ..] => {
                bare.push(0x3B);
                return Some(bare);
            }
            // A frame: its position and size, its colors, a byte about its codes, and its pixels.
            [0x2C, ..] => {
                let pixels = 11 + table_length(*rest.get(9)?);
                (pixels + blocks_length(rest.get(pixels..)?)?, true)
            }
            [0x21, label, blocks @ ..] => (2 + blocks_length(blocks)?, is_shown_in_gif(*label, blocks)),
            _ => return None,
        };
        let (part, behind) = rest.split_at_checked(length)?;
        if is_shown {
            bare.extend(part);
        }
        rest = behind;
    }
}

/// Returns `true` if an extension affects the look of the animation: the timing of a frame, repetition, colors.
fn is_shown_in_gif(label: u8, blocks: &[u8]) -> bool {
    match label {
        0xF9 => true,
        0xFF => blocks.get(1..12).is_some_and(|program| VISIBLE_EXTENSIONS.contains(&program)),
        _ => false,
    }
}

/// Returns the size in bytes of the color table that these flags announce.
fn table_length(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 0x07) + 1) }
}

/// Returns the size in bytes of length-prefixed blocks up to an empty one.
fn blocks_length(blocks: &[u8]) -> Option<usize> {
    let mut length = 0;
    loop {
        let block = usize::from(*blocks.get(length)?);
        length += 1 + block;
        if block == 0 {
            return Some(length);
        }
    }
}

/// Decodes the data between the first mark and the last. Bytes after it are written by cameras and never shown.
pub(super) fn check_jpeg(mut content: BufReader<&File>) -> Result<(), Damaged> {
    if !ends_jpeg(&mut content)? {
        return Err(Damaged);
    }
    content.rewind()?;
    let _turn = decoding_lock();
    decode(open(content, MediaType::Jpeg)?)
}

/// Returns the photo without segments of cameras and programs, and without bytes after its end. `None` if it has no
/// end.
pub(super) fn jpeg_without_metadata(photo: &[u8]) -> Option<Vec<u8>> {
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
                } else if is_shown_in_jpeg(*mark, content) {
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
fn is_shown_in_jpeg(mark: u8, content: &[u8]) -> bool {
    match mark {
        0xE2 => content.starts_with(b"ICC_PROFILE\0"),
        0xEE => content.starts_with(b"Adobe"),
        0xE1..=0xEF | 0xFE => false,
        _ => true,
    }
}

/// Returns `true` if the file has picture data and an end mark.
fn ends_jpeg(content: &mut BufReader<&File>) -> io::Result<bool> {
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

/// Last chunk: no content, its type and its checksum.
const END: [u8; 12] = *b"\0\0\0\0IEND\xae\x42\x60\x82";

/// Decodes the picture, or the first frame of an animation, and checks the checksums of its chunks.
pub(super) fn check_png(mut content: BufReader<&File>) -> Result<(), Damaged> {
    if !ends_png(&mut content)? {
        return Err(Damaged);
    }
    content.rewind()?;
    let _turn = decoding_lock();
    decode(open(content, MediaType::Png)?)
}

/// Returns `true` if the chunks end with the last one. Bytes after it are ignored.
fn ends_png(content: &mut BufReader<&File>) -> io::Result<bool> {
    content.seek_relative(8)?;
    loop {
        // The length of a chunk, its type, and four bytes of its content or its checksum.
        let mut head = [0; 12];
        match content.read_exact(&mut head) {
            Ok(()) if head == END => return Ok(true),
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
        let [a, b, c, d, ..] = head;
        content.seek_relative(i64::from(u32::from_be_bytes([a, b, c, d])))?;
    }
}

/// Decodes all frames, of a long animation the first ones. Bytes after the end stated in the header are never shown.
pub(super) fn check_webp(mut content: BufReader<&File>) -> Result<(), Damaged> {
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
