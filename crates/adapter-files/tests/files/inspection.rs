//! Good, odd and hostile contents.

use std::io::{Cursor, Write};

use kontor_adapter_files::Inspector;
use kontor_content::model::{MediaType, Sighting};
use kontor_content::ports::ContentInspector;
use proptest::prelude::*;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::support::file;

fn look(content: &[u8]) -> Sighting {
    Inspector.inspect(&file(content)).unwrap()
}

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(b"\x08\x02\0\0\0\0\0\0\0");
    bytes
}

fn jpeg(width: u16, height: u16, before: usize) -> Vec<u8> {
    let mut bytes = b"\xff\xd8".to_vec();
    for _ in 0..before {
        // A preview or description of the largest size.
        bytes.extend(b"\xff\xe1\xff\xff");
        bytes.extend(vec![7; 65_533]);
    }
    bytes.extend(b"\xff\xc0\x00\x11\x08");
    bytes.extend(height.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes.extend(b"\x03\x01\x11\0\x02\x11\0\x03\x11\0");
    bytes
}

fn gif(width: u16, height: u16) -> Vec<u8> {
    [b"GIF89a".as_slice(), &width.to_le_bytes(), &height.to_le_bytes(), &[0; 10]].concat()
}

fn webp(width: u32, height: u32) -> Vec<u8> {
    let side = |side: u32| (side - 1).to_le_bytes()[..3].to_vec();
    [b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec(), side(width), side(height), vec![0; 10]].concat()
}

#[test]
fn pictures_tell_their_size() {
    for (media, content, width, height) in [
        (MediaType::Png, png(640, 480), 640, 480),
        (MediaType::Png, png(4_000_000_000, 4_000_000_000), 4_000_000_000, 4_000_000_000),
        (MediaType::Jpeg, jpeg(1920, 1080, 0), 1920, 1080),
        (MediaType::Jpeg, jpeg(1920, 1080, 40), 1920, 1080),
        (MediaType::Gif, gif(10, 20), 10, 20),
        (MediaType::Webp, webp(300, 200), 300, 200),
    ] {
        assert_eq!(look(&content), Sighting::Image { media, width, height });
    }
}

#[test]
fn pictures_without_a_size_are_damaged() {
    for (media, content) in [
        (MediaType::Png, b"\x89PNG\r\n\x1a\n".to_vec()),
        (MediaType::Jpeg, b"\xff\xd8\xff\xe0".to_vec()),
        // Behind more than is looked through.
        (MediaType::Jpeg, jpeg(10, 10, 80)),
        (MediaType::Gif, b"GIF89a".to_vec()),
    ] {
        assert_eq!(look(&content), Sighting::Damaged(media));
    }
}

#[test]
fn documents_are_told_apart_by_what_is_in_them() {
    let named = |name| archive(&[("[Content_Types].xml", b"<x/>"), ("_rels/.rels", b"<x/>"), (name, b"<x/>")]);
    let open = |mime: MediaType| archive(&[("mimetype", mime.mime().as_bytes()), ("content.xml", b"<x/>")]);
    for (content, expected) in [
        (b"%PDF-1.4\n".to_vec(), Sighting::Document(MediaType::Pdf)),
        (named("word/document.xml"), Sighting::Document(MediaType::Docx)),
        (named("xl/workbook.xml"), Sighting::Document(MediaType::Xlsx)),
        (open(MediaType::Odt), Sighting::Document(MediaType::Odt)),
        (open(MediaType::Ods), Sighting::Document(MediaType::Ods)),
        (named("ppt/presentation.xml"), Sighting::Unknown),
        (archive(&[("a.exe", b"MZ")]), Sighting::Unknown),
        (archive(&[("mimetype", b"application/epub+zip")]), Sighting::Unknown),
        (b"PK\x03\x04 and nothing more".to_vec(), Sighting::Unknown),
        (archive(&[("word/document.xml", b"<x/>"), ("word/vbaProject.bin", b"x")]), Sighting::WithMacros),
        (Vec::new(), Sighting::Empty),
    ] {
        assert_eq!(look(&content), expected);
    }
}

#[test]
fn what_browsers_would_run_is_unknown() {
    for content in [
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>",
        "<?xml version=\"1.0\"?><svg/>",
        "<!DOCTYPE html><script>alert(1)</script>",
        "MZ\u{0}\u{0}",
        "#!/bin/sh\nrm -rf /",
        "plain text",
        "\u{7f}ELF",
    ] {
        assert_eq!(look(content.as_bytes()), Sighting::Unknown, "{content}");
    }
}

#[test]
fn a_directory_of_very_many_entries_is_not_read() {
    for (total, place) in [(10_001_u64, None), (u64::MAX, None), (1, Some(0_u64)), (1, Some(u64::MAX))] {
        let mut bytes = archive(&[("word/document.xml", b"<x/>")]);
        let end = bytes.len() - 22;
        assert_eq!(bytes[end..end + 4], *b"PK\x05\x06");
        let place = place.unwrap_or(u64::try_from(end).unwrap()).to_le_bytes();
        let record = [b"PK\x06\x06".as_slice(), &[0; 28], &total.to_le_bytes(), &[0; 16]].concat();
        let locator = [b"PK\x06\x07".as_slice(), &[0; 4], &place, &[0; 4]].concat();
        bytes.splice(end..end, [record, locator].concat());
        assert_eq!(look(&bytes), Sighting::Unknown, "{total}");
    }
}

proptest! {
    /// Whatever comes, looking at it ends and says something.
    #[test]
    fn nothing_breaks_it(
        kind in 0..6_usize,
        noise in prop::collection::vec(any::<u8>(), 0..600),
        place in 0..600_usize,
    ) {
        let start = match kind {
            0 => png(64, 64),
            1 => jpeg(64, 64, 1),
            2 => gif(64, 64),
            3 => webp(64, 64),
            4 => archive(&[("word/document.xml", b"<x/>")]),
            _ => Vec::new(),
        };
        let mut content = start;
        let place = place.min(content.len());
        let end = (place + noise.len()).min(content.len());
        content.splice(place..end, noise);
        look(&content);
    }
}
