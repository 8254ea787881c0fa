//! Rate limits counted in memory or in Redis.
//!
//! **Owns** the counters: fixed windows that start at the first hit of a subject.
//!
//! **Invariants**
//! - A window accepts no more hits than its limit, also under concurrency; a refused hit counts nothing.
//! - Both adapters return the same results for the same hits.
//! - Memory is bounded: a counter has a fixed size and there are never more than the given number of them.
//! - Subjects are not stored, only keyed hashes of them.
//! - A slow or lost Redis delays a hit by at most the configured time; then memory counts until Redis is back.
//!
//! **Implements** [`RateLimiter`](kontor_kernel::RateLimiter): [`MemoryLimiter`] for one process, whose windows follow
//! the [`Clock`](kontor_kernel::Clock) port; [`RedisLimiter`] for several processes that count together, whose windows
//! follow the time of the Redis server.
//!
//! ```
//! use std::sync::Arc;
//! use kontor_adapter_limits::MemoryLimiter;
//! use kontor_kernel::FixedClock;
//!
//! let clock = Arc::new(FixedClock::at(Default::default()));
//! let limiter = MemoryLimiter::new(clock);
//! ```

mod memory;
mod redis;
#[cfg(feature = "test-support")]
pub mod testing;

pub use memory::{DEFAULT_COUNTERS, MemoryLimiter};
pub use redis::{InvalidRedisUrl, RedisLimiter, RedisOptions, RedisUrl};
