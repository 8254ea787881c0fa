//! Conflicts that tests inject into commits in addition to real ones.

use std::sync::atomic::{AtomicU64, Ordering};

use diesel::result::{DatabaseErrorKind, Error as QueryError, QueryResult};

/// Number of first commits that never meet an injected conflict. A refused commit leaves a gap in the record numbers,
/// and tests rely on the numbers of the first records.
const UNAFFECTED_COMMITS: u64 = 8;

/// Rate of injected conflicts.
#[derive(Debug, Default)]
pub struct Conflicts {
    percent: AtomicU64,
    commits: AtomicU64,
}

impl Conflicts {
    /// Sets how many commits in a hundred fail with SQLSTATE 40001.
    pub fn set(&self, percent: u64) {
        self.percent.store(percent, Ordering::SeqCst);
    }

    pub(super) fn maybe_conflict(&self) -> QueryResult<()> {
        let number = self.commits.fetch_add(1, Ordering::SeqCst);
        // The finalizer of splitmix64 spreads the conflicts over the commits, the same in every run.
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        if number >= UNAFFECTED_COMMITS && (mixed ^ (mixed >> 31)) % 100 < self.percent.load(Ordering::SeqCst) {
            let information = Box::new("a conflict of the tests".to_owned());
            return Err(QueryError::DatabaseError(DatabaseErrorKind::SerializationFailure, information));
        }
        Ok(())
    }
}
