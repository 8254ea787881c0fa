//! Number kept outside the database, by which a database restored from a backup is detected.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kontor_kernel::StoreError;

/// Greatest generation that a process of this folder has seen.
#[derive(Debug, Clone)]
pub(crate) struct GenerationFile {
    path: PathBuf,
    known: Arc<Mutex<i64>>,
}

fn failed(path: &Path, error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("{}: {error}", path.display()))
}

/// Replaces the file atomically: after a crash it holds the old or the new number.
fn replace(path: &Path, generation: i64) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(generation.to_string().as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    std::fs::File::open(folder)?.sync_all()
}

fn read(path: &Path) -> Result<i64, StoreError> {
    match std::fs::read_to_string(path) {
        Ok(text) => text.trim().parse().map_err(|error| failed(path, error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(failed(path, error)),
    }
}

impl GenerationFile {
    /// Opens the file of an installation in a folder, which is created if needed.
    pub async fn open(folder: PathBuf, installation: &str) -> Result<Self, StoreError> {
        let path = folder.join(format!("generation-{installation}"));
        let opened = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
            let known = read(&path)?;
            Ok(Self { path, known: Arc::new(Mutex::new(known)) })
        });
        opened.await.map_err(|error| StoreError::Failed(error.to_string()))?
    }

    fn locked(&self) -> MutexGuard<'_, i64> {
        // The number is replaced as a whole, so a poisoned lock is safe to use.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the greatest stored generation.
    pub fn known(&self) -> i64 {
        *self.locked()
    }

    /// Stores a generation, unless a greater one is stored.
    pub async fn raise(&self, generation: i64) -> Result<(), StoreError> {
        let this = self.clone();
        let raised = tokio::task::spawn_blocking(move || {
            let mut known = this.locked();
            if *known < generation {
                replace(&this.path, generation).map_err(|error| failed(&this.path, error))?;
                *known = generation;
            }
            Ok(())
        });
        raised.await.map_err(|error| StoreError::Failed(error.to_string()))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_greatest_generation_is_kept_for_each_installation() {
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &'static str| GenerationFile::open(folder.path().join("state"), name);
        let file = open("a").await.unwrap();
        assert_eq!(file.known(), 0);
        for generation in [3, 7, 5] {
            file.raise(generation).await.unwrap();
        }
        assert_eq!((file.known(), open("a").await.unwrap().known(), open("b").await.unwrap().known()), (7, 7, 0));
        std::fs::write(folder.path().join("state/generation-b"), "x").unwrap();
        assert!(open("b").await.is_err());
    }
}
