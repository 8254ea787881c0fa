//! Statements that tests hold back, so that others come in between.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The statements of a pool, of which one may wait.
#[derive(Debug, Default)]
pub struct Pauses {
    state: Mutex<State>,
    resumed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Statements since the pool was armed.
    count: usize,
    /// Numbers of those that began a transaction which may write.
    begins: Vec<usize>,
    /// Number of the statement that waits.
    at: Option<usize>,
    /// The next transaction waits.
    at_next_begin: bool,
    /// Text of the statement that waits now.
    waiting: Option<String>,
}

impl Pauses {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts statements anew, from 0, and holds back the one with this number.
    pub fn arm(&self, at: Option<usize>) {
        *self.state() = State { at, ..State::default() };
    }

    /// Statements since the pool was armed.
    pub fn count(&self) -> usize {
        self.state().count
    }

    /// Numbers of the statements since then that began a transaction which may write.
    pub fn begins(&self) -> Vec<usize> {
        self.state().begins.clone()
    }

    /// Text of the statement that waits.
    pub fn waiting(&self) -> Option<String> {
        self.state().waiting.clone()
    }

    /// Lets the statement that waits go on. None waits any more.
    pub fn resume(&self) {
        self.go_on(false);
    }

    /// Lets the statement that waits go on, and the next transaction wait.
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

    /// Counts a statement that is about to be sent, and holds it back if it is the one to wait.
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
