//! Where rate limits are counted.

use std::sync::Arc;
use std::time::Duration;

use kontor_adapter_limits::{MemoryLimiter, RedisLimiter, RedisOptions};
use kontor_kernel::{Clock, RateLimiter, SecretCipher};

use crate::config::{Config, ConfigError};

/// The counters that the configuration asks for.
#[derive(Clone)]
pub enum Counters {
    /// In the memory of this process.
    Memory(Arc<MemoryLimiter>),
    /// In Redis, and in memory while there is none.
    Redis(Arc<RedisLimiter>),
}

impl Counters {
    /// Takes the adapter that is configured.
    pub fn new(config: &Config, clock: Arc<dyn Clock>, cipher: Arc<dyn SecretCipher>) -> Result<Self, ConfigError> {
        Ok(match config.redis()? {
            None => Self::Memory(Arc::new(MemoryLimiter::new(clock))),
            Some(url) => {
                let patience = Duration::from_millis(config.redis_timeout_ms.into());
                let options = RedisOptions { patience, ..RedisOptions::default() };
                Self::Redis(Arc::new(RedisLimiter::new(url, options, clock, cipher)))
            }
        })
    }

    /// Connects, if there is anything to connect to. Needs a tokio runtime.
    pub fn start(&self) {
        if let Self::Redis(limiter) = self {
            limiter.start();
        }
    }

    /// The port.
    pub fn limiter(&self) -> Arc<dyn RateLimiter> {
        match self {
            Self::Memory(limiter) => limiter.clone(),
            Self::Redis(limiter) => limiter.clone(),
        }
    }

    /// `memory`, `redis`, or `fallback` while memory stands in for Redis.
    pub fn place(&self) -> &'static str {
        match self {
            Self::Memory(_) => "memory",
            Self::Redis(limiter) if limiter.is_connected() => "redis",
            Self::Redis(_) => "fallback",
        }
    }
}
