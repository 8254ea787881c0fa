use std::fs::File;
use std::io::{self, Cursor, Read, Seek};

use imagesize::ImageType;
use kontor_content::model::{MediaType, Sighting};
use kontor_content::ports::{ContentInspector, StorageFailed};

use crate::archive;

/// How much of a content is looked at to recognize it.
const START: u64 = 8 * 1024;
/// How much of a picture is looked through for its size, which cameras put behind previews and descriptions.
const HEADER: u64 = 4 * 1024 * 1024;

/// Recognizes contents by their bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inspector;

impl ContentInspector for Inspector {
    fn inspect(&self, content: &File) -> Result<Sighting, StorageFailed> {
        look(content).map_err(|error| StorageFailed(error.to_string()))
    }
}

fn look(mut content: &File) -> io::Result<Sighting> {
    let mut start = Vec::new();
    content.rewind()?;
    content.take(START).read_to_end(&mut start)?;
    content.rewind()?;
    if start.is_empty() {
        return Ok(Sighting::Empty);
    }
    if start.starts_with(b"PK\x03\x04") {
        return archive::look(content);
    }
    let known = infer::get(&start).and_then(|kind| MediaType::parse(kind.mime_type()).ok());
    Ok(match known {
        Some(media) if media.is_image() => picture(content, media)?,
        Some(media) => Sighting::Document(media),
        None => Sighting::Unknown,
    })
}

fn picture(content: &File, media: MediaType) -> io::Result<Sighting> {
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
    let wide = |side: usize| u64::try_from(side).unwrap_or(u64::MAX);
    Ok(size.map_or(Sighting::Damaged(media), |size| Sighting::Image {
        media,
        width: wide(size.width),
        height: wide(size.height),
    }))
}
