//! Deadlines of waiting objects.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::ledger::Object;

/// Waiting objects, the earliest deadline first.
pub struct Deadlines {
    /// Maximum number of objects. When it is reached, a new object replaces the one that is due next.
    capacity: usize,
    waiting: VecDeque<(DateTime<Utc>, Object)>,
}

impl Deadlines {
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), waiting: VecDeque::new() }
    }

    pub fn add(&mut self, due: DateTime<Utc>, object: Object) {
        if self.waiting.len() == self.capacity {
            self.waiting.pop_front();
        }
        // Most objects wait equally long, so new ones usually belong at the end.
        let place = self.waiting.partition_point(|(earlier, _)| *earlier <= due);
        self.waiting.insert(place, (due, object));
    }

    /// Returns the earliest deadline.
    pub fn next(&self) -> Option<DateTime<Utc>> {
        self.waiting.front().map(|(due, _)| *due)
    }

    /// Removes and returns the next object whose deadline has passed.
    pub fn take_due(&mut self, now: DateTime<Utc>) -> Option<Object> {
        self.waiting.pop_front_if(|(due, _)| *due <= now).map(|(_, object)| object)
    }
}
