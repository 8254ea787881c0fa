use std::fs::File;
use std::io::{ErrorKind, Seek};
use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use kontor_content::model::{FileKey, PictureWidth, Sha256, StoredContent};
use kontor_content::ports::{ContentStream, FileStore, ResizedPicture, StorageFailed};
use kontor_kernel::{ProjectId, hex};
use object_store::buffered::BufWriter;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectStoreExt};
use ring::digest::{Context, SHA256, digest};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{FileStorage, failed};

/// Bytes of a part of a content in memory; buckets accept smaller parts only at the end.
pub const PART_BYTES: usize = 5 * 1024 * 1024;
/// Maximum parts of one upload that buckets accept.
const MAX_PARTS: u64 = 10_000;
/// Bytes read at a time of an incoming content.
const READ_BYTES: usize = 256 * 1024;
/// Timeout for storing a content; clients have given up by then.
const STORE_TIMEOUT: Duration = Duration::from_mins(15);

/// Returns the folder of a content. Each content has its own, so that leftovers of storing are removed with it. The
/// name is a hash: a listing of the storage or an error message does not reveal the address of a file.
fn folder(project: ProjectId, key: &FileKey) -> String {
    format!("{project}/{}", hex(digest(&SHA256, key.as_str().as_bytes()).as_ref()))
}

fn path(project: ProjectId, key: &FileKey) -> Path {
    Path::from(format!("{}/content", folder(project, key)))
}

fn resized_path(project: ProjectId, key: &FileKey, width: PictureWidth) -> Path {
    Path::from(format!("{}/w{}", folder(project, key), width.pixels()))
}

/// Returns `true` if a WebP of this size may start like this: its header contains the length of the rest.
fn is_whole_webp(start: &[u8], size: u64) -> bool {
    let length = start.get(4..8).and_then(|length| length.first_chunk()).map(|length| u32::from_le_bytes(*length));
    start.starts_with(b"RIFF")
        && start.get(8..12) == Some(b"WEBP")
        && length.map(|length| u64::from(length) + 8) == Some(size)
}

impl FileStorage {
    pub(crate) async fn delete(&self, path: Path) -> Result<(), StorageFailed> {
        match self.store().await?.delete(&path).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    pub(crate) async fn write(&self, to: Path, mut content: File) -> Result<StoredContent, StorageFailed> {
        content.rewind().map_err(failed)?;
        let size = content.metadata().map_err(failed)?.len();
        let part = usize::try_from(size.div_ceil(MAX_PARTS)).map_err(failed)?.max(PART_BYTES);
        let mut content = tokio::fs::File::from_std(content);
        let mut writer = BufWriter::with_capacity(self.store().await?, to, part).with_max_concurrency(2);
        let copied = copy(&mut content, &mut writer).await;
        if copied.is_ok() {
            // If it fails, it aborts the upload.
            writer.shutdown().await.map_err(failed)?;
        } else {
            // Parts that remain are removed with the rest.
            let _ = writer.abort().await;
        }
        copied
    }
}

/// Copies a content piece by piece. Returns its size and checksum.
pub(crate) async fn copy(
    content: &mut tokio::fs::File,
    writer: &mut (impl AsyncWrite + Unpin),
) -> Result<StoredContent, StorageFailed> {
    let mut hash = Context::new(&SHA256);
    let mut size: u64 = 0;
    let mut piece = vec![0; READ_BYTES];
    loop {
        let read = content.read(&mut piece).await.map_err(failed)?;
        let Some(part) = piece.get(..read).filter(|part| !part.is_empty()) else { break };
        hash.update(part);
        size = size.saturating_add(u64::try_from(read).map_err(failed)?);
        writer.write_all(part).await.map_err(failed)?;
    }
    Ok(StoredContent { size, sha256: Sha256::parse(&hex(hash.finish().as_ref())).map_err(failed)? })
}

#[async_trait]
impl FileStore for FileStorage {
    async fn put(&self, project: ProjectId, key: FileKey, content: File) -> Result<StoredContent, StorageFailed> {
        let written = tokio::time::timeout(STORE_TIMEOUT, self.write(path(project, &key), content)).await;
        written.map_err(|_| StorageFailed("the operation timed out".to_owned()))?
    }

    async fn get(
        &self,
        project: ProjectId,
        key: FileKey,
        part: Range<u64>,
    ) -> Result<Option<ContentStream>, StorageFailed> {
        if part.is_empty() {
            return Ok(Some(stream::empty().boxed()));
        }
        let options = GetOptions::new().with_range(Some(part));
        match self.store().await?.get_opts(&path(project, &key), options).await {
            Ok(found) => Ok(Some(found.into_stream().map_err(failed).boxed())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    async fn put_resized(
        &self,
        project: ProjectId,
        key: FileKey,
        width: PictureWidth,
        picture: Bytes,
    ) -> Result<(), StorageFailed> {
        let put = self.store().await?.put(&resized_path(project, &key, width), picture.into()).await;
        put.map(drop).map_err(failed)
    }

    async fn get_resized(
        &self,
        project: ProjectId,
        key: FileKey,
        width: PictureWidth,
    ) -> Result<Option<ResizedPicture>, StorageFailed> {
        let found = match self.store().await?.get(&resized_path(project, &key, width)).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let size = found.meta.size;
        let mut pieces = found.into_stream().map_err(failed);
        let Some(start) = pieces.try_next().await?.filter(|start| is_whole_webp(start, size)) else {
            return Ok(None);
        };
        let pieces = stream::once(async { Ok(start) }).chain(pieces).boxed();
        Ok(Some(ResizedPicture { size, pieces }))
    }

    async fn remove(&self, project: ProjectId, key: FileKey) -> Result<(), StorageFailed> {
        if let Some(root) = self.as_folder() {
            return match tokio::fs::remove_dir_all(root.join(folder(project, &key))).await {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
                _ => Ok(()),
            };
        }
        let copies = PictureWidth::ALL.into_iter().map(|width| resized_path(project, &key, width));
        let paths = copies.chain([path(project, &key)]);
        try_join_all(paths.map(|path| self.delete(path))).await.map(drop)
    }
}
