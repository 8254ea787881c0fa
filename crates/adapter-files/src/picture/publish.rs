//! Copies of pictures without metadata, turned upright: public pictures in their size, smaller copies as WebP.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, Write};

use fast_image_resize::images::Image;
use fast_image_resize::{MulDiv, PixelType, ResizeOptions, Resizer};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::{WebPDecoder, WebPEncoder};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageEncoder, ImageResult, RgbaImage};
use img_parts::png::Png;
use img_parts::webp::WebP;
use img_parts::{ImageEXIF, ImageICC};
use kontor_content::model::{Dimensions, MediaType, PictureWidth};
use kontor_content::ports::Published;

use super::{Damaged, decoding_lock, open, size_of};

/// JPEG quality of photos that are turned, 1 to 100.
const QUALITY: u8 = 92;

/// PNG chunks that affect the look; the others are texts, times and camera data.
const VISIBLE_CHUNKS: [&[u8; 4]; 16] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"sBIT", b"bKGD",
    b"pHYs", b"acTL", b"fcTL", b"fdAT",
];

/// WebP chunks that affect the look.
const SHOWN_OF_WEBP: [&[u8; 4]; 7] = [b"VP8X", b"ICCP", b"ANIM", b"ANMF", b"ALPH", b"VP8 ", b"VP8L"];

/// Returns the picture without metadata. A picture that is not upright is decoded, turned and encoded again; the others
/// keep their image data unchanged. `None` when it cannot be read.
pub(crate) fn publish(mut content: &File, media: MediaType) -> io::Result<Option<Published>> {
    let mut bytes = Vec::new();
    content.rewind()?;
    content.read_to_end(&mut bytes)?;
    let _turn = decoding_lock();
    let Ok((bytes, width, height)) = published(bytes, media) else { return Ok(None) };
    let mut content = tempfile::tempfile()?;
    content.write_all(&bytes)?;
    content.rewind()?;
    Ok(Some(Published { content, width: width.into(), height: height.into() }))
}

fn published(bytes: Vec<u8>, media: MediaType) -> Result<(Vec<u8>, u32, u32), Damaged> {
    let mut source = Cursor::new(&bytes);
    let turned = match media {
        // Frames of an animation are not turned.
        MediaType::Webp if WebPDecoder::new(&mut source)?.has_animation() => {
            let size = imagesize::blob_size(&bytes)?;
            Turned::Upright((size.width.try_into()?, size.height.try_into()?))
        }
        _ => {
            source.rewind()?;
            turned(open(source, media)?, media)?
        }
    };
    let (bytes, (width, height)) = match turned {
        Turned::Upright(size) => (bytes, size),
        Turned::Again(bytes, size) => (bytes, size),
    };
    Ok((without_metadata(bytes, media)?, width, height))
}

enum Turned {
    /// The picture is upright already.
    Upright((u32, u32)),
    /// The picture was encoded again.
    Again(Vec<u8>, (u32, u32)),
}

fn turned(mut decoder: impl ImageDecoder, media: MediaType) -> ImageResult<Turned> {
    let orientation = decoder.orientation()?;
    if orientation == Orientation::NoTransforms {
        return Ok(Turned::Upright(decoder.dimensions()));
    }
    let colors =
        decoder.icc_profile()?.filter(|_| !matches!(decoder.original_color_type(), image::ExtendedColorType::Cmyk8));
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    let mut bytes = Vec::new();
    match media {
        MediaType::Jpeg => encode(JpegEncoder::new_with_quality(&mut bytes, QUALITY), &image, colors),
        MediaType::Png => encode(PngEncoder::new(&mut bytes), &image, colors),
        _ => encode(WebPEncoder::new_lossless(&mut bytes), &image, colors),
    }?;
    Ok(Turned::Again(bytes, (image.width(), image.height())))
}

fn encode(mut encoder: impl ImageEncoder, image: &DynamicImage, colors: Option<Vec<u8>>) -> ImageResult<()> {
    if let Some(colors) = colors {
        // A format without color profiles shows the default colors.
        let _ = encoder.set_icc_profile(colors);
    }
    image.write_with_encoder(encoder)
}

