//! Storage of rate limit counters.

use std::sync::Arc;
use std::time::Duration;

use kontor_adapter_limits::{MemoryLimiter, RedisLimiter, RedisOptions};
use kontor_kernel::{Clock, RateLimiter, SecretCipher};

use crate::config::{Config, ConfigError};

/// Configured storage of the counters.
#[derive(Clone)]
pub enum Counters {
    /// Memory of this process.
    Memory(Arc<MemoryLimiter>),
    /// Redis, or memory while Redis is unavailable.
    Redis(Arc<RedisLimiter>),
}

impl Counters {
    /// Creates the configured adapter.
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

    /// Connects to Redis, if configured. Needs a tokio runtime.
    pub fn start(&self) {
        if let Self::Redis(limiter) = self {
            limiter.start();
        }
    }

    /// Returns the port.
    pub fn limiter(&self) -> Arc<dyn RateLimiter> {
        match self {
            Self::Memory(limiter) => limiter.clone(),
            Self::Redis(limiter) => limiter.clone(),
        }
    }

    /// Returns `memory`, `redis`, or `fallback` while memory replaces Redis.
    pub fn place(&self) -> &'static str {
        match self {
            Self::Memory(_) => "memory",
            Self::Redis(limiter) if limiter.is_connected() => "redis",
            Self::Redis(_) => "fallback",
        }
    }
}
