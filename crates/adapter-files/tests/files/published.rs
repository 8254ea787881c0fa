//! Public pictures have neither location nor camera data, and are upright.

use std::io::{Read, Seek};

use image::{DynamicImage, ImageFormat, ImageReader, Rgb, RgbImage};
use img_parts::jpeg::{Jpeg, JpegSegment, markers};
use img_parts::png::{Png, PngChunk};
use img_parts::webp::WebP;
use img_parts::{Bytes, ImageEXIF};
use kontor_adapter_files::Inspector;
use kontor_content::model::{Inspection, MediaType};
use kontor_content::ports::ContentInspector;

use crate::inspection::PICTURES;
use crate::support::file;

pub const CAMERA: &[u8] = b"Nikolai's camera\0";
const PREVIEW: &[u8] = b"a small picture of the same place";

/// Camera data: its name, the orientation, and a preview.
fn exif(orientation: u8) -> Bytes {
    let mut tiff = b"II*\0\x08\0\0\0\x02\0".to_vec();
    tiff.extend(b"\x0f\x01\x02\0\x11\0\0\0\x26\0\0\0");
    tiff.extend([0x12, 0x01, 0x03, 0, 1, 0, 0, 0, orientation, 0, 0, 0]);
    tiff.extend(b"\0\0\0\0");
    tiff.extend(CAMERA);
    tiff.extend(PREVIEW);
    tiff.into()
}

/// 40 by 20, red on the left and blue on the right.
fn flag() -> DynamicImage {
    let color = |x: u32| if x < 20 { Rgb([220, 20, 20]) } else { Rgb([20, 20, 220]) };
    RgbImage::from_fn(40, 20, |x, _| color(x)).into()
}

pub fn picture(media: MediaType, orientation: u8) -> Vec<u8> {
    let format = match media {
        MediaType::Jpeg => ImageFormat::Jpeg,
        MediaType::Png => ImageFormat::Png,
        _ => ImageFormat::WebP,
    };
    let mut plain = std::io::Cursor::new(Vec::new());
    flag().write_to(&mut plain, format).unwrap();
    let (plain, exif) = (Bytes::from(plain.into_inner()), exif(orientation));
    let mut bytes = Vec::new();
    match media {
        MediaType::Jpeg => {
            let mut jpeg = Jpeg::from_bytes(plain).unwrap();
            jpeg.set_exif(Some(exif));
            let place = Bytes::from_static(b"Photoshop 3.0\0 Nikolai's camera\0");
            jpeg.segments_mut().insert(1, JpegSegment::new_with_contents(markers::APP13, place));
            jpeg.segments_mut().insert(1, JpegSegment::new_with_contents(markers::COM, CAMERA.into()));
            jpeg.encoder().write_to(&mut bytes).unwrap();
            bytes.extend(PREVIEW);
        }
        MediaType::Png => {
            let mut png = Png::from_bytes(plain).unwrap();
            png.set_exif(Some(exif));
            png.chunks_mut().insert(1, PngChunk::new(*b"tEXt", [b"Comment\0", CAMERA].concat().into()));
            png.encoder().write_to(&mut bytes).unwrap();
        }
        _ => {
            let mut webp = WebP::from_bytes(plain).unwrap();
            webp.set_exif(Some(exif));
            webp.encoder().write_to(&mut bytes).unwrap();
        }
    }
    bytes
}

fn publish(bytes: &[u8], media: MediaType) -> Option<(Vec<u8>, u64, u64)> {
    let mut published = Inspector.publish(&file(bytes), media).unwrap()?;
    let mut content = Vec::new();
    published.content.rewind().unwrap();
    published.content.read_to_end(&mut content).unwrap();
    Some((content, published.width, published.height))
}

