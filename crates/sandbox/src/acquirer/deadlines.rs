//! What waits, and until when.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::ledger::Object;

/// Objects that wait, the next to be due first.
pub struct Deadlines {
    /// No more objects than this are kept, so the one that is due next is forgotten for a new one.
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
        // Most wait equally long, and so belong at the end.
        let place = self.waiting.partition_point(|(earlier, _)| *earlier <= due);
        self.waiting.insert(place, (due, object));
    }

    /// When the time of the next object runs out.
    pub fn next(&self) -> Option<DateTime<Utc>> {
        self.waiting.front().map(|(due, _)| *due)
    }

    /// The next object whose time has run out.
    pub fn take_due(&mut self, now: DateTime<Utc>) -> Option<Object> {
        self.waiting.pop_front_if(|(due, _)| *due <= now).map(|(_, object)| object)
    }
}
