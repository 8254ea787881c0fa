//! Redis refuses, stops, hangs and returns.

use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use chrono::DateTime;
use kontor_adapter_limits::testing::OwnRedis;
use kontor_adapter_limits::{RedisLimiter, RedisOptions};
use kontor_kernel::testing::PlainCipher;
use kontor_kernel::{FixedClock, RateLimiter, RateRule};
use redis::Client;

use crate::bench::{connected, redis_tests, stays, until};

const RULE: RateRule = RateRule { name: "login", limit: 3, window: Duration::from_mins(10) };

thread_local! {
    /// Log of the tasks of one test: they all run on its thread.
    static LOGGED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Log of a test's thread. All tests share one subscriber: while each test creates its own, a line that another thread
/// logs for the first time may be lost.
struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOGGED.with_borrow_mut(|logged| logged.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts an empty log.
fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let notified = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_ansi(false);
        notified.with_writer(|| Log).init();
    });
    LOGGED.with_borrow_mut(Vec::clear);
}

fn logged() -> String {
    LOGGED.with_borrow(|logged| String::from_utf8(logged.clone()).unwrap())
}

fn count(words: &str) -> usize {
    logged().matches(words).count()
}

/// Options for tests that do not check a slow Redis, on slow machines.
fn patient() -> RedisOptions {
    RedisOptions { patience: Duration::from_secs(10), ..RedisOptions::default() }
}

const LOST: &str = "Redis is unavailable";
const FOUND: &str = "rate limits are counted in Redis";

async fn memory_counts_while_redis_is_gone_and_redis_again_when_it_is_back() {
    let mut redis = OwnRedis::start();
    listen();
    let limiter = connected(&redis.url(), patient()).await;
    assert_eq!(limiter.hit(RULE, "a").await.remaining, 2);
    assert_eq!((count(FOUND), count(LOST)), (1, 0));

    redis.stop();
    for remaining in [2, 1, 0, 0, 0] {
        assert_eq!(limiter.hit(RULE, "a").await.remaining, remaining, "memory starts anew");
    }
    assert!(!limiter.is_connected());
    assert!(!limiter.hit(RULE, "a").await.allowed, "there is a limit without Redis, too");
    // Connection attempts continue and are not logged.
    stays(Duration::from_millis(1_200), || (count(FOUND), count(LOST)) == (1, 1)).await;
    assert_eq!((count(FOUND), count(LOST)), (1, 1), "{}", logged());

    assert!(redis.start_again());
    until(|| limiter.is_connected()).await;
    assert_eq!(limiter.hit(RULE, "a").await.remaining, 2, "Redis starts anew");
    assert_eq!((count(FOUND), count(LOST)), (2, 1), "{}", logged());
}

async fn a_redis_that_hangs_holds_up_the_hits_of_one_moment_only() {
    let redis = OwnRedis::start();
    listen();
    let limiter = Arc::new(connected(&redis.url(), RedisOptions::default()).await);
    assert!(redis.signal("STOP"));
    let started = Instant::now();
    let hits: Vec<_> = (0..50)
        .map(|number| {
            let limiter = Arc::clone(&limiter);
            tokio::spawn(async move { limiter.hit(RULE, &number.to_string()).await.allowed })
        })
        .collect();
    for hit in hits {
        assert!(hit.await.unwrap());
    }
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(100) && waited < Duration::from_secs(4), "{waited:?}");
    let started = Instant::now();
    for number in 0..1_000 {
        limiter.hit(RULE, &number.to_string()).await;
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    // A server that accepts and does not respond is no connection.
    stays(Duration::from_millis(1_200), || !limiter.is_connected()).await;
    assert!(!limiter.is_connected());
    assert_eq!(count(LOST), 1, "{}", logged());
    assert!(redis.signal("CONT"));
    until(|| limiter.is_connected()).await;
    assert_eq!(count(FOUND), 2, "{}", logged());
}

