//! Smaller copies of pictures.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use img_parts::jpeg::Jpeg;
use img_parts::webp::WebP;
use img_parts::{Bytes, ImageEXIF, ImageICC};
use kontor_adapter_files::Inspector;
use kontor_content::model::{MediaType, PictureWidth};
use kontor_content::ports::PictureResizer;

use crate::inspection::PICTURES;
use crate::published::{CAMERA, has, picture};

const FORMATS: [(MediaType, ImageFormat); 4] = [
    (MediaType::Jpeg, ImageFormat::Jpeg),
    (MediaType::Png, ImageFormat::Png),
    (MediaType::Gif, ImageFormat::Gif),
    (MediaType::Webp, ImageFormat::WebP),
];

fn resize(picture: &[u8], media: MediaType, width: &str) -> Option<Vec<u8>> {
    let width = PictureWidth::parse(width).unwrap();
    Inspector.resize(picture, media, width).map(|copy| copy.to_vec())
}

fn shown(copy: &[u8]) -> RgbaImage {
    image::load_from_memory_with_format(copy, ImageFormat::WebP).unwrap().into_rgba8()
}

fn written(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn is_red(pixel: Rgba<u8>) -> bool {
    pixel[0] > 180 && pixel[1] < 60 && pixel[2] < 60 && pixel[3] == 255
}

#[test]
fn every_kind_of_picture_is_made_smaller_and_never_larger() {
    let red = DynamicImage::from(RgbaImage::from_pixel(400, 300, Rgba([220, 20, 20, 255])));
    for (media, format) in FORMATS {
        let picture = written(&red.to_rgb8().into(), format);
        for (width, size) in [("160", (160, 120)), ("320", (320, 240)), ("640", (400, 300)), ("1280", (400, 300))] {
            let copy = shown(&resize(&picture, media, width).unwrap());
            assert_eq!(copy.dimensions(), size, "{media:?}");
            assert!(copy.pixels().all(|pixel| is_red(*pixel)), "{media:?}");
        }
    }
    for (place, (media, picture, width, height)) in PICTURES.into_iter().enumerate() {
        let (copy_width, copy_height) = shown(&resize(picture, media, "160").unwrap()).dimensions();
        assert_eq!((u64::from(copy_width), u64::from(copy_height)), (width, height), "{place}");
    }
}

#[test]
fn a_copy_is_upright_and_has_no_metadata() {
    for media in [MediaType::Jpeg, MediaType::Png, MediaType::Webp] {
        let copy = resize(&picture(media, 6), media, "160").unwrap();
        for text in [CAMERA, b"Exif", b"EXIF", b"eXIf"] {
            assert!(!has(&copy, text), "{media:?}");
        }
        let copy = shown(&copy);
        assert_eq!(copy.dimensions(), (20, 40), "{media:?}");
        let (top, bottom) = (copy.get_pixel(10, 5), copy.get_pixel(10, 35));
        assert!(is_red(*top) && bottom[2] > 150 && bottom[0] < 100, "{media:?}: {top:?} {bottom:?}");
    }
    // The width is that of the upright picture.
    let lying = written(&RgbaImage::from_pixel(600, 400, Rgba([220, 20, 20, 255])).into(), ImageFormat::Png);
    let mut png = img_parts::png::Png::from_bytes(lying.into()).unwrap();
    png.set_exif(Jpeg::from_bytes(picture(MediaType::Jpeg, 6).into()).unwrap().exif());
    let copy = resize(&png.encoder().bytes(), MediaType::Png, "160").unwrap();
    assert_eq!(shown(&copy).dimensions(), (160, 240));
}

#[test]
fn transparency_is_kept_and_leaves_no_fringe() {
    // Red on the left; transparent and black on the right.
    let half = RgbaImage::from_fn(401, 200, |x, _| if x < 201 { Rgba([220, 20, 20, 255]) } else { Rgba([0, 0, 0, 0]) });
    for (media, format) in [(MediaType::Png, ImageFormat::Png), (MediaType::Webp, ImageFormat::WebP)] {
        let copy = shown(&resize(&written(&half.clone().into(), format), media, "160").unwrap());
        assert_eq!((copy.get_pixel(20, 40)[3], copy.get_pixel(140, 40)[3]), (255, 0), "{media:?}");
        for pixel in copy.pixels().filter(|pixel| pixel[3] > 60) {
            assert!(pixel[0] > 150, "{media:?}: {pixel:?}");
        }
    }
    let deep = DynamicImage::from(half).into_rgba16().into();
    let copy = shown(&resize(&written(&deep, ImageFormat::Png), MediaType::Png, "160").unwrap());
    assert_eq!((copy.get_pixel(20, 40)[3], copy.get_pixel(140, 40)[3]), (255, 0));
}

#[test]
fn colors_stay_those_of_the_profile() {
    let profile = |space: &[u8; 4], length: usize| {
        let mut profile = vec![7; length];
        profile[16..20].copy_from_slice(space);
        Bytes::from(profile)
    };
    for (colors, is_kept) in [
        (profile(b"RGB ", 600), true),
        (profile(b"GRAY", 600), false),
        (profile(b"CMYK", 600), false),
        (profile(b"RGB ", 20_000), false),
    ] {
        let mut photo = Jpeg::from_bytes(picture(MediaType::Jpeg, 6).into()).unwrap();
        photo.set_icc_profile(Some(colors.clone()));
        let copy = resize(&photo.encoder().bytes(), MediaType::Jpeg, "160").unwrap();
        assert_eq!(shown(&copy).dimensions(), (20, 40));
        let kept = WebP::from_bytes(copy.into()).unwrap().icc_profile();
        assert_eq!(kept, Some(colors).filter(|_| is_kept));
    }
}

#[test]
fn undecodable_pictures_have_no_copy() {
    for (media, format) in FORMATS {
        assert_eq!(resize(b"no picture", media, "160"), None, "{media:?}");
        let red = written(&image::RgbImage::from_pixel(40, 30, image::Rgb([220, 20, 20])).into(), format);
        assert_eq!(resize(&red[..20], media, "160"), None, "{media:?}");
    }
    assert_eq!(resize(b"%PDF-1.7", MediaType::Pdf, "160"), None);
}
