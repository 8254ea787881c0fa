//! Memory of picture processing, measured on the process. This file has one test, so that no other test is included.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::fs::{self, File};
use std::io::Write;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ImageBuffer, RgbImage};
use img_parts::ImageEXIF;
use img_parts::png::Png;
use kontor_adapter_files::Inspector;
use kontor_content::model::{Inspection, MediaType, PictureWidth};
use kontor_content::ports::{ContentInspector, PictureResizer};

/// Side length in pixels.
const SIDE: u16 = 2_200;
const PIXELS: u64 = 4_840_000;
/// Allowance for memory that does not depend on the picture, in bytes.
const REST: u64 = 8 * 1024 * 1024;

fn figure(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().find_map(|word| word.parse::<u64>().ok()).unwrap() * 1024
}

/// Returns the peak memory of this work, in bytes per pixel.
fn peak(work: impl FnOnce()) -> u64 {
    let before = figure("VmRSS:");
    fs::write("/proc/self/clear_refs", "5").unwrap();
    work();
    figure("VmHWM:").saturating_sub(before + REST).div_ceil(PIXELS)
}

fn file(content: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file
}

/// An animation whose header states another size than its frames have.
fn moving() -> Vec<u8> {
    let mut picture = include_bytes!("files/samples/moving.webp").to_vec();
    assert_eq!(picture[12..16], *b"VP8X");
    let [low, high] = (SIDE - 1).to_le_bytes();
    picture[24..30].copy_from_slice(&[low, high, 0, low, high, 0]);
    picture
}

/// A picture of 16 bits a channel, with transparency.
fn deep() -> Vec<u8> {
    let mut bytes = Vec::new();
    let image = DynamicImage::ImageRgba16(ImageBuffer::new(SIDE.into(), SIDE.into()));
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::NoFilter);
    image.write_with_encoder(encoder).unwrap();
    bytes
}

fn photo() -> Vec<u8> {
    let mut bytes = Vec::new();
    RgbImage::new(SIDE.into(), SIDE.into()).write_with_encoder(JpegEncoder::new(&mut bytes)).unwrap();
    bytes
}

/// The same, rotated by 90 degrees.
fn lying(picture: Vec<u8>) -> Vec<u8> {
    let mut png = Png::from_bytes(picture.into()).unwrap();
    png.set_exif(Some(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".as_slice().into()));
    png.encoder().bytes().to_vec()
}

#[test]
fn a_picture_takes_at_most_sixteen_bytes_a_pixel() {
    let deep = deep();
    for (name, media, picture, most) in [
        ("photo", MediaType::Jpeg, &photo(), 9),
        ("deep", MediaType::Png, &deep, 8),
        ("moving", MediaType::Webp, &moving(), 15),
    ] {
        let content = file(picture);
        let taken = peak(|| assert!(matches!(Inspector.inspect(&content), Ok(Inspection::Image { .. })), "{name}"));
        assert!((1..=most).contains(&taken), "{name}: {taken} bytes a pixel to be checked");
        let taken = peak(|| assert!(Inspector.resize(picture, media, PictureWidth::ALL[0]).is_some(), "{name}"));
        assert!((1..=12).contains(&taken), "{name}: {taken} bytes a pixel to be made smaller");
    }
    let content = file(&lying(deep));
    let taken = peak(|| assert!(Inspector.publish(&content, MediaType::Png).unwrap().is_some()));
    assert!((1..=16).contains(&taken), "{taken} bytes a pixel to be turned");
}
