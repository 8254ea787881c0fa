//! Uploaded files in a folder of this machine.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use kontor_catalog::bulk::ports::UploadStore;
use kontor_kernel::{Random, StoreError};
use tokio::fs;

/// Keeps uploaded files in a folder. Processes that work on the same database need the same folder.
pub struct FolderUploads {
    folder: PathBuf,
    random: Arc<dyn Random>,
}

impl FolderUploads {
    /// In this folder, which is made with the first file.
    pub fn new(folder: PathBuf, random: Arc<dyn Random>) -> Self {
        Self { folder, random }
    }

    /// Places are names that were made here: they lead out of the folder never.
    fn path(&self, place: &str) -> Result<PathBuf, StoreError> {
        let plain = !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if plain { Ok(self.folder.join(place)) } else { Err(StoreError::corrupt("the place of a file is no name")) }
    }
}

fn failed(error: std::io::Error) -> StoreError {
    StoreError::Unavailable(format!("the folder of imports: {error}"))
}

#[async_trait]
impl UploadStore for FolderUploads {
    async fn keep(&self, file: &Path) -> Result<(String, u64), StoreError> {
        fs::create_dir_all(&self.folder).await.map_err(failed)?;
        let place = self.random.uuid().to_string();
        let path = self.path(&place)?;
        let bytes = fs::copy(file, &path).await.map_err(failed)?;
        fs::File::open(&path).await.map_err(failed)?.sync_all().await.map_err(failed)?;
        // The name of the file is kept by the folder.
        fs::File::open(&self.folder).await.map_err(failed)?.sync_all().await.map_err(failed)?;
        Ok((place, bytes))
    }

    async fn open(&self, place: &str) -> Result<PathBuf, StoreError> {
        let path = self.path(place)?;
        fs::metadata(&path).await.map_err(failed)?;
        Ok(path)
    }

    async fn discard(&self, place: &str) -> Result<(), StoreError> {
        match fs::remove_file(self.path(place)?).await {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::SystemRandom;

    #[tokio::test]
    async fn a_file_is_kept_until_it_is_thrown_away() {
        let folder = tempfile::tempdir().unwrap();
        let store = FolderUploads::new(folder.path().join("new"), Arc::new(SystemRandom::new()));
        let file = folder.path().join("sheet");
        std::fs::write(&file, "article\n").unwrap();
        let (place, bytes) = store.keep(&file).await.unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(bytes, 8);
        assert_eq!(std::fs::read_to_string(store.open(&place).await.unwrap()).unwrap(), "article\n");
        for _ in 0..2 {
            store.discard(&place).await.unwrap();
        }
        assert!(store.open(&place).await.is_err());
        assert!(store.open("../sheet").await.is_err());
    }
}
