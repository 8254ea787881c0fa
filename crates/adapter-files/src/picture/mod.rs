//! Pictures: their size from the header, and a check that the rest is complete. The check decodes them and discards the
//! result.
//!
//! One picture at a time is decoded into memory. Maximum bytes per pixel, with everything that decoding and encoding
//! takes:
//!
//! | step | bytes | reached by |
//! |---|---|---|
//! | damage check | 15 | an animated WebP; a progressive JPEG takes 9, a PNG 8, a GIF a piece of a frame |
//! | turning upright | 16 | a PNG of 16 bits a channel with transparency; a photo takes 9 |
//! | smaller copy | 12 | a PNG of 16 bits a channel with transparency; a photo takes 9 |

mod formats;
mod publish;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::sync::{Mutex, MutexGuard, PoisonError};

use image::{ImageDecoder, ImageFormat, ImageReader, Limits};
use imagesize::ImageType;
use kontor_content::model::{Dimensions, Inspection, MediaType};

pub(crate) use self::publish::{publish, resize};

/// Number of bytes searched for the size, which cameras write after previews and descriptions.
const HEADER: u64 = 4 * 1024 * 1024;
/// Pixels of an animation that are decoded; later frames are only parsed.
const MAX_PIXELS: u64 = 4 * Dimensions::MAX_PIXELS;
/// Memory of a decoder besides the picture, in bytes: a frame of a GIF, a color profile of a PNG.
const DECODER_MEMORY: u64 = 4 * Dimensions::MAX_PIXELS;

/// A picture that cannot be decoded.
struct Damaged;

impl<E: std::error::Error> From<E> for Damaged {
    fn from(_: E) -> Self {
        Self
    }
}

/// Lock: one picture at a time is completely in memory.
static TURN: Mutex<()> = Mutex::new(());

/// Waits until no other picture is completely in memory.
fn decoding_lock() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a picture that is not too large to be decoded.
fn open<'a>(content: impl BufRead + Seek + 'a, media: MediaType) -> Result<impl ImageDecoder + 'a, Damaged> {
    let format = ImageFormat::from_mime_type(media.mime()).ok_or(Damaged)?;
    let mut reader = ImageReader::with_format(content, format);
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(Dimensions::MAX_SIDE);
    limits.max_image_height = Some(Dimensions::MAX_SIDE);
    limits.max_alloc = Some(DECODER_MEMORY);
    reader.limits(limits);
    let decoder = reader.into_decoder()?;
    size_of(&decoder)?;
    Ok(decoder)
}

/// Returns the size of a picture as it is stored.
fn size_of(decoder: &impl ImageDecoder) -> Result<Dimensions, Damaged> {
    let (width, height) = decoder.dimensions();
    Ok(Dimensions::new(width.into(), height.into())?)
}

/// Decodes a picture and discards the result.
fn decode(decoder: impl ImageDecoder) -> Result<(), Damaged> {
    let mut pixels = vec![0; usize::try_from(decoder.total_bytes())?];
    Ok(decoder.read_image(&mut pixels)?)
}

/// Returns the size of a complete picture. A picture of an unsupported size is not decoded.
pub(crate) fn detect(mut content: &File, media: MediaType) -> io::Result<Inspection> {
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
    let Some(size) = size else { return Ok(Inspection::Damaged(media)) };
    let wide = |side: usize| u64::try_from(side).unwrap_or(u64::MAX);
    let (width, height) = (wide(size.width), wide(size.height));
    if Dimensions::new(width, height).is_ok() {
        content.rewind()?;
        let content = BufReader::new(content);
        let whole = match media {
            MediaType::Jpeg => formats::check_jpeg(content),
            MediaType::Png => formats::check_png(content),
            MediaType::Gif => formats::check_gif(content),
            MediaType::Webp => formats::check_webp(content),
            _ => Err(Damaged),
        };
        if whole.is_err() {
            return Ok(Inspection::Damaged(media));
        }
    }
    Ok(Inspection::Image { media, width, height })
}
