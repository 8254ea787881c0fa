//! What waits, and until when.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::ledger::Object;

/// Objects that all wait equally long, so that the first to begin is the first to be due.
pub struct Deadlines {
    /// No more objects than this are kept, so what was added before them is forgotten by now.
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
        self.waiting.push_back((due, object));
    }

    /// The next object whose time has run out.
    pub fn take_due(&mut self, now: DateTime<Utc>) -> Option<Object> {
        self.waiting.pop_front_if(|(due, _)| *due <= now).map(|(_, object)| object)
    }
}
