//! Pictures: their size from the header, and whether the rest of them is there. They are decoded for that, and what comes of
//! it is thrown away.

mod jpeg;
mod publish;
mod webp;

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::sync::{Mutex, MutexGuard, PoisonError};

use imagesize::ImageType;
use kontor_content::model::{Dimensions, MediaType, Sighting};

pub(crate) use self::publish::publish;

/// How much of a picture is looked through for its size, which cameras put behind previews and descriptions.
const HEADER: u64 = 4 * 1024 * 1024;
/// How many pixels of an animation are decoded; the frames behind them are only walked through.
const MOST_PIXELS: u64 = 4 * Dimensions::MOST_PIXELS;
/// How many pixels of a frame are decoded at once.
const PIECE: u64 = 64 * 1024;

/// What a decoder says of a picture that is not whole.
struct Damaged;

impl<E: std::error::Error> From<E> for Damaged {
    fn from(_: E) -> Self {
        Self
    }
}

/// One picture at a time: a large one takes seven bytes a pixel.
static TURN: Mutex<()> = Mutex::new(());

/// Waits until no other picture is in memory as a whole.
fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The size of a picture that is whole. One of a size that nobody takes is not decoded.
pub(crate) fn look(mut content: &File, media: MediaType) -> io::Result<Sighting> {
    let mut header = Vec::new();
    content.take(HEADER).read_to_end(&mut header)?;
    let same = match imagesize::image_type(&header) {
        Ok(ImageType::Jpeg) => media == MediaType::Jpeg,
        Ok(ImageType::Png) => media == MediaType::Png,
        Ok(ImageType::Gif) => media == MediaType::Gif,
        Ok(ImageType::Webp) => media == MediaType::Webp,
        _ => false,
    };
    let size = imagesize::reader_size(Cursor::new(header)).ok().filter(|_| same);
    let Some(size) = size else { return Ok(Sighting::Damaged(media)) };
    let wide = |side: usize| u64::try_from(side).unwrap_or(u64::MAX);
    let (width, height) = (wide(size.width), wide(size.height));
    if Dimensions::new(width, height).is_ok() {
        content.rewind()?;
        let content = BufReader::new(content);
        let whole = match media {
            MediaType::Jpeg => jpeg::decode(content),
            MediaType::Png => png(content),
            MediaType::Gif => gif(content),
            MediaType::Webp => webp::decode(content),
            _ => Err(Damaged),
        };
        if whole.is_err() {
            return Ok(Sighting::Damaged(media));
        }
    }
    Ok(Sighting::Image { media, width, height })
}

/// Row by row, with the check sums of all parts, up to the mark of the end.
fn png(content: BufReader<&File>) -> Result<(), Damaged> {
    let mut decoder = png::Decoder::new(content);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info()?;
    while reader.next_row()?.is_some() {}
    Ok(reader.finish()?)
}

/// Frame by frame, in pieces, up to the mark of the end.
fn gif(content: BufReader<&File>) -> Result<(), Damaged> {
    let mut reader = gif::DecodeOptions::new().read_info(content)?;
    let (mut frames, mut decoded) = (0_u64, 0_u64);
    let mut piece = Vec::new();
    while let Some(frame) = reader.next_frame_info()? {
        frames += 1;
        let mut missing = u64::from(frame.width) * u64::from(frame.height);
        decoded = decoded.saturating_add(missing);
        if decoded > MOST_PIXELS {
            continue;
        }
        while missing > 0 {
            let length = missing.min(PIECE);
            piece.resize(usize::try_from(length)?, 0);
            if !reader.fill_buffer(&mut piece)? {
                return Err(Damaged);
            }
            missing -= length;
        }
    }
    if frames > 0 { Ok(()) } else { Err(Damaged) }
}
