//! Statements that tests pause, so that other transactions run in between, and conflicts that tests inject into commits
//! in addition to real ones.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use diesel::result::{DatabaseErrorKind, Error as QueryError, QueryResult};

/// Statement counter of a pool that can pause one statement.
#[derive(Debug, Default)]
pub struct Pauses {
    state: Mutex<State>,
    resumed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Statements since the pool was armed.
    count: usize,
    /// Numbers of the statements that began a transaction which may write.
    begins: Vec<usize>,
    /// Number of the statement to pause.
    at: Option<usize>,
    /// `true` if the next transaction that may write is paused.
    at_next_begin: bool,
    /// Text of the paused statement.
    waiting: Option<String>,
}

impl Pauses {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restarts the count at 0 and pauses the statement with this number.
    pub fn arm(&self, at: Option<usize>) {
        *self.state() = State { at, ..State::default() };
    }

    /// Returns the number of statements since the pool was armed.
    pub fn count(&self) -> usize {
        self.state().count
    }

    /// Returns the numbers of those statements that began a transaction which may write.
    pub fn begins(&self) -> Vec<usize> {
        self.state().begins.clone()
    }

    /// Returns the text of the paused statement.
    pub fn waiting(&self) -> Option<String> {
        self.state().waiting.clone()
    }

    /// Resumes the paused statement. No further statement is paused.
    pub fn resume(&self) {
        self.go_on(false);
    }

    /// Resumes the paused statement and pauses the next transaction.
    pub fn resume_until_begin(&self) {
        self.go_on(true);
    }

    fn go_on(&self, until_begin: bool) {
        let mut state = self.state();
        state.at = None;
        state.at_next_begin = until_begin;
        state.waiting = None;
        drop(state);
        self.resumed.notify_all();
    }

    /// Counts a statement that is about to be sent, and blocks if it is the one to pause.
    pub(super) fn statement(&self, text: &str) {
        let mut state = self.state();
        let number = state.count;
        state.count += 1;
        let begins = text == "BEGIN";
        if begins {
            state.begins.push(number);
        }
        if state.at != Some(number) && !(begins && state.at_next_begin) {
            return;
        }
        state.waiting = Some(text.to_owned());
        while state.waiting.is_some() {
            state = self.resumed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Number of first commits that never meet an injected conflict. A refused commit leaves a gap in the record numbers,
/// and tests rely on the numbers of the first records.
const UNAFFECTED_COMMITS: u64 = 8;

/// Rate of injected conflicts, and an injected delay of commits.
#[derive(Debug, Default)]
pub struct Conflicts {
    percent: AtomicU64,
    commits: AtomicU64,
    delay: AtomicU64,
}

impl Conflicts {
    /// Sets how many commits in a hundred fail with SQLSTATE 40001.
    pub fn set(&self, percent: u64) {
        self.percent.store(percent, Ordering::SeqCst);
    }

    /// Lets every commit count as this many seconds later, without a wait.
    pub fn set_delay(&self, seconds: u64) {
        self.delay.store(seconds, Ordering::SeqCst);
    }

    pub(super) fn delay(&self) -> Duration {
        Duration::from_secs(self.delay.load(Ordering::SeqCst))
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