pub fn has(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

fn shown(bytes: Vec<u8>) -> RgbImage {
    let reader = ImageReader::new(std::io::Cursor::new(bytes)).with_guessed_format().unwrap();
    reader.decode().unwrap().into_rgb8()
}

#[test]
fn camera_metadata_is_removed() {
    for media in [MediaType::Jpeg, MediaType::Png, MediaType::Webp] {
        let upright = picture(media, 1);
        assert!(has(&upright, CAMERA) && has(&upright, PREVIEW), "{media:?}");
        let (bytes, width, height) = publish(&upright, media).unwrap();
        assert_eq!((width, height), (40, 20), "{media:?}");
        for text in [CAMERA, PREVIEW, b"Exif", b"EXIF", b"eXIf"] {
            assert!(!has(&bytes, text), "{media:?}: {}", String::from_utf8_lossy(text));
        }
        assert_eq!(shown(bytes.clone()), shown(upright), "{media:?}");
        // A second pass removes nothing.
        assert_eq!(publish(&bytes, media).unwrap().0, bytes, "{media:?}");
    }
}

#[test]
fn an_animation_has_no_texts() {
    let sample = include_bytes!("samples/moving.gif");
    // The repetition follows the table of colors.
    let head = 13 + if sample[10] & 0x80 == 0 { 0 } else { 3 << ((sample[10] & 7) + 1) };
    let repeats = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0";
    let moving = [&sample[..head], repeats, &sample[head..]].concat();
    let end = moving.len() - 1;
    // A comment, a text to be drawn, and program data: with blocks of any content, the empty block last.
    let texts = [b"\x21\xfe\x11Nikolai's camera\0\0".as_slice(), b"\x21\x01\x11Nikolai's camera\0\0"].concat();
    let program = b"\x21\xff\x0bXMP DataXMP\x11Nikolai's camera\0\0".as_slice();
    let full = [&moving[..end], &texts, program, &moving[end..], PREVIEW].concat();
    assert!(has(&full, b"Nikolai"));
    let (bytes, ..) = publish(&full, MediaType::Gif).unwrap();
    assert!(bytes == moving, "the rest stays, byte by byte");
    for length in 0..moving.len() {
        assert_eq!(publish(&moving[..length], MediaType::Gif), None, "{length} bytes");
    }
}

#[test]
fn a_preview_in_the_first_segment_is_left_out() {
    let photo = include_bytes!("samples/baseline.jpg");
    assert_eq!(photo[2..6], *b"\xff\xe0\0\x10");
    // Two by one pixels after the density.
    let preview = b"secret";
    let full = [&photo[..4], b"\0\x16", &photo[6..18], b"\x02\x01", preview, &photo[20..]].concat();
    let (bytes, ..) = publish(&full, MediaType::Jpeg).unwrap();
    assert!(bytes == photo);
}

#[test]
fn a_chunk_that_is_not_shown_is_left_out() {
    let plain = picture(MediaType::Webp, 1);
    let mut webp = WebP::from_bytes(plain.into()).unwrap();
    let note = img_parts::riff::RiffContent::Data(CAMERA.into());
    webp.chunks_mut().push(img_parts::riff::RiffChunk::new(*b"NOTE", note));
    let mut full = Vec::new();
    webp.encoder().write_to(&mut full).unwrap();
    assert!(has(&full, b"NOTE"));
    let (bytes, ..) = publish(&full, MediaType::Webp).unwrap();
    assert!(!has(&bytes, b"NOTE") && !has(&bytes, CAMERA));
}

#[test]
fn a_sideways_picture_is_rotated() {
    for media in [MediaType::Jpeg, MediaType::Png, MediaType::Webp] {
        // Turned clockwise: its left side is the top.
        let (bytes, width, height) = publish(&picture(media, 6), media).unwrap();
        assert_eq!((width, height), (20, 40), "{media:?}");
        assert!(!has(&bytes, CAMERA), "{media:?}");
        let turned = shown(bytes);
        assert_eq!(turned.dimensions(), (20, 40), "{media:?}");
        let (top, bottom) = (turned.get_pixel(10, 5), turned.get_pixel(10, 35));
        assert!(top[0] > 150 && top[2] < 100 && bottom[2] > 150 && bottom[0] < 100, "{media:?}: {top:?} {bottom:?}");
    }
}

#[test]
fn every_kind_of_picture_is_whole_afterwards() {
    for (place, (media, picture, width, height)) in PICTURES.into_iter().enumerate() {
        let (bytes, seen_width, seen_height) = publish(picture, media).unwrap();
        assert_eq!((seen_width, seen_height), (width, height), "{place}");
        let seen = Inspector.inspect(&file(&bytes)).unwrap();
        assert_eq!(seen, Inspection::Image { media, width, height }, "{place}");
        assert!(bytes.len() <= picture.len(), "{place}");
    }
}

#[test]
fn content_that_is_no_picture_is_not_published() {
    for media in [MediaType::Jpeg, MediaType::Png, MediaType::Webp, MediaType::Gif] {
        assert_eq!(publish(b"no picture", media), None, "{media:?}");
    }
}
