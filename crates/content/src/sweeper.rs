use std::sync::Arc;

use chrono::TimeDelta;
use kontor_kernel::{Clock, StoreError};

use crate::ports::{FileRepository, FileStore, OrphanedFile, StorageFailed};

/// Time until the removal of a content is retried.
const RETRY_AFTER: TimeDelta = TimeDelta::minutes(5);
/// Maximum number of contents per round.
const BATCH: u32 = 50;

/// Result of one round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepRound {
    /// Number of contents removed together with their records.
    pub removed: usize,
    /// Contents that could not be removed, with the error; they are retried.
    pub failed: Vec<(OrphanedFile, StorageFailed)>,
}

/// Removes the contents of deleted files and of failed uploads. Any number of processes may sweep.
pub struct FileSweeper {
    /// Storage of the records.
    pub files: Arc<dyn FileRepository>,
    /// Storage of the contents.
    pub contents: Arc<dyn FileStore>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl FileSweeper {
    /// Runs one round. The record is removed after the content, so that a crash in between leaves a record that is
    /// found again. `owner` must be unique to this process.
    pub async fn sweep(&self, owner: &str) -> Result<SweepRound, StoreError> {
        let now = self.clock.now();
        let mut round = SweepRound::default();
        for leftover in self.files.take_orphaned_files(owner, now, now + RETRY_AFTER, BATCH).await? {
            match self.contents.remove(leftover.project_id, leftover.key.clone()).await {
                Ok(()) => {
                    self.files.forget(leftover.id).await?;
                    round.removed += 1;
                }
                Err(failed) => round.failed.push((leftover, failed)),
            }
        }
        Ok(round)
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use kontor_kernel::testing::CountingRandom;
    use kontor_kernel::{FileId, FixedClock, ProjectId};

    use super::*;
    use crate::model::FileKey;
    use crate::ports::{MockFileRepository, MockFileStore};

    #[tokio::test]
    async fn a_record_is_forgotten_only_when_its_content_is_gone() {
        let leftover = |id| OrphanedFile {
            id: FileId::new(id).unwrap(),
            project_id: ProjectId::new(id).unwrap(),
            key: FileKey::generate(&CountingRandom::new()),
        };
        let mut files = MockFileRepository::new();
        files.expect_take_orphaned_files().returning(move |_, _, _, _| Ok(vec![leftover(1), leftover(2)]));
        files.expect_forget().times(1).withf(|id| id.get() == 2).returning(|_| Ok(()));
        let mut contents = MockFileStore::new();
        contents.expect_remove().returning(|project, _| match project.get() {
            1 => Err(StorageFailed("gone fishing".to_owned())),
            _ => Ok(()),
        });
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let sweeper = FileSweeper { files: Arc::new(files), contents: Arc::new(contents), clock };
        let round = sweeper.sweep("me").await.unwrap();
        assert_eq!((round.removed, round.failed.len()), (1, 1));
    }
}
