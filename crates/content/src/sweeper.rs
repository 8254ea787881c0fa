use std::sync::Arc;

use chrono::TimeDelta;
use kontor_kernel::{Clock, StoreError};

use crate::ports::{FileRepository, FileStore, Leftover, StorageFailed};

/// When a content that could not be removed is tried for again.
const AGAIN: TimeDelta = TimeDelta::minutes(5);
/// How many contents one round removes.
const BATCH: u32 = 50;

/// What one round did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepRound {
    /// Contents that are gone with their records.
    pub removed: usize,
    /// Those that could not be removed, and why; they are tried for again.
    pub failed: Vec<(Leftover, StorageFailed)>,
}

/// Removes the contents of deleted files, and of uploads that broke off. Any number of processes may sweep.
pub struct FileSweeper {
    /// Where their records are kept.
    pub files: Arc<dyn FileRepository>,
    /// Where their contents are kept.
    pub contents: Arc<dyn FileStore>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl FileSweeper {
    /// One round. The record goes after the content: whoever dies in between leaves something that is found again.
    /// `owner` names this process and no other.
    pub async fn sweep(&self, owner: &str) -> Result<SweepRound, StoreError> {
        let now = self.clock.now();
        let mut round = SweepRound::default();
        for leftover in self.files.take_leftovers(owner, now, now + AGAIN, BATCH).await? {
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
        let leftover = |id| Leftover {
            id: FileId::new(id).unwrap(),
            project_id: ProjectId::new(id).unwrap(),
            key: FileKey::generate(&CountingRandom::new()),
        };
        let mut files = MockFileRepository::new();
        files.expect_take_leftovers().returning(move |_, _, _, _| Ok(vec![leftover(1), leftover(2)]));
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
