//! Rate limits counted in the memory of one process.
//!
//! **Owns** the counters.
//!
//! **Invariants**
//! - A window starts at the first hit and is fixed; of hits that race for the last place, exactly one gets it.
//! - Memory is bounded: past [`MOST_SUBJECTS`] counters the least recently used ones are forgotten.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Clock, Quota, RateLimiter, RateRule};
use moka::sync::Cache;

/// How many counters are kept.
pub const MOST_SUBJECTS: u64 = 500_000;

struct Window {
    started_at: DateTime<Utc>,
    hits: u32,
}

/// Counters in memory.
pub struct MemoryLimiter {
    clock: Arc<dyn Clock>,
    windows: Cache<(&'static str, String), Arc<Mutex<Window>>>,
}

impl MemoryLimiter {
    /// No counter yet.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, windows: Cache::new(MOST_SUBJECTS) }
    }
}

#[async_trait]
impl RateLimiter for MemoryLimiter {
    async fn hit(&self, rule: RateRule, subject: &str) -> Quota {
        let now = self.clock.now();
        let length = TimeDelta::from_std(rule.window).unwrap_or(TimeDelta::MAX);
        let window = self
            .windows
            .get_with((rule.name, subject.to_owned()), || Arc::new(Mutex::new(Window { started_at: now, hits: 0 })));
        let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
        if now - window.started_at >= length {
            *window = Window { started_at: now, hits: 0 };
        }
        window.hits = window.hits.saturating_add(1);
        Quota {
            allowed: window.hits <= rule.limit,
            limit: rule.limit,
            remaining: rule.limit.saturating_sub(window.hits),
            resets_in: (length - (now - window.started_at)).to_std().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::FixedClock;
    use std::time::Duration;

    const RULE: RateRule = RateRule { name: "trial", limit: 3, window: Duration::from_secs(60) };

    #[tokio::test]
    async fn a_window_starts_at_the_first_hit_and_ends() {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let limiter = MemoryLimiter::new(clock.clone());
        for remaining in [2, 1, 0] {
            let quota = limiter.hit(RULE, "a").await;
            assert_eq!((quota.allowed, quota.remaining), (true, remaining));
        }
        clock.advance(TimeDelta::seconds(59));
        let refused = limiter.hit(RULE, "a").await;
        assert_eq!((refused.allowed, refused.resets_in), (false, Duration::from_secs(1)));
        assert!(limiter.hit(RULE, "b").await.allowed);
        clock.advance(TimeDelta::seconds(1));
        assert!(limiter.hit(RULE, "a").await.allowed);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn a_hundred_racing_hits_share_one_window() {
        let limiter = Arc::new(MemoryLimiter::new(Arc::new(FixedClock::at(DateTime::UNIX_EPOCH))));
        let hits = (0..100).map(|_| {
            let limiter = limiter.clone();
            tokio::spawn(async move { limiter.hit(RULE, "a").await.allowed })
        });
        let mut allowed = 0;
        for hit in hits.collect::<Vec<_>>() {
            allowed += u32::from(hit.await.unwrap());
        }
        assert_eq!(allowed, 3);
    }
}
