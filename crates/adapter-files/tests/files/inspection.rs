//! Valid, unusual and hostile contents.

use std::io::{Cursor, Write};

use kontor_adapter_files::Inspector;
use kontor_content::model::{Inspection, MediaType};
use kontor_content::ports::ContentInspector;
use proptest::prelude::*;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::support::file;

fn look(content: &[u8]) -> Inspection {
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

const BASELINE: &[u8] = include_bytes!("samples/baseline.jpg");
const LOSSY: &[u8] = include_bytes!("samples/lossy.webp");

/// Pictures as programs write them, with their sizes.
pub const PICTURES: [(MediaType, &[u8], u64, u64); 9] = [
    (MediaType::Jpeg, BASELINE, 40, 30),
    (MediaType::Jpeg, include_bytes!("samples/progressive.jpg"), 40, 30),
    (MediaType::Jpeg, include_bytes!("samples/cmyk.jpg"), 24, 16),
    (MediaType::Jpeg, include_bytes!("samples/grey.jpg"), 24, 16),
    (MediaType::Png, include_bytes!("samples/rgb.png"), 20, 20),
    (MediaType::Gif, include_bytes!("samples/moving.gif"), 20, 20),
    (MediaType::Webp, LOSSY, 40, 30),
    (MediaType::Webp, include_bytes!("samples/lossless.webp"), 24, 16),
    (MediaType::Webp, include_bytes!("samples/moving.webp"), 20, 20),
];

/// Header of a picture without data.
fn png_header(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(b"\x08\x02\0\0\0\0\0\0\0");
    bytes
}

/// A photo after previews or descriptions of the largest size.
fn jpeg_behind(previews: usize) -> Vec<u8> {
    let preview = [b"\xff\xe1\xff\xff".as_slice(), &vec![7; 65_533]].concat();
    [&BASELINE[..2], &preview.repeat(previews), &BASELINE[2..]].concat()
}

/// A document of one empty page, with its objects in a table or in a stream.
fn pdf(with_table: bool) -> Vec<u8> {
    let mut bytes = b"%PDF-1.5\n".to_vec();
    let mut places = Vec::new();
    for object in [
        "1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n",
        "2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n",
        "3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>\nendobj\n",
    ] {
        places.push(bytes.len());
        bytes.extend(object.as_bytes());
    }
    let table = bytes.len();
    if with_table {
        bytes.extend(b"xref\n0 4\n0000000000 65535 f \n");
        for place in places {
            bytes.extend(format!("{place:010} 00000 n \n").as_bytes());
        }
        bytes.extend(b"trailer\n<</Size 4/Root 1 0 R>>\n");
    } else {
        bytes.extend(b"4 0 obj\n<</Type/XRef/Size 5/W[1 2 1]/Root 1 0 R/Length 20>>\nstream\n");
        bytes.extend([0; 20]);
        bytes.extend(b"\nendstream\nendobj\n");
    }
    bytes.extend(format!("startxref\n{table}\n%%EOF").as_bytes());
    bytes
}

fn document(name: &str) -> Vec<u8> {
    archive(&[("[Content_Types].xml", b"<x/>"), ("_rels/.rels", b"<x/>"), (name, "<x/>".repeat(50).as_bytes())])
}

/// Valid contents, one of each type and variant.
fn good() -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = PICTURES.iter().map(|(_, content, ..)| content.to_vec()).collect();
    contents.extend([pdf(true), pdf(false), document("word/document.xml"), document("xl/workbook.xml")]);
    contents.extend([MediaType::Odt, MediaType::Ods].map(|media| archive(&[("mimetype", media.mime().as_bytes())])));
    contents
}

fn is_taken(sighting: Inspection) -> bool {
    matches!(sighting, Inspection::Image { .. } | Inspection::Document(_))
}

#[test]
fn pictures_have_their_size() {
    for (media, content, width, height) in PICTURES {
        assert_eq!(look(content), Inspection::Image { media, width, height }, "{media:?} of {}", content.len());
    }
    let photo = Inspection::Image { media: MediaType::Jpeg, width: 40, height: 30 };
    assert_eq!(look(&jpeg_behind(40)), photo);
    // Cameras append more pictures to the first.
    assert_eq!(look(&[BASELINE, &[0; 7], BASELINE].concat()), photo);
    assert_eq!(look(&[LOSSY, b"more"].concat()), Inspection::Image { media: MediaType::Webp, width: 40, height: 30 });
}

#[test]
fn a_picture_that_is_too_large_is_not_decoded() {
    let side = 4_000_000_000;
    let huge = png_header(side, side);
    let (width, height) = (u64::from(side), u64::from(side));
    assert_eq!(look(&huge), Inspection::Image { media: MediaType::Png, width, height });
}

