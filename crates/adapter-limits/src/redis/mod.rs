//! Counters in Redis, with a fallback in memory.

mod link;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use kontor_kernel::{Clock, Quota, RateLimiter, RateRule, SecretCipher};
use redis::aio::MultiplexedConnection;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisResult, Script};
use tokio::task::{AbortHandle, JoinSet};

use crate::MemoryLimiter;
use link::Link;

/// Prefix of every key; the version changes with the meaning of a stored value.
const NAMESPACE: &str = "kontor:limits:v1";

/// Hash tag of every key: in a cluster, all counters share one slot on one node.
const HASH_TAG: &str = "{all}";

/// Pause after a panic.
const AFTER_PANIC: Duration = Duration::from_secs(2);

/// Options for the use of Redis.
#[derive(Debug, Clone)]
pub struct RedisOptions {
    /// Maximum time a hit waits for Redis before memory counts it.
    pub patience: Duration,
    /// Prefix of every key. Limiters with different namespaces count separately.
    pub namespace: String,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self { patience: Duration::from_millis(100), namespace: NAMESPACE.to_owned() }
    }
}

/// Fixed windows in one Redis server or in a cluster, shared by every process with the same Redis, namespace and
/// service key.
///
/// Keys contain the name of the rule and a keyed hash of the subject, and expire with their window.
pub struct RedisLimiter {
    link: Arc<Link>,
    fallback: MemoryLimiter,
    cipher: Arc<dyn SecretCipher>,
    namespace: String,
    connecting: Mutex<Option<AbortHandle>>,
}

impl RedisLimiter {
    /// Creates a limiter that counts in memory until it is [started](Self::start). `cipher` hashes the subjects,
    /// `clock` is for the windows in memory.
    pub fn new(url: RedisUrl, options: RedisOptions, clock: Arc<dyn Clock>, cipher: Arc<dyn SecretCipher>) -> Self {
        provide_tls();
        let RedisOptions { patience, namespace } = options;
        Self {
            link: Arc::new(Link::new(url, patience, Counter::new(), format!("{namespace}:{HASH_TAG}:probe"))),
            fallback: MemoryLimiter::new(clock),
            cipher,
            namespace,
            connecting: Mutex::default(),
        }
    }

    /// Connects, and reconnects whenever Redis was lost, on the caller's runtime until the limiter is dropped. Hits
    /// before the end of the first attempt wait for it, up to their timeout for Redis.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(&self) {
        let mut connecting = self.connecting.lock().unwrap_or_else(PoisonError::into_inner);
        if connecting.is_none() {
            self.link.expect_connection();
            *connecting = Some(tokio::spawn(supervise(Arc::clone(&self.link))).abort_handle());
        }
    }

    /// Returns `true` while hits are counted in Redis, not in the memory of this process.
    pub fn is_connected(&self) -> bool {
        self.link.is_up()
    }

    fn key(&self, rule: &RateRule, subject: &str) -> String {
        let fingerprint = self.cipher.keyed_fingerprint(rule.name, subject);
        format!("{}:{HASH_TAG}:{}:{fingerprint}", self.namespace, rule.name)
    }
}

/// Keeps the link connected, also after a panic of the driver.
async fn supervise(link: Arc<Link>) {
    // The set's tasks are aborted together with this task.
    let mut running = JoinSet::new();
    loop {
        running.spawn(Arc::clone(&link).keep_connected());
        match running.join_next().await {
            Some(Err(error)) if error.is_panic() => {
                tracing::error!(%error, "connecting to Redis panicked; retrying");
                link.count_in_memory();
                tokio::time::sleep(AFTER_PANIC).await;
            }
            _ => return,
        }
    }
}

impl Drop for RedisLimiter {
    fn drop(&mut self) {
        let connecting = self.connecting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = connecting {
            task.abort();
        }
    }
}

#[async_trait]
impl RateLimiter for RedisLimiter {
    async fn hit(&self, rule: RateRule, subject: &str) -> Quota {
        match self.link.hit(&rule, &self.key(&rule, subject)).await {
            Some(quota) => quota,
            None => self.fallback.hit(rule, subject).await,
        }
    }
}

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
struct Counter(Script);

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

