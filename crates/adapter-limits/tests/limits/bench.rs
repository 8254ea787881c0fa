//! A limiter whose time can be changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_limits::testing::shared_redis;
use kontor_adapter_limits::{MemoryLimiter, RedisLimiter, RedisOptions};
use kontor_kernel::testing::PlainCipher;
use kontor_kernel::{FixedClock, RateLimiter};
use redis::Client;
use redis::aio::MultiplexedConnection;

/// Longer than any machine under load takes: no test here checks this timeout.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A limiter used by one test only.
#[derive(Clone)]
pub struct Bench {
    pub limiter: Arc<dyn RateLimiter>,
    time: Time,
}

#[derive(Clone)]
enum Time {
    Clock(Arc<FixedClock>),
    /// The time of Redis cannot be changed; the ends of its windows can.
    Keys(String, MultiplexedConnection),
}

#[expect(clippy::disallowed_methods, reason = "a name that no other run of the tests has")]
fn namespace() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    format!("kontor:test:{}:{}:{}", std::process::id(), since.as_nanos(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Returns a started and connected limiter.
pub async fn connected(url: &str, options: RedisOptions) -> RedisLimiter {
    let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
    let limiter = RedisLimiter::new(url.parse().unwrap(), options, clock, Arc::new(PlainCipher));
    limiter.start();
    until(|| limiter.is_connected()).await;
    limiter
}

/// Pause between two looks.
pub async fn moment() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// Waits for a concurrent event.
pub async fn until(happened: impl Fn() -> bool) {
    let watch = async {
        while !happened() {
            moment().await;
        }
    };
    tokio::time::timeout(PATIENCE, watch).await.unwrap();
}

/// Looks for this time whether a condition stays as it is.
pub async fn stays(time: Duration, holds: impl Fn() -> bool) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        assert!(holds());
        moment().await;
    }
}

impl Bench {
    pub fn memory() -> Self {
        let clock = Arc::new(FixedClock::at(DateTime::<Utc>::UNIX_EPOCH));
        Self { limiter: Arc::new(MemoryLimiter::new(clock.clone())), time: Time::Clock(clock) }
    }

    pub async fn redis() -> Self {
        let url = shared_redis();
        let namespace = namespace();
        let limiter = connected(&url, RedisOptions { patience: PATIENCE, namespace: namespace.clone() }).await;
        let connection = Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap();
        Self { limiter: Arc::new(limiter), time: Time::Keys(namespace, connection) }
    }

    /// Advances the time of this limiter.
    pub async fn advance(&self, by: Duration) {
        match &self.time {
            Time::Clock(clock) => clock.advance(TimeDelta::from_std(by).unwrap()),
            Time::Keys(namespace, connection) => {
                let script = "for _, key in ipairs(redis.call('KEYS', ARGV[1] .. ':*')) do \
                    redis.call('PEXPIRE', key, math.max(0, redis.call('PTTL', key) - ARGV[2])) end";
                let mut connection = connection.clone();
                let by = u64::try_from(by.as_millis()).unwrap();
                let call = redis::cmd("EVAL").arg(script).arg(0).arg(namespace).arg(by).take();
                call.exec_async(&mut connection).await.unwrap();
            }
        }
    }
}

/// Writes one test per adapter from one async function taking a [`Bench`].
macro_rules! limiter_tests {
    ($(async fn $name:ident($bench:ident: Bench) $body:block)+) => {$(
        mod $name {
            use super::*;

            async fn run($bench: Bench) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn memory() {
                run(Bench::memory()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn redis() {
                run(Bench::redis().await).await;
            }
        }
    )+};
}
pub(crate) use limiter_tests;

/// Writes tests that need a Redis, from async functions without arguments: `NAME::redis_server`. They run on one thread.
macro_rules! redis_tests {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[tokio::test]
            async fn redis_server() {
                super::$name().await;
            }
        }
    )+};
}
pub(crate) use redis_tests;
