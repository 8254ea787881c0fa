//! GIF, with one frame or many.

use std::fs::File;
use std::io::BufReader;

use gif::DecodeOptions;

use super::{Damaged, MAX_PIXELS};

/// Pixels of a frame that are decoded at a time.
const DECODED_PIXELS: u64 = 64 * 1024;

/// Application extensions that affect the look of an animation: repetition and colors.
const VISIBLE_EXTENSIONS: [&[u8]; 3] = [b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012"];

/// Decodes frame by frame, in pieces, up to the end mark.
pub(super) fn check(content: BufReader<&File>) -> Result<(), Damaged> {
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
pub(super) fn without_metadata(animation: &[u8]) -> Option<Vec<u8>> {
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
            [0x21, label, blocks @ ..] => (2 + blocks_length(blocks)?, is_shown(*label, blocks)),
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
fn is_shown(label: u8, blocks: &[u8]) -> bool {
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
