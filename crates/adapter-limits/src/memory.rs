use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Clock, Quota, RateLimiter, RateRule};

/// Default number of counters, at about 70 bytes each.
pub const DEFAULT_COUNTERS: usize = 200_000;

/// Number of locks that the counters are spread over.
const SHARDS: usize = 32;

/// Key of a counter: two independent keyed hashes of the rule and the subject.
type Key = (u64, u64);

#[derive(Debug, Clone, Copy)]
struct Window {
    rule: &'static str,
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
    /// Creates a limiter with room for [`DEFAULT_COUNTERS`].
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::with_capacity(clock, DEFAULT_COUNTERS)
    }

    /// Creates a limiter with room for about `capacity` counters.
    ///
    /// A full limiter removes ended windows first, then windows of the rule with the most windows, fewest hits first. A
    /// flood of new subjects therefore removes neither the counters of other rules nor one that has reached its limit.
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
        let ends_at = now.checked_add_signed(length).unwrap_or(DateTime::<Utc>::MAX_UTC);
        let fresh = Window { rule: rule.name, ends_at, hits: 0 };
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

/// Removes ended windows. If that is not enough, removes an eighth of the capacity from the rule with the most windows,
/// fewest hits first.
fn make_room(windows: &mut HashMap<Key, Window>, now: DateTime<Utc>, capacity: usize) {
    windows.retain(|_, window| window.ends_at > now);
    if windows.len() < capacity {
        return;
    }
    let mut shares: HashMap<&str, usize> = HashMap::new();
    for window in windows.values() {
        *shares.entry(window.rule).or_default() += 1;
    }
    let Some((largest, _)) = shares.into_iter().max_by_key(|(_, share)| *share) else { return };
    let mut order: Vec<(u32, DateTime<Utc>, Key)> = windows
        .iter()
        .filter(|(_, window)| window.rule == largest)
        .map(|(key, window)| (window.hits, window.ends_at, *key))
        .collect();
    let many = (capacity / 8).max(1);
    if many < order.len() {
        order.select_nth_unstable(many);
    }
    for (_, _, key) in order.into_iter().take(many) {
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
    async fn a_flood_of_subjects_neither_grows_memory_nor_frees_a_limited_one() {
        let (limiter, clock) = limiter(SHARDS * 8);
        for _ in 0..4 {
            limiter.hit(RULE, "victim").await;
        }
        for subject in 0..5_000 {
            limiter.hit(RULE, &subject.to_string()).await;
            assert!(limiter.counters() <= SHARDS * 8);
        }
        assert!(!limiter.hit(RULE, "victim").await.allowed);
        clock.advance(TimeDelta::minutes(2));
        assert!(limiter.hit(RULE, "victim").await.allowed);
    }

    #[tokio::test]
    async fn a_flood_against_one_rule_washes_away_no_counter_of_another() {
        let (limiter, _) = limiter(SHARDS * 64);
        for subject in 0..200 {
            limiter.hit(RULE, &subject.to_string()).await;
        }
        let flooded = RateRule { name: "views", limit: 1, window: Duration::from_hours(1) };
        for subject in 0..50_000 {
            limiter.hit(flooded, &subject.to_string()).await;
        }
        for subject in 0..200 {
            assert_eq!(limiter.hit(RULE, &subject.to_string()).await.remaining, 1, "{subject}");
        }
        assert!(limiter.counters() <= SHARDS * 64);
    }
}
