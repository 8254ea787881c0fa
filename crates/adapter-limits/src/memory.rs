use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Clock, Quota, RateLimiter, RateRule};

/// How many counters are kept unless said otherwise, at some 50 bytes each.
pub const MOST_COUNTERS: usize = 200_000;

/// Counters are spread over this many locks.
const SHARDS: usize = 32;

/// What a counter belongs to: two independent keyed hashes of the rule and the subject.
type Key = (u64, u64);

#[derive(Debug, Clone, Copy)]
struct Window {
    ends_at: DateTime<Utc>,
    hits: u32,
}

/// Fixed windows in memory, each starting at the first hit of its subject.
pub struct MemoryLimiter {
    clock: Arc<dyn Clock>,
    hashers: (RandomState, RandomState),
    shards: Vec<Mutex<HashMap<Key, Window>>>,
    shard_capacity: usize,
}

impl MemoryLimiter {
    /// A limiter with room for [`MOST_COUNTERS`].
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::with_capacity(clock, MOST_COUNTERS)
    }

    /// A limiter with room for about `capacity` counters. When it is full, ended windows go first, then the windows
    /// with the fewest hits: a flood of new subjects cannot wash away a counter that has reached its limit.
    pub fn with_capacity(clock: Arc<dyn Clock>, capacity: usize) -> Self {
        Self {
            clock,
            hashers: (RandomState::new(), RandomState::new()),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            shard_capacity: capacity.div_ceil(SHARDS).max(1),
        }
    }

    fn key(&self, rule: &RateRule, subject: &str) -> Key {
        let of = |hasher: &RandomState| hasher.hash_one((rule.name, subject));
        (of(&self.hashers.0), of(&self.hashers.1))
    }

    fn shard(&self, key: Key) -> Option<MutexGuard<'_, HashMap<Key, Window>>> {
        let index = usize::try_from(key.0 % u64::try_from(SHARDS).ok()?).ok()?;
        Some(self.shards.get(index)?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(&self, rule: &RateRule, subject: &str) -> Option<(Window, bool, DateTime<Utc>)> {
        let key = self.key(rule, subject);
        let mut windows = self.shard(key)?;
        let now = self.clock.now();
        let length = TimeDelta::from_std(rule.window).unwrap_or(TimeDelta::MAX);
        let fresh = Window { ends_at: now.checked_add_signed(length).unwrap_or(DateTime::<Utc>::MAX_UTC), hits: 0 };
        if !windows.contains_key(&key) && windows.len() >= self.shard_capacity {
            make_room(&mut windows, now, self.shard_capacity);
        }
        let window = windows.entry(key).or_insert(fresh);
        if window.ends_at <= now {
            *window = fresh;
        }
        let allowed = window.hits < rule.limit;
        if allowed {
            window.hits += 1;
        }
        Some((*window, allowed, now))
    }

    #[cfg(test)]
    fn counters(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap().len()).sum()
    }
}

/// Forgets ended windows and, when that is not enough, an eighth of the rest: those with the fewest hits.
fn make_room(windows: &mut HashMap<Key, Window>, now: DateTime<Utc>, capacity: usize) {
    windows.retain(|_, window| window.ends_at > now);
    if windows.len() < capacity {
        return;
    }
    let mut order: Vec<(u32, DateTime<Utc>, Key)> =
        windows.iter().map(|(key, window)| (window.hits, window.ends_at, *key)).collect();
    order.sort_unstable();
    for (_, _, key) in order.into_iter().take((capacity / 8).max(1)) {
        windows.remove(&key);
    }
}

#[async_trait]
impl RateLimiter for MemoryLimiter {
    async fn hit(&self, rule: RateRule, subject: &str) -> Quota {
        let Some((window, allowed, now)) = self.count(&rule, subject) else {
            return Quota { allowed: false, limit: rule.limit, remaining: 0, resets_in: rule.window };
        };
        Quota {
            allowed,
            limit: rule.limit,
            remaining: rule.limit.saturating_sub(window.hits),
            resets_in: (window.ends_at - now).to_std().unwrap_or(Duration::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::FixedClock;

    const RULE: RateRule = RateRule { name: "login", limit: 3, window: Duration::from_mins(1) };

    fn limiter(capacity: usize) -> (Arc<MemoryLimiter>, Arc<FixedClock>) {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        (Arc::new(MemoryLimiter::with_capacity(clock.clone(), capacity)), clock)
    }

    #[tokio::test]
    async fn a_window_starts_at_the_first_hit() {
        let (limiter, clock) = limiter(100);
        let first = limiter.hit(RULE, "a").await;
        assert_eq!((first.allowed, first.remaining, first.resets_in), (true, 2, Duration::from_mins(1)));
        clock.advance(TimeDelta::seconds(59));
        assert!(limiter.hit(RULE, "a").await.allowed);
        let third = limiter.hit(RULE, "a").await;
        assert_eq!((third.allowed, third.remaining, third.resets_in), (true, 0, Duration::from_secs(1)));
        assert!(!limiter.hit(RULE, "a").await.allowed);
        clock.advance(TimeDelta::seconds(1));
        let next = limiter.hit(RULE, "a").await;
        assert_eq!((next.allowed, next.remaining, next.resets_in), (true, 2, Duration::from_mins(1)));
    }

    #[tokio::test]
    async fn subjects_and_rules_count_apart() {
        let (limiter, _) = limiter(100);
        for _ in 0..4 {
            limiter.hit(RULE, "a").await;
        }
        assert!(limiter.hit(RULE, "b").await.allowed);
        assert!(limiter.hit(RateRule { name: "other", ..RULE }, "a").await.allowed);
        assert!(!limiter.hit(RULE, "a").await.allowed);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn a_race_of_a_hundred_lets_only_the_limit_pass() {
        let (limiter, _) = limiter(100);
        let rule = RateRule { limit: 17, ..RULE };
        let hits: Vec<_> = (0..100)
            .map(|_| {
                let limiter = Arc::clone(&limiter);
                tokio::spawn(async move { limiter.hit(rule, "a").await })
            })
            .collect();
        let mut left = Vec::new();
        for hit in hits {
            let quota = hit.await.unwrap();
            if quota.allowed {
                left.push(quota.remaining);
            }
        }
        left.sort_unstable();
        assert_eq!(left, (0..17).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_flood_of_subjects_neither_grows_memory_nor_frees_a_limited_one() {
        let (limiter, clock) = limiter(SHARDS * 8);
        for _ in 0..4 {
            limiter.hit(RULE, "victim").await;
        }
        for subject in 0..5_000 {
            limiter.hit(RULE, &subject.to_string()).await;
        }
        assert!(limiter.counters() <= SHARDS * 8);
        assert!(!limiter.hit(RULE, "victim").await.allowed);
        clock.advance(TimeDelta::minutes(2));
        assert!(limiter.hit(RULE, "victim").await.allowed);
    }
}
