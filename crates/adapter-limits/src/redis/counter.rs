use std::time::Duration;

use kontor_kernel::{Quota, RateRule};
use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Script};

/// Counts one hit atomically. A key without an expiry was not written by this script and is reset.
///
/// `KEYS[1]` is the counter, `ARGV[1]` the limit, `ARGV[2]` the window in milliseconds. Returns 1 if the hit counts,
/// the hits of the window, and its milliseconds left.
const HIT: &str = r"
local limit = tonumber(ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left <= 0 then
    local first = math.min(1, limit)
    redis.call('SET', KEYS[1], first, 'PX', ARGV[2])
    return {first, first, tonumber(ARGV[2])}
end
local hits = tonumber(redis.call('GET', KEYS[1]) or 0)
if hits >= limit then
    return {0, hits, left}
end
return {1, redis.call('INCR', KEYS[1]), left}
";

/// Maximum window; Redis refuses longer expiry times.
const MAX_WINDOW: Duration = Duration::from_hours(24 * 366);

/// Counter script, which Redis runs atomically.
pub struct Counter(Script);

impl Counter {
    pub fn new() -> Self {
        Self(Script::new(HIT))
    }

    /// Counts one hit.
    pub async fn hit(&self, connection: &mut MultiplexedConnection, rule: &RateRule, key: &str) -> RedisResult<Quota> {
        let window = u64::try_from(rule.window.min(MAX_WINDOW).as_millis()).unwrap_or(u64::MAX).max(1);
        let mut call = self.0.key(key);
        call.arg(rule.limit).arg(window);
        let (counted, hits, left): (u8, u32, u64) = call.invoke_async(connection).await?;
        Ok(Quota {
            allowed: counted == 1,
            limit: rule.limit,
            remaining: rule.limit.saturating_sub(hits),
            resets_in: Duration::from_millis(left),
        })
    }
}