async fn a_start_without_redis_counts_in_memory() {
    let mut redis = OwnRedis::start();
    redis.stop();
    listen();
    let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
    let limiter = RedisLimiter::new(redis.url().parse().unwrap(), patient(), clock, Arc::new(PlainCipher));
    assert_eq!(limiter.hit(RULE, "early").await.remaining, 2, "not started");
    limiter.start();
    for remaining in [2, 1, 0, 0] {
        assert_eq!(limiter.hit(RULE, "a").await.remaining, remaining);
    }
    assert_eq!(count(LOST), 1, "{}", logged());
    assert!(redis.start_again());
    until(|| limiter.is_connected()).await;
    assert_eq!(limiter.hit(RULE, "a").await.remaining, 2);
}

async fn a_redis_that_hangs_at_the_start_holds_up_the_first_hits_only() {
    let redis = OwnRedis::start();
    assert!(redis.signal("STOP"));
    listen();
    let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
    let limiter =
        RedisLimiter::new(redis.url().parse().unwrap(), RedisOptions::default(), clock, Arc::new(PlainCipher));
    limiter.start();
    let started = Instant::now();
    for number in 0..100 {
        assert!(limiter.hit(RULE, &number.to_string()).await.allowed);
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!((count(LOST), count(FOUND)), (1, 0), "{}", logged());
    assert!(redis.signal("CONT"));
    until(|| limiter.is_connected()).await;
    assert_eq!((count(LOST), count(FOUND)), (1, 1), "{}", logged());
}

async fn a_redis_that_takes_no_writes_is_none() {
    let redis = OwnRedis::start();
    let limiter = connected(&redis.url(), patient()).await;
    let order = async |words: &[&str]| {
        let mut connection = Client::open(redis.url()).unwrap().get_multiplexed_async_connection().await.unwrap();
        redis::cmd(words.first().unwrap()).arg(words.get(1..).unwrap()).exec_async(&mut connection).await.unwrap();
    };
    // The server considers its memory full.
    order(&["CONFIG", "SET", "maxmemory", "1"]).await;
    assert!(limiter.hit(RULE, "a").await.allowed);
    assert!(!limiter.is_connected());
    stays(Duration::from_millis(800), || !limiter.is_connected()).await;
    assert!(!limiter.is_connected());
    order(&["CONFIG", "SET", "maxmemory", "0"]).await;
    until(|| limiter.is_connected()).await;
    // The script is loaded again after the server forgot it.
    order(&["SCRIPT", "FLUSH"]).await;
    assert_eq!(limiter.hit(RULE, "b").await.remaining, 2);
    assert!(limiter.is_connected());
}

async fn neither_the_log_nor_a_key_tells_a_secret() {
    let redis = OwnRedis::start();
    listen();
    let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
    let wrong = format!("{}?user=kontor&pass=hunter2", redis.url());
    let limiter = RedisLimiter::new(wrong.parse().unwrap(), patient(), clock, Arc::new(PlainCipher));
    limiter.start();
    limiter.hit(RULE, "a").await;
    until(|| count(LOST) == 1).await;
    assert!(!logged().contains("hunter2"), "{}", logged());

    // The test cipher does not encrypt: its input and its use are visible in the keys.
    let limiter = connected(&redis.url(), patient()).await;
    limiter.hit(RULE, "79001234567").await;
    let mut connection = Client::open(redis.url()).unwrap().get_multiplexed_async_connection().await.unwrap();
    let mut keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    keys.retain(|key| !key.ends_with(":probe"));
    assert_eq!(keys, ["kontor:limits:v1:{all}:login:plain:login:79001234567"]);
    let left: i64 = redis::cmd("PTTL").arg(&keys).query_async(&mut connection).await.unwrap();
    assert!((1..=600_000).contains(&left), "every key ends by itself");
}

redis_tests!(
    memory_counts_while_redis_is_gone_and_redis_again_when_it_is_back,
    a_redis_that_hangs_holds_up_the_hits_of_one_moment_only,
    a_start_without_redis_counts_in_memory,
    a_redis_that_hangs_at_the_start_holds_up_the_first_hits_only,
    a_redis_that_takes_no_writes_is_none,
    neither_the_log_nor_a_key_tells_a_secret,
);
