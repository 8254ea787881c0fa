//! Copies of the database, in a folder.

use std::fs::File;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_files::{FileStorage, StoredBackup};

use crate::support::{file, noise};

fn time(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_772_337_600_123).unwrap() + TimeDelta::seconds(seconds)
}

async fn read(storage: &FileStorage, backup: &StoredBackup) -> Option<Vec<u8>> {
    let into = tempfile::NamedTempFile::new().unwrap();
    storage.get_backup(backup, into.as_file()).await.ok()?;
    Some(std::fs::read(into.path()).unwrap())
}

/// Checks every storage: copies are stored, listed, read and deleted.
pub async fn keeps_backups(storage: &FileStorage) {
    assert!(storage.backups().await.unwrap().is_empty());
    let contents = [noise(0), noise(1_000), noise(11_000_001)];
    let mut stored = Vec::new();
    for (seconds, content) in [1, 0, 2].into_iter().zip(&contents) {
        let backup = storage.put_backup(time(seconds), file(content)).await.unwrap();
        assert_eq!((backup.taken_at, backup.bytes), (time(seconds), u64::try_from(content.len()).unwrap()));
        assert!(read(storage, &backup).await.unwrap() == *content, "{}", backup.name);
        stored.push(backup);
    }
    let newest_first = [&stored[2], &stored[0], &stored[1]];
    assert_eq!(storage.backups().await.unwrap().iter().collect::<Vec<_>>(), newest_first);
    storage.remove_backup(&stored[2]).await.unwrap();
    storage.remove_backup(&stored[2]).await.unwrap();
    assert_eq!(storage.backups().await.unwrap().iter().collect::<Vec<_>>(), newest_first[1..]);
    assert_eq!(read(storage, &stored[2]).await, None);
    assert!(stored[0].name.starts_with("20260301T040001123Z-e3b0c44298fc1c14"), "{}", stored[0].name);
}

#[tokio::test]
async fn a_folder_keeps_backups() {
    let folder = tempfile::tempdir().unwrap();
    keeps_backups(&FileStorage::folder(folder.path())).await;
}

#[tokio::test]
async fn a_damaged_backup_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let storage = FileStorage::folder(folder.path());
    let backup = storage.put_backup(time(0), file(b"a database")).await.unwrap();
    let place = folder.path().join("backups").join(&backup.name);
    for damaged in [&b"a databasf"[..], b"a databas", b"a database "] {
        std::fs::write(&place, damaged).unwrap();
        let into = tempfile::tempfile().unwrap();
        let error = storage.get_backup(&backup, &into).await.unwrap_err().to_string();
        assert!(error.contains("does not match the checksum"), "{error}");
    }
}

#[tokio::test]
async fn other_objects_are_no_backups() {
    let folder = tempfile::tempdir().unwrap();
    let storage = FileStorage::folder(folder.path());
    let backup = storage.put_backup(time(0), file(b"a database")).await.unwrap();
    let backups = folder.path().join("backups");
    File::create(backups.join("notes.txt")).unwrap();
    // A copy that an operator keeps.
    std::fs::create_dir(backups.join("keep")).unwrap();
    std::fs::copy(backups.join(&backup.name), backups.join("keep").join(&backup.name)).unwrap();
    assert_eq!(storage.backups().await.unwrap(), [backup]);
}
