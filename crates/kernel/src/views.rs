//! How often records are looked at, counted without a write per read.

use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{RateLimiter, RateRule, StoreError};

/// Views that are counted but not stored yet. Holds one entry per record looked at since the last time they were stored.
pub struct PendingViews<Id>(Mutex<HashMap<Id, u64>>);

impl<Id> Default for PendingViews<Id> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Id: Copy + Ord + Hash + Display> PendingViews<Id> {
    /// Somebody at this address looks at a record; it counts once in ten minutes per address and record. Views of each kind of
    /// records are limited under a name of their own. Returns the views of the record that are not stored yet.
    pub async fn look(&self, limiter: &dyn RateLimiter, name: &'static str, id: Id, viewer: &str) -> u64 {
        let one_view = RateRule { name, limit: 1, window: Duration::from_mins(10) };
        if limiter.hit(one_view, &format!("{viewer}/{id}")).await.allowed { self.add(id) } else { self.of(id) }
    }

    /// Has the views counted since the last time stored, in the order of the records, in which every process writes them, and
    /// says of how many records. What was not stored is kept; what may be stored is not added again.
    pub async fn store(
        &self,
        add: impl AsyncFnOnce(Vec<(Id, u64)>) -> Result<(), StoreError>,
    ) -> Result<usize, StoreError> {
        let views = self.snapshot();
        if !views.is_empty() {
            let outcome = add(views.clone()).await;
            if matches!(outcome, Ok(()) | Err(StoreError::OutcomeUnknown(_))) {
                self.stored(&views);
            }
            outcome?;
        }
        Ok(views.len())
    }

    fn add(&self, id: Id) -> u64 {
        let mut counts = self.counts();
        let count = counts.entry(id).or_default();
        *count += 1;
        *count
    }

    /// Views of a record that are not stored yet.
    pub fn of(&self, id: Id) -> u64 {
        self.counts().get(&id).copied().unwrap_or_default()
    }

    fn snapshot(&self) -> Vec<(Id, u64)> {
        let mut views: Vec<_> = self.counts().iter().map(|(id, count)| (*id, *count)).collect();
        views.sort_unstable();
        views
    }

    /// Forgets what was stored; views counted meanwhile stay.
    fn stored(&self, views: &[(Id, u64)]) {
        let mut counts = self.counts();
        for (id, stored) in views {
            if let Some(count) = counts.get_mut(id) {
                *count = count.saturating_sub(*stored);
                if *count == 0 {
                    counts.remove(id);
                }
            }
        }
    }

    /// Counters stay usable after a panic elsewhere: every step leaves them whole.
    fn counts(&self) -> MutexGuard<'_, HashMap<Id, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
