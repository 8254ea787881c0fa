//! Storage in memory: data behind a lock, a sequence of identifiers, and guards that a test can remove.

use std::sync::{Arc, Mutex, PoisonError};

use crate::InvalidId;

/// Data of a storage in memory. Clones share it.
#[derive(Debug, Default)]
pub struct Shared<S>(Arc<Mutex<S>>);

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> Shared<S> {
    /// Holds this data.
    pub fn new(data: S) -> Self {
        Self(Arc::new(Mutex::new(data)))
    }

    /// Reads or changes the data while no other call does.
    pub fn with<T>(&self, step: impl FnOnce(&mut S) -> T) -> T {
        step(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the data, or nothing if the result is an error.
    ///
    /// # Errors
    /// Those of the change.
    pub fn commit<T, E>(&self, change: impl FnOnce(&mut S) -> Result<T, E>) -> Result<T, E>
    where
        S: Clone,
    {
        self.with(|data| {
            let mut next = data.clone();
            let done = change(&mut next)?;
            *data = next;
            Ok(done)
        })
    }
}

/// Numbers from 1.
#[derive(Debug, Clone, Default)]
pub struct Sequence(i64);

impl Sequence {
    /// Returns the next number.
    pub const fn number(&mut self) -> i64 {
        self.0 += 1;
        self.0
    }

    /// Returns the next number as an identifier.
    ///
    /// # Panics
    /// Never: numbers from 1 are identifiers.
    #[expect(clippy::expect_used, reason = "the numbers count from 1")]
    pub fn id<Id: TryFrom<i64, Error = InvalidId>>(&mut self) -> Id {
        Id::try_from(self.number()).expect("a number from 1")
    }
}

/// Guards of a storage. A test removes one, to prove that the contract notices.
#[derive(Debug, Clone, Copy)]
pub struct Guards<G>(Option<G>);

impl<G> Default for Guards<G> {
    fn default() -> Self {
        Self(None)
    }
}

impl<G: Copy + PartialEq> Guards<G> {
    /// All guards but this one.
    pub const fn without(guard: G) -> Self {
        Self(Some(guard))
    }

    /// Returns `true` unless the guard is removed.
    pub fn has(self, guard: G) -> bool {
        self.0 != Some(guard)
    }
}
