//! PNG. The decoder stops after the last pixel, so the end is checked first.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};

use kontor_content::model::MediaType;

use super::{Damaged, decode, decoding_lock, open};

/// Last chunk: no content, its type and its checksum.
const END: [u8; 12] = *b"\0\0\0\0IEND\xae\x42\x60\x82";

/// Decodes the picture, or the first frame of an animation, and checks the checksums of its chunks.
pub(super) fn check(mut content: BufReader<&File>) -> Result<(), Damaged> {
    if !ends(&mut content)? {
        return Err(Damaged);
    }
    content.rewind()?;
    let _turn = decoding_lock();
    decode(open(content, MediaType::Png)?)
}

/// Returns `true` if the chunks end with the last one. Bytes after it are ignored.
fn ends(content: &mut BufReader<&File>) -> io::Result<bool> {
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