/// Removes everything that does not affect the look.
fn without_metadata(bytes: Vec<u8>, media: MediaType) -> Result<Vec<u8>, Damaged> {
    let mut bare = Vec::new();
    match media {
        MediaType::Jpeg => bare = super::formats::jpeg_without_metadata(&bytes).ok_or(Damaged)?,
        MediaType::Png => {
            let mut png = Png::from_bytes(bytes.into())?;
            png.chunks_mut().retain(|chunk| VISIBLE_CHUNKS.contains(&&chunk.kind()));
            png.encoder().write_to(&mut bare)?;
        }
        MediaType::Gif => bare = super::formats::gif_without_metadata(&bytes).ok_or(Damaged)?,
        _ => {
            let mut webp = WebP::from_bytes(bytes.into())?;
            webp.chunks_mut().retain(|chunk| SHOWN_OF_WEBP.contains(&&chunk.id()));
            // The header states which chunks exist.
            webp.set_exif(None);
            webp.encoder().write_to(&mut bare)?;
        }
    }
    Ok(bare)
}

/// Quality of lossy WebP, 0 to 100.
const COPY_QUALITY: f32 = 80.0;
/// Maximum size of a copied color profile, in bytes. Those of screens and cameras are shorter.
const MAX_COLOR_PROFILE: usize = 16 * 1024;

/// Returns the picture, or the first frame of an animation, within this width. `None` if it cannot be decoded.
pub(crate) fn resize(picture: &[u8], media: MediaType, width: PictureWidth) -> Option<Vec<u8>> {
    resized(picture, media, width).ok()
}

fn resized(picture: &[u8], media: MediaType, width: PictureWidth) -> Result<Vec<u8>, Damaged> {
    let _turn = decoding_lock();
    let mut decoder = open(Cursor::new(picture), media)?;
    let orientation = decoder.orientation()?;
    let profile = decoder.icc_profile()?.filter(|profile| is_of_screens(profile));
    let stored = size_of(&decoder)?;
    let (copy_width, copy_height) = if is_sideways(orientation) {
        let upright = Dimensions::new(stored.height().into(), stored.width().into())?.within(width);
        (upright.height(), upright.width())
    } else {
        let upright = stored.within(width);
        (upright.width(), upright.height())
    };
    let pixels = DynamicImage::from_decoder(decoder)?.into_rgba8();
    let mut copy = DynamicImage::from(shrink(pixels, copy_width, copy_height)?);
    copy.apply_orientation(orientation);
    encode_copy(copy.into_rgba8(), profile)
}

/// Returns `true` if turning the picture upright swaps width and height.
fn is_sideways(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH)
}

/// Returns `true` for the profile of an RGB color space. The pixels of others were converted.
fn is_of_screens(profile: &[u8]) -> bool {
    profile.len() <= MAX_COLOR_PROFILE && profile.get(16..20) == Some(b"RGB ")
}

/// Resizes with colors weighted by opacity, so that transparent pixels leave no fringe.
fn shrink(pixels: RgbaImage, width: u32, height: u32) -> Result<RgbaImage, Damaged> {
    if pixels.dimensions() == (width, height) {
        return Ok(pixels);
    }
    let (whole_width, whole_height) = pixels.dimensions();
    let mut whole = Image::from_vec_u8(whole_width, whole_height, pixels.into_raw(), PixelType::U8x4)?;
    let mut copy = Image::new(width, height, PixelType::U8x4);
    let opacity = MulDiv::new();
    opacity.multiply_alpha_inplace(&mut whole)?;
    Resizer::new().resize(&whole, &mut copy, &ResizeOptions::new().use_alpha(false))?;
    opacity.divide_alpha_inplace(&mut copy)?;
    RgbaImage::from_raw(width, height, copy.into_vec()).ok_or(Damaged)
}

fn encode_copy(copy: RgbaImage, profile: Option<Vec<u8>>) -> Result<Vec<u8>, Damaged> {
    let encoder = webp::Encoder::from_rgba(copy.as_raw(), copy.width(), copy.height());
    let bytes = encoder.encode_simple(false, COPY_QUALITY).map_err(|_| Damaged)?.to_vec();
    let Some(profile) = profile else { return Ok(bytes) };
    let mut webp = WebP::from_bytes(bytes.into())?;
    webp.set_icc_profile(Some(profile.into()));
    Ok(webp.encoder().bytes().to_vec())
}
