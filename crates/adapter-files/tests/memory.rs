//! Memory that a picture takes, measured on the process: this file has one test, so that no other one is measured with it.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::fs::{self, File};
use std::io::{Cursor, Write};

use image::{DynamicImage, ImageBuffer, ImageFormat, RgbImage};
use img_parts::ImageEXIF;
use img_parts::png::Png;
use kontor_adapter_files::Inspector;
use kontor_content::model::{MediaType, PictureWidth};
use kontor_content::ports::{ContentInspector, PictureResizer};

/// Pixels a side.
const SIDE: u16 = 3_000;
const PIXELS: u64 = 9_000_000;
/// For all that does not grow with the picture, in bytes.
const REST: u64 = 24 * 1024 * 1024;

fn figure(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().find_map(|word| word.parse::<u64>().ok()).unwrap() * 1024
}

/// The bytes a pixel that this work takes at its peak.
fn peak(work: impl FnOnce()) -> u64 {
    let before = figure("VmRSS:");
    fs::write("/proc/self/clear_refs", "5").unwrap();
    work();
    figure("VmHWM:").saturating_sub(before + REST).div_ceil(PIXELS)
}

fn written(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn file(content: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file
}

/// A progressive photo whose header tells another size than it has.
fn progressive() -> Vec<u8> {
    let mut photo = include_bytes!("files/samples/progressive.jpg").to_vec();
    let header = photo.windows(2).position(|mark| mark == [0xFF, 0xC2]).unwrap();
    photo[header + 5..header + 7].copy_from_slice(&SIDE.to_be_bytes());
    photo[header + 7..header + 9].copy_from_slice(&SIDE.to_be_bytes());
    photo
}

/// An animation whose header tells another size than its frames have.
fn moving() -> Vec<u8> {
    let mut picture = include_bytes!("files/samples/moving.webp").to_vec();
    assert_eq!(picture[12..16], *b"VP8X");
    let [low, high] = (SIDE - 1).to_le_bytes();
    picture[24..30].copy_from_slice(&[low, high, 0, low, high, 0]);
    picture
}

fn deep(side: u16) -> Vec<u8> {
    written(&DynamicImage::ImageRgba16(ImageBuffer::new(side.into(), side.into())), ImageFormat::Png)
}

/// The same, lying on its side.
fn lying(picture: Vec<u8>) -> Vec<u8> {
    let mut png = Png::from_bytes(picture.into()).unwrap();
    png.set_exif(Some(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".as_slice().into()));
    png.encoder().bytes().to_vec()
}

#[test]
fn a_picture_takes_at_most_sixteen_bytes_a_pixel() {
    let plain = DynamicImage::from(RgbImage::new(SIDE.into(), SIDE.into()));
    let [webp, gif, jpeg] = [ImageFormat::WebP, ImageFormat::Gif, ImageFormat::Jpeg].map(|it| written(&plain, it));
    let deep = deep(SIDE);
    drop(plain);
    for (name, media, picture, most) in [
        ("progressive", MediaType::Jpeg, &progressive(), 9),
        ("photo", MediaType::Jpeg, &jpeg, 9),
        ("deep", MediaType::Png, &deep, 8),
        ("webp", MediaType::Webp, &webp, 8),
        ("moving", MediaType::Webp, &moving(), 15),
        ("gif", MediaType::Gif, &gif, 1),
    ] {
        let content = file(picture);
        let taken = peak(|| drop(Inspector.inspect(&content).unwrap()));
        eprintln!("{name}: checked with {taken} bytes a pixel");
        assert!(taken <= most, "{name}: {taken} bytes a pixel");
        let taken = peak(|| drop(Inspector.resize(picture, media, PictureWidth::ALL[3])));
        eprintln!("{name}: resized with {taken} bytes a pixel");
        assert!(taken <= 12, "{name}: {taken} bytes a pixel");
    }
    let content = file(&lying(deep));
    let taken = peak(|| assert!(Inspector.publish(&content, MediaType::Png).unwrap().is_some()));
    eprintln!("turned with {taken} bytes a pixel");
    assert!(taken <= 16, "{taken} bytes a pixel");
}
