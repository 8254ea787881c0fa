//! Copies of the database, beside the contents.

use std::cmp::Reverse;
use std::fs::File;
use std::io::Seek;

use chrono::{DateTime, NaiveDateTime, Utc};
use futures_util::TryStreamExt;
use kontor_content::model::{Sha256, StoredContent};
use kontor_content::ports::StorageFailed;
use kontor_kernel::hex;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use ring::digest::{Context, SHA256};
use tokio::io::AsyncWriteExt;

use crate::store::copy;
use crate::{FileStorage, failed};

/// Folder of the backups.
const PREFIX: &str = "backups";
/// Format of the time in a name.
const TIME: &str = "%Y%m%dT%H%M%S%3fZ";

/// Copy of the database. Its name consists of its time and its checksum, so a stored copy is complete in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBackup {
    /// Name, such as `20260301T040000000Z-<SHA-256>.db`.
    pub name: String,
    /// Time at which the copy began.
    pub taken_at: DateTime<Utc>,
    /// Size in bytes.
    pub bytes: u64,
    sha256: Sha256,
}

impl StoredBackup {
    fn parse(name: &str, bytes: u64) -> Option<Self> {
        let (time, sha256) = name.strip_suffix(".db")?.split_once('-')?;
        let taken_at = NaiveDateTime::parse_from_str(time, TIME).ok()?.and_utc();
        Some(Self { name: name.to_owned(), taken_at, bytes, sha256: Sha256::parse(sha256).ok()? })
    }
}

fn path(name: &str) -> Path {
    Path::from(format!("{PREFIX}/{name}"))
}

impl FileStorage {
    /// Stores a copy of the database that began at this time.
    pub async fn put_backup(&self, taken_at: DateTime<Utc>, mut content: File) -> Result<StoredBackup, StorageFailed> {
        content.rewind().map_err(failed)?;
        let mut reader = tokio::fs::File::from_std(content.try_clone().map_err(failed)?);
        let StoredContent { size, sha256 } = copy(&mut reader, &mut tokio::io::sink()).await?;
        let name = format!("{}-{}.db", taken_at.format(TIME), sha256.as_str());
        let backup = StoredBackup::parse(&name, size).ok_or_else(|| failed(format!("{name} is not a name")))?;
        let written = self.write(path(&name), content).await?;
        if written.sha256 == backup.sha256 {
            return Ok(backup);
        }
        self.remove_backup(&backup).await?;
        Err(failed(format!("the copy changed while it was stored as {name}")))
    }

    /// Returns all copies, the newest first. Objects with other names or in sub-folders are left out.
    pub async fn backups(&self) -> Result<Vec<StoredBackup>, StorageFailed> {
        let found: Vec<_> = self.store().await?.list(Some(&Path::from(PREFIX))).try_collect().await.map_err(failed)?;
        let parse = |object: object_store::ObjectMeta| {
            let backup = StoredBackup::parse(object.location.filename()?, object.size)?;
            // The listing is recursive.
            (object.location == path(&backup.name)).then_some(backup)
        };
        let mut backups: Vec<_> = found.into_iter().filter_map(parse).collect();
        backups.sort_by_key(|backup| Reverse(backup.taken_at));
        Ok(backups)
    }

    /// Writes a copy into an empty file, syncs it to the disk and verifies the checksum.
    pub async fn get_backup(&self, backup: &StoredBackup, into: &File) -> Result<(), StorageFailed> {
        let found = self.store().await?.get(&path(&backup.name)).await.map_err(failed)?;
        let mut pieces = found.into_stream().map_err(failed);
        let mut into = tokio::fs::File::from_std(into.try_clone().map_err(failed)?);
        let mut hash = Context::new(&SHA256);
        while let Some(piece) = pieces.try_next().await? {
            hash.update(&piece);
            into.write_all(&piece).await.map_err(failed)?;
        }
        // A failed write is reported by the flush, not by the sync.
        into.flush().await.map_err(failed)?;
        into.sync_all().await.map_err(failed)?;
        if hex(hash.finish().as_ref()) == backup.sha256.as_str() {
            return Ok(());
        }
        Err(failed(format!("the content of {} does not match the checksum in its name", backup.name)))
    }

    /// Deletes a copy.
    pub async fn remove_backup(&self, backup: &StoredBackup) -> Result<(), StorageFailed> {
        self.delete(path(&backup.name)).await
    }
}
