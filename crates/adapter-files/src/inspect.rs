use std::fs::File;
use std::io::{self, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use kontor_content::model::{Inspection, MediaType, PictureWidth};
use kontor_content::ports::{ContentInspector, PictureResizer, Published, StorageFailed};

use crate::{archive, pdf, picture};

/// Number of bytes read to recognize a content.
const START: u64 = 8 * 1024;

/// Recognizes contents by their bytes, and checks that they are complete.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inspector;

impl ContentInspector for Inspector {
    fn inspect(&self, content: &File) -> Result<Inspection, StorageFailed> {
        detect(content).map_err(|error| StorageFailed(error.to_string()))
    }

    fn publish(&self, content: &File, media: MediaType) -> Result<Option<Published>, StorageFailed> {
        let published = catch_unwind(AssertUnwindSafe(|| picture::publish(content, media)));
        published.unwrap_or(Ok(None)).map_err(|error| StorageFailed(error.to_string()))
    }
}

impl PictureResizer for Inspector {
    fn resize(&self, content: &[u8], media: MediaType, width: PictureWidth) -> Option<Bytes> {
        let resized = catch_unwind(AssertUnwindSafe(|| picture::resize(content, media, width)));
        resized.ok()?.map(Bytes::from)
    }
}

fn detect(mut content: &File) -> io::Result<Inspection> {
    let mut start = Vec::new();
    content.rewind()?;
    content.take(START).read_to_end(&mut start)?;
    content.rewind()?;
    if start.is_empty() {
        return Ok(Inspection::Empty);
    }
    if start.starts_with(b"PK\x03\x04") {
        return archive::detect(content);
    }
    let known = infer::get(&start).and_then(|kind| MediaType::parse(kind.mime_type()).ok());
    match known {
        Some(media) if media.is_image() => {
            // A decoder that panics has met an unsupported content.
            let seen = catch_unwind(AssertUnwindSafe(|| picture::detect(content, media)));
            seen.unwrap_or(Ok(Inspection::Damaged(media)))
        }
        Some(MediaType::Pdf) if !pdf::is_whole(content)? => Ok(Inspection::Damaged(MediaType::Pdf)),
        Some(media) => Ok(Inspection::Document(media)),
        None => Ok(Inspection::Unknown),
    }
}