/// Text that is not a Redis URL. The error does not repeat the text, which may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be redis://[USER:PASSWORD@]HOST[:PORT][/DB], rediss:// for TLS, or unix:///PATH[?db=DB]")]
pub struct InvalidRedisUrl;

/// Address and credentials of a Redis. Printed without the credentials.
#[derive(Clone)]
pub struct RedisUrl(ConnectionInfo);

/// Installs the TLS provider of the process.
pub(crate) fn provide_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl RedisUrl {
    fn connection_info(&self) -> ConnectionInfo {
        self.0.clone()
    }

    /// Returns another node of the same cluster, given as `HOST:PORT`, with the same credentials and TLS. Without a
    /// host, the host stays the same.
    fn node(&self, node: &str) -> Option<ConnectionInfo> {
        let (host, port) = node.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let host = |own: &str| if host.is_empty() { own.to_owned() } else { host.trim_matches(['[', ']']).to_owned() };
        let address = match self.0.addr() {
            ConnectionAddr::Tcp(own, _) => ConnectionAddr::Tcp(host(own), port),
            ConnectionAddr::TcpTls { host: own, insecure, tls_params, .. } => {
                ConnectionAddr::TcpTls { host: host(own), port, insecure: *insecure, tls_params: tls_params.clone() }
            }
            _ => ConnectionAddr::Tcp(host("127.0.0.1"), port),
        };
        Some(self.0.clone().set_addr(address))
    }
}

impl FromStr for RedisUrl {
    type Err = InvalidRedisUrl;

    fn from_str(text: &str) -> Result<Self, InvalidRedisUrl> {
        let info = text.into_connection_info().map_err(|_| InvalidRedisUrl)?;
        match info.addr() {
            // Certificates are always checked.
            ConnectionAddr::TcpTls { insecure: true, .. } => Err(InvalidRedisUrl),
            address if address.is_supported() => Ok(Self(info)),
            _ => Err(InvalidRedisUrl),
        }
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.0.redis_settings();
        let account = if settings.username().or(settings.password()).is_some() { "***@" } else { "" };
        match self.0.addr() {
            ConnectionAddr::Unix(path) => write!(f, "unix://{}?db={}", path.display(), settings.db()),
            address @ ConnectionAddr::TcpTls { .. } => write!(f, "rediss://{account}{address}/{}", settings.db()),
            address => write!(f, "redis://{account}{address}/{}", settings.db()),
        }
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_the_account_and_the_tls_of_the_address() {
        for (text, node, expected) in [
            ("redis://:hunter2@a.example:6380", "10.0.0.7:7001", "redis://***@10.0.0.7:7001/0"),
            ("redis://a.example", ":7001", "redis://a.example:7001/0"),
            ("redis://a.example", "::1:7001", "redis://::1:7001/0"),
            ("rediss://kontor:hunter2@a.example", "b.example:7001", "rediss://***@b.example:7001/0"),
            ("unix:///run/redis.sock", "127.0.0.1:7001", "redis://127.0.0.1:7001/0"),
        ] {
            let url: RedisUrl = text.parse().unwrap();
            assert_eq!(RedisUrl(url.node(node).unwrap()).to_string(), expected);
        }
        let url: RedisUrl = "redis://a.example".parse().unwrap();
        assert!(url.node("b.example").is_none() && url.node("b.example:port").is_none() && url.node("").is_none());
    }

    #[test]
    fn printed_addresses_contain_no_account() {
        for (text, shown) in [
            ("redis://127.0.0.1", "redis://127.0.0.1:6379/0"),
            ("redis://:hunter2@redis.example:6380/3", "redis://***@redis.example:6380/3"),
            ("rediss://kontor:hunter2@redis.example", "rediss://***@redis.example:6379/0"),
            ("unix:///run/redis.sock?db=2&pass=hunter2", "unix:///run/redis.sock?db=2"),
        ] {
            let url: RedisUrl = text.parse().unwrap();
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), format!("RedisUrl({shown})"));
        }
    }

    #[test]
    fn other_texts_are_refused_without_repeating_them() {
        for text in [
            "",
            "redis",
            "127.0.0.1:6379",
            "http://:hunter2@redis",
            "redis://:hunter2@host/zero",
            "rediss://host/#insecure",
        ] {
            let error = text.parse::<RedisUrl>().unwrap_err();
            assert!(!error.to_string().contains("hunter2"));
        }
    }
}
