//! Contents and keys.

use std::fs::File;
use std::io::Write;
use std::ops::Range;

use futures_util::TryStreamExt;
use kontor_adapter_files::FileStorage;
use kontor_content::model::{FileKey, PictureWidth, StoredContent};
use kontor_content::ports::{FileStore, StorageFailed};
use kontor_kernel::ProjectId;

pub fn project() -> ProjectId {
    ProjectId::new(7).unwrap()
}

pub fn key(number: usize) -> FileKey {
    FileKey::parse(&format!("{number:0>40}")).unwrap()
}

/// Returns an open file with this content.
pub fn file(content: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file
}

/// Returns bytes that do not repeat within a piece.
pub fn noise(length: usize) -> Vec<u8> {
    (0..length).map(|place| u8::try_from((place * 31 + place / 251 * 17) % 251).unwrap()).collect()
}

pub async fn put(storage: &FileStorage, number: usize, content: &[u8]) -> Result<StoredContent, StorageFailed> {
    storage.put(project(), key(number), file(content)).await
}

pub async fn get(storage: &FileStorage, number: usize, part: Range<usize>) -> Option<Vec<u8>> {
    let part = u64::try_from(part.start).unwrap()..u64::try_from(part.end).unwrap();
    let pieces = storage.get(project(), key(number), part).await.unwrap()?;
    let pieces: Vec<_> = pieces.try_collect().await.unwrap();
    Some(pieces.concat())
}

pub async fn remove(storage: &FileStorage, number: usize) {
    storage.remove(project(), key(number)).await.unwrap();
}

/// Returns bytes with the header of a complete WebP.
pub fn webp(length: u32) -> Vec<u8> {
    let mut bytes = [b"RIFF".as_slice(), &(length - 8).to_le_bytes(), b"WEBP"].concat();
    bytes.extend(noise(usize::try_from(length).unwrap() - bytes.len()));
    bytes
}

async fn put_resized(storage: &FileStorage, number: usize, width: PictureWidth, copy: &[u8]) {
    storage.put_resized(project(), key(number), width, copy.to_vec().into()).await.unwrap();
}

async fn get_resized(storage: &FileStorage, number: usize, width: PictureWidth) -> Option<Vec<u8>> {
    let copy = storage.get_resized(project(), key(number), width).await.unwrap()?;
    let pieces: Vec<_> = copy.pieces.try_collect().await.unwrap();
    let bytes = pieces.concat();
    assert_eq!(u64::try_from(bytes.len()).unwrap(), copy.size);
    Some(bytes)
}

/// Checks every storage: smaller copies are stored, replaced, and removed with their picture.
pub async fn keeps_smaller_copies(storage: &FileStorage) {
    put(storage, 1, b"a picture").await.unwrap();
    for (width, length) in PictureWidth::ALL.into_iter().zip([12, 1_000, 300_000, 6_000_000]) {
        assert_eq!(get_resized(storage, 1, width).await, None);
        for damaged in [&b""[..], b"RIFF", b"something else", &webp(100)[..99], &[&webp(100)[..], b"more"].concat()] {
            put_resized(storage, 1, width, damaged).await;
            assert_eq!(get_resized(storage, 1, width).await, None, "{} bytes", damaged.len());
        }
        put_resized(storage, 1, width, &webp(length)).await;
        assert!(get_resized(storage, 1, width).await.unwrap() == webp(length), "{length} bytes");
        assert_eq!(get_resized(storage, 2, width).await, None);
    }
    assert_eq!(get(storage, 1, 0..9).await.unwrap(), b"a picture");
    for _ in 0..2 {
        remove(storage, 1).await;
        for width in PictureWidth::ALL {
            assert_eq!(get_resized(storage, 1, width).await, None);
        }
    }
}

/// Checks every storage: contents are stored, read in parts, and removed.
pub async fn keeps_contents(storage: &FileStorage) {
    for (number, length) in [(1, 0), (2, 1), (3, 300_000), (4, 5 * 1024 * 1024), (5, 11_000_001)] {
        let content = noise(length);
        let written = put(storage, number, &content).await.unwrap();
        let digest = ring::digest::digest(&ring::digest::SHA256, &content);
        let hex = digest.as_ref().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert_eq!((usize::try_from(written.size).unwrap(), written.sha256.as_str()), (length, hex.as_str()));
        assert!(get(storage, number, 0..length).await.unwrap() == content, "{length} bytes");
        if length > 2 {
            for part in [0..1, length - 1..length, 1..length - 1, length / 2..length / 2 + 2] {
                assert!(get(storage, number, part.clone()).await.unwrap() == content[part], "{length} bytes");
            }
        }
    }
    assert_eq!(get(storage, 99, 0..1).await, None);
    for number in [1, 3, 5, 99] {
        remove(storage, number).await;
        remove(storage, number).await;
        assert_eq!(get(storage, number, 0..1).await, None);
    }
    assert_eq!(get(storage, 2, 0..1).await.unwrap(), noise(1));
}
