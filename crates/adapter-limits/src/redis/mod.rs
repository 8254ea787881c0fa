//! Counters in Redis, with a fallback in memory.

mod counter;
mod link;
mod url;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use kontor_kernel::{Clock, Quota, RateLimiter, RateRule, SecretCipher};
use tokio::task::{AbortHandle, JoinSet};

use crate::MemoryLimiter;
use counter::Counter;
use link::Link;
pub(crate) use url::provide_tls;
pub use url::{InvalidRedisUrl, RedisUrl};

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
