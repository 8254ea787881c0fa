//! Conflicts that tests have commits meet beside the real ones.

use std::sync::atomic::{AtomicU64, Ordering};

use diesel::result::{DatabaseErrorKind, Error as QueryError, QueryResult};

/// The numbers of the first records of a database are what tests take them for, so its first commits are left alone: a refused
/// one leaves a gap in the numbers.
const SPARED: u64 = 8;

/// How often commits meet a conflict that is none.
#[derive(Debug, Default)]
pub struct Conflicts {
    percent: AtomicU64,
    commits: AtomicU64,
}

impl Conflicts {
    /// From now on so many commits of a hundred are refused with SQLSTATE 40001.
    pub fn set(&self, percent: u64) {
        self.percent.store(percent, Ordering::SeqCst);
    }

    pub(super) fn meet(&self) -> QueryResult<()> {
        let number = self.commits.fetch_add(1, Ordering::SeqCst);
        // Scattered over the commits, and the same in every run: the finalizer of splitmix64.
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        if number >= SPARED && (mixed ^ (mixed >> 31)) % 100 < self.percent.load(Ordering::SeqCst) {
            let information = Box::new("a conflict of the tests".to_owned());
            return Err(QueryError::DatabaseError(DatabaseErrorKind::SerializationFailure, information));
        }
        Ok(())
    }
}
