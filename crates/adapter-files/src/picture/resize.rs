//! Smaller copies of pictures, as WebP: upright, without metadata.

use std::io::Cursor;

use fast_image_resize::images::Image;
use fast_image_resize::{MulDiv, PixelType, ResizeOptions, Resizer};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, RgbaImage};
use img_parts::ImageICC;
use img_parts::webp::WebP;
use kontor_content::model::{Dimensions, MediaType, PictureWidth};

use super::{Damaged, decoding_lock, open, size_of};

/// Quality of lossy WebP, 0 to 100.
const QUALITY: f32 = 80.0;
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
    encode(copy.into_rgba8(), profile)
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

fn encode(copy: RgbaImage, profile: Option<Vec<u8>>) -> Result<Vec<u8>, Damaged> {
    let encoder = webp::Encoder::from_rgba(copy.as_raw(), copy.width(), copy.height());
    let bytes = encoder.encode_simple(false, QUALITY).map_err(|_| Damaged)?.to_vec();
    let Some(profile) = profile else { return Ok(bytes) };
    let mut webp = WebP::from_bytes(bytes.into())?;
    webp.set_icc_profile(Some(profile.into()));
    Ok(webp.encoder().bytes().to_vec())
}