#[test]
fn pictures_without_a_size_or_without_the_rest_are_damaged() {
    let gif = b"GIF89a\x0a\0\x14\0\x80\0\0\0\0\0\0\0\0\x3b".to_vec();
    for (media, content) in [
        (MediaType::Png, b"\x89PNG\r\n\x1a\n".to_vec()),
        (MediaType::Png, png_header(640, 480)),
        (MediaType::Jpeg, b"\xff\xd8\xff\xe0".to_vec()),
        (MediaType::Jpeg, b"\xff\xd8\xff\xc0\0\x11\x08\0\x08\0\x08\x03\x01\x11\0\x02\x11\0\x03\x11\0\xff\xd9".to_vec()),
        // Beyond the searched bytes.
        (MediaType::Jpeg, jpeg_behind(80)),
        (MediaType::Gif, b"GIF89a".to_vec()),
        // No frame at all.
        (MediaType::Gif, gif),
        (MediaType::Webp, b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x09\0\0\x09\0\0ANIM\0\0\0\0".to_vec()),
    ] {
        assert_eq!(look(&content), Inspection::Damaged(media));
    }
}

#[test]
fn contents_that_lack_something_in_the_middle_are_damaged() {
    for (number, content) in good().into_iter().enumerate() {
        // A photo and a lossy picture have no checksums: missing data is only detected where the rest does not fit.
        let is_lossy = matches!(look(&content), Inspection::Image { media: MediaType::Jpeg | MediaType::Webp, .. });
        let third = content.len() / 3;
        let holed = [&content[..third], &content[2 * third..]].concat();
        assert!(is_lossy || !is_taken(look(&holed)), "content {number}");
    }
}

#[test]
fn a_pdf_whose_end_leads_nowhere_is_damaged() {
    let text = String::from_utf8(pdf(true)).unwrap();
    let place = text.find("xref\n0 4").unwrap();
    for broken in [
        "%PDF-1.4".to_owned(),
        "%PDF-1.4\n%%EOF".to_owned(),
        text.replace("/Root", "/Boot"),
        text.replace("startxref\n", "startxref\n9"),
        text.replace(&format!("startxref\n{place}"), "startxref\n0"),
        text.replace("startxref\n", "startxref\n-"),
        text.replace("0000000009", "0000009999"),
        text.replace("0 4\n", "0 5\n"),
        text.replace("0 4\n", "0 18446744073709551615\n"),
    ] {
        assert_eq!(look(broken.as_bytes()), Inspection::Damaged(MediaType::Pdf), "{broken}");
    }
    // Programs differ in line ends, and in the bytes after the end.
    for odd in [text.replace(" \n", "\r\n"), format!("{text}\r\n\0\0"), text.replace("trailer\n<<", "trailer<<")] {
        assert_eq!(look(odd.as_bytes()), Inspection::Document(MediaType::Pdf), "{odd}");
    }
}

#[test]
fn documents_are_detected_by_their_content() {
    let named = |name| archive(&[("[Content_Types].xml", b"<x/>"), ("_rels/.rels", b"<x/>"), (name, b"<x/>")]);
    let open = |mime: MediaType| archive(&[("mimetype", mime.mime().as_bytes()), ("content.xml", b"<x/>")]);
    for (content, expected) in [
        (pdf(true), Inspection::Document(MediaType::Pdf)),
        (pdf(false), Inspection::Document(MediaType::Pdf)),
        (named("word/document.xml"), Inspection::Document(MediaType::Docx)),
        (named("xl/workbook.xml"), Inspection::Document(MediaType::Xlsx)),
        (open(MediaType::Odt), Inspection::Document(MediaType::Odt)),
        (open(MediaType::Ods), Inspection::Document(MediaType::Ods)),
        (named("ppt/presentation.xml"), Inspection::Unknown),
        (archive(&[("a.exe", b"MZ")]), Inspection::Unknown),
        (archive(&[("mimetype", b"application/epub+zip")]), Inspection::Unknown),
        (b"PK\x03\x04 and nothing more".to_vec(), Inspection::Unknown),
        (archive(&[("word/document.xml", b"<x/>"), ("word/vbaProject.bin", b"x")]), Inspection::WithMacros),
        (Vec::new(), Inspection::Empty),
    ] {
        assert_eq!(look(&content), expected);
    }
}

#[test]
fn executable_content_is_unknown() {
    for content in [
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>",
        "<?xml version=\"1.0\"?><svg/>",
        "<!DOCTYPE html><script>alert(1)</script>",
        "MZ\u{0}\u{0}",
        "#!/bin/sh\nrm -rf /",
        "plain text",
        "\u{7f}ELF",
    ] {
        assert_eq!(look(content.as_bytes()), Inspection::Unknown, "{content}");
    }
}

#[test]
fn entries_that_share_their_content_are_damage() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    zip.write_all(b"<x/>").unwrap();
    zip.shallow_copy_file("word/document.xml", "word/copy.xml").unwrap();
    let content = zip.finish().unwrap().into_inner();
    assert_eq!(look(&content), Inspection::Damaged(MediaType::Docx));
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
        assert_eq!(look(&bytes), Inspection::Unknown, "{total}");
    }
}

proptest! {
    /// Inspection of any content ends with a result.
    #[test]
    fn nothing_breaks_it(
        kind in any::<prop::sample::Index>(),
        noise in prop::collection::vec(any::<u8>(), 0..600),
        place in 0..600_usize,
    ) {
        let mut content = kind.get(&good()).clone();
        let place = place.min(content.len());
        let end = (place + noise.len()).min(content.len());
        content.splice(place..end, noise);
        look(&content);
    }
    /// A valid content is refused when it is truncated anywhere.
    #[test]
    fn truncated_content_is_refused(kind in any::<prop::sample::Index>(), place in any::<prop::sample::Index>()) {
        let content = kind.get(&good()).clone();
        let part = &content[..place.index(content.len())];
        prop_assert!(!is_taken(look(part)), "{} of {} bytes", part.len(), content.len());
    }
}

/// The same at every position, not only at random ones.
#[test]
fn no_beginning_of_a_content_is_taken() {
    for (number, content) in good().iter().enumerate() {
        assert!(is_taken(look(content)), "content {number}");
        for length in 0..content.len() {
            assert!(!is_taken(look(&content[..length])), "content {number}, {length} of {} bytes", content.len());
        }
    }
}
