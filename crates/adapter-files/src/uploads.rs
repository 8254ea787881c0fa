//! Files of jobs in a folder of this machine.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_catalog::bulk::ports::UploadStore;
use kontor_kernel::{Random, StoreError};
use tokio::fs;
use tokio::io::AsyncWriteExt as _;

/// Stores files of jobs in a folder. All processes with the same database need the same folder. Processes with other
/// databases may share it: their file names begin with another mark.
pub struct FolderUploads {
    folder: PathBuf,
    mark: String,
    random: Arc<dyn Random>,
}

impl FolderUploads {
    /// Stores files in this folder, which is created with the first file. The mark of the database consists of letters
    /// and digits.
    pub fn new(folder: PathBuf, mark: String, random: Arc<dyn Random>) -> Self {
        Self { folder, mark, random }
    }

    /// Returns the prefix of the names of uploaded files.
    fn beginning(&self) -> String {
        format!("{}-", self.mark)
    }

    /// Returns the prefix of the names of exported files. It differs, because an older binary would delete them as
    /// files without a job.
    fn export_beginning(&self) -> String {
        format!("export-{}-", self.mark)
    }

    /// Returns a new file name and path. Creates the folder if it is missing.
    async fn place(&self, beginning: &str) -> Result<(String, PathBuf), StoreError> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).await.map_err(failed)?;
        let place = format!("{beginning}{}", self.random.uuid());
        let path = self.path(&place)?;
        Ok((place, path))
    }

    /// Returns the path of a file. Names are generated here, so they cannot lead out of the folder.
    fn path(&self, place: &str) -> Result<PathBuf, StoreError> {
        let plain = !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if plain { Ok(self.folder.join(place)) } else { Err(StoreError::corrupt("the path of a file is not valid")) }
    }

    async fn write(&self, file: &Path, path: &Path) -> std::io::Result<u64> {
        let bytes = fs::copy(file, path).await?;
        self.sync(path).await?;
        Ok(bytes)
    }

    async fn write_export(&self, file: File, path: &Path) -> std::io::Result<u64> {
        let mut target = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).await?;
        let bytes = tokio::io::copy(&mut fs::File::from_std(file), &mut target).await?;
        target.flush().await?;
        self.sync(path).await?;
        Ok(bytes)
    }

    async fn sync(&self, path: &Path) -> std::io::Result<()> {
        fs::File::open(path).await?.sync_all().await?;
        // Syncs the folder, which holds the file name.
        fs::File::open(&self.folder).await?.sync_all().await
    }
}

fn failed(error: std::io::Error) -> StoreError {
    StoreError::Unavailable(format!("cannot create the import folder: {error}"))
}

/// Returns the size of a written file. Deletes the file if it is incomplete.
async fn whole(written: std::io::Result<u64>, path: &Path) -> Result<u64, StoreError> {
    if written.is_err() {
        let _ = fs::remove_file(path).await;
    }
    written.map_err(failed)
}

#[async_trait]
impl UploadStore for FolderUploads {
    async fn keep(&self, file: &Path) -> Result<(String, u64), StoreError> {
        let (place, path) = self.place(&self.beginning()).await?;
        whole(self.write(file, &path).await, &path).await.map(|bytes| (place, bytes))
    }

    async fn keep_export(&self, file: File) -> Result<(String, u64), StoreError> {
        let (place, path) = self.place(&self.export_beginning()).await?;
        whole(self.write_export(file, &path).await, &path).await.map(|bytes| (place, bytes))
    }

    async fn open(&self, place: &str) -> Result<PathBuf, StoreError> {
        let path = self.path(place)?;
        fs::metadata(&path).await.map_err(failed)?;
        Ok(path)
    }

    async fn list_stored_before(&self, at: DateTime<Utc>, most: usize) -> Result<Vec<String>, StoreError> {
        let mut places = Vec::new();
        let mut files = match fs::read_dir(&self.folder).await {
            Ok(files) => files,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(places),
            Err(error) => return Err(failed(error)),
        };
        let beginnings = [self.beginning(), self.export_beginning()];
        while let Some(file) = files.next_entry().await.map_err(failed)? {
            let Ok(place) = file.file_name().into_string() else { continue };
            if places.len() >= most || !beginnings.iter().any(|beginning| place.starts_with(beginning)) {
                continue;
            }
            // The file may have been deleted in the meantime.
            let Ok(about) = file.metadata().await else { continue };
            if DateTime::<Utc>::from(about.modified().map_err(failed)?) < at {
                places.push(place);
            }
        }
        Ok(places)
    }

    async fn remove_file(&self, place: &str) -> Result<(), StoreError> {
        match fs::remove_file(self.path(place)?).await {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::testing::CountingRandom;

    use super::*;

    #[tokio::test]
    async fn a_failed_copy_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = FolderUploads::new(folder.path().to_owned(), "a1".into(), Arc::new(CountingRandom::new()));
        // A file that can be opened but not read.
        assert!(matches!(store.keep(Path::new("/proc/self/mem")).await, Err(StoreError::Unavailable(_))));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_file_is_stored_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = FolderUploads::new(folder.path().join("new"), "a1".into(), Arc::new(CountingRandom::new()));
        let file = folder.path().join("sheet");
        std::fs::write(&file, "article\n").unwrap();
        let (place, bytes) = store.keep(&file).await.unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(bytes, 8);
        assert_eq!(std::fs::read_to_string(store.open(&place).await.unwrap()).unwrap(), "article\n");
        for _ in 0..2 {
            store.remove_file(&place).await.unwrap();
        }
        assert!(store.open(&place).await.is_err());
        assert!(store.open("../sheet").await.is_err());
    }

    #[tokio::test]
    async fn an_export_is_kept_under_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let store = FolderUploads::new(folder.path().join("new"), "a1".into(), Arc::new(CountingRandom::new()));
        std::fs::write(folder.path().join("made"), "id\n7\n").unwrap();
        let (place, bytes) = store.keep_export(File::open(folder.path().join("made")).unwrap()).await.unwrap();
        assert_eq!((bytes, place.starts_with("export-a1-")), (5, true), "{place}");
        assert_eq!(std::fs::read_to_string(store.open(&place).await.unwrap()).unwrap(), "id\n7\n");
        assert_eq!(store.list_stored_before(DateTime::<Utc>::MAX_UTC, 9).await.unwrap(), [place]);
        // A folder can be opened but not read.
        assert!(store.keep_export(File::open(folder.path()).unwrap()).await.is_err());
        assert_eq!(std::fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn old_files_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let store = |mark: &str| FolderUploads::new(folder.path().into(), mark.into(), Arc::new(CountingRandom::new()));
        let file = folder.path().join("sheet");
        std::fs::write(&file, "article\n").unwrap();
        let (mine, _) = store("a1").keep(&file).await.unwrap();
        let (other, _) = store("b2").keep(&file).await.unwrap();
        let now: DateTime<Utc> = std::fs::metadata(&file).unwrap().modified().unwrap().into();
        let at = |hours| now + chrono::TimeDelta::hours(hours);
        assert_eq!(store("a1").list_stored_before(at(1), 9).await.unwrap(), [mine]);
        assert_eq!(store("b2").list_stored_before(at(1), 9).await.unwrap(), [other]);
        assert!(store("b2").list_stored_before(at(1), 0).await.unwrap().is_empty());
        assert!(store("a1").list_stored_before(at(-1), 9).await.unwrap().is_empty());
        let none = FolderUploads::new(folder.path().join("none"), "a1".into(), Arc::new(CountingRandom::new()));
        assert!(none.list_stored_before(at(1), 9).await.unwrap().is_empty());
    }
}
