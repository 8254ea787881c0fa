//! Rate limits as a port, and view counts that use them, collected without a write per read.

use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::StoreError;

/// Rate limit: a number of hits within a window that starts at the first hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RateRule {
    /// Name of the rule; subjects of different rules never share a counter.
    pub name: &'static str,
    /// Maximum hits per window.
    pub limit: u32,
    /// Duration of a window.
    pub window: Duration,
}

/// State of a counter after a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// `true` if the hit was within the limit.
    pub allowed: bool,
    /// Hits per window.
    pub limit: u32,
    /// Hits left in this window.
    pub remaining: u32,
    /// Time until the window ends.
    pub resets_in: Duration,
}

/// Counts hits.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait::async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts one hit of `subject` against `rule`. A hit beyond the limit is refused and not counted.
    async fn hit(&self, rule: RateRule, subject: &str) -> Quota;
}

/// Counted views that are not stored yet. Holds one entry per record viewed since the last store.
pub struct PendingViews<Id>(Mutex<HashMap<Id, u64>>);

impl<Id> Default for PendingViews<Id> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Id: Copy + Ord + Hash + Display> PendingViews<Id> {
    /// Counts a view of a record from this address, at most once in ten minutes per address and record. Each kind of
    /// record has its own rate limit, `name`. Returns the views of the record that are not stored yet.
    pub async fn count_view(&self, limiter: &dyn RateLimiter, name: &'static str, id: Id, viewer: &str) -> u64 {
        let one_view = RateRule { name, limit: 1, window: Duration::from_secs(600) };
        if limiter.hit(one_view, &format!("{viewer}/{id}")).await.allowed { self.add(id) } else { self.of(id) }
    }

    /// Stores the views counted since the last time and returns the number of records. Records are written in order of
    /// identifier, the same in every process. If storing fails, the views are kept. If the outcome is unknown, they are
    /// not added again.
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

    /// Returns the views of a record that are not stored yet.
    pub fn of(&self, id: Id) -> u64 {
        self.counts().get(&id).copied().unwrap_or_default()
    }

    fn snapshot(&self) -> Vec<(Id, u64)> {
        let mut views: Vec<_> = self.counts().iter().map(|(id, count)| (*id, *count)).collect();
        views.sort_unstable();
        views
    }

    /// Removes the stored views; views counted in the meantime stay.
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

    /// A poisoned lock is ignored: every operation leaves the counters consistent.
    fn counts(&self) -> MutexGuard<'_, HashMap<Id, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn quota(allowed: bool) -> Quota {
        Quota { allowed, limit: 1, remaining: 0, resets_in: Duration::ZERO }
    }

    #[tokio::test]
    async fn one_viewer_counts_once_in_ten_minutes() {
        let mut limiter = MockRateLimiter::new();
        let one_view = RateRule { name: "views", limit: 1, window: Duration::from_secs(600) };
        let mut seen = std::collections::BTreeSet::new();
        limiter.expect_hit().times(4).returning(move |rule, subject| {
            assert_eq!(rule, one_view);
            quota(seen.insert(subject.to_owned()))
        });
        let views = PendingViews::default();
        let mut counts = Vec::new();
        for (id, viewer) in [(7, "anna"), (7, "anna"), (7, "ivan"), (8, "anna")] {
            counts.push(views.count_view(&limiter, "views", id, viewer).await);
        }
        assert_eq!(counts, [1, 1, 2, 1]);
        assert_eq!([views.of(7), views.of(8), views.of(9)], [2, 1, 0]);
    }

    #[tokio::test]
    async fn views_are_stored_once_and_those_that_come_meanwhile_later() {
        let views = PendingViews::default();
        views.add(8);
        views.add(7);
        views.add(7);
        let refused = views.store(async |_| Err(StoreError::Unavailable(String::new()))).await;
        assert!(refused.is_err());
        assert_eq!([views.of(7), views.of(8)], [2, 1], "what was not stored waits");
        let add = async |stored: Vec<(i64, u64)>| {
            assert_eq!(stored, [(7, 2), (8, 1)]);
            views.add(7);
            Ok(())
        };
        assert_eq!(views.store(add).await.unwrap(), 2);
        assert_eq!(views.snapshot(), [(7, 1)]);
    }

    #[tokio::test]
    async fn views_that_may_have_been_stored_are_not_stored_again() {
        let views = PendingViews::default();
        views.add(7);
        assert!(views.store(async |_| Err(StoreError::OutcomeUnknown(String::new()))).await.is_err());
        let nothing = views.store(async |_: Vec<(i64, u64)>| panic!("there is nothing to store")).await;
        assert_eq!(nothing.unwrap(), 0);
    }
}
