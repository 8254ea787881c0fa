//! Rate limits as a port.

use std::time::Duration;

/// Rate limit: a number of hits within a window that starts at the first hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RateRule {
    /// Name of the rule; subjects of different rules never share a counter.
    pub name: &'static str,
    /// Maximum hits per window.
    pub limit: u32,
    /// Duration of a window.
    pub window: Duration,
}

/// State of a counter after a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// `true` if the hit was within the limit.
    pub allowed: bool,
    /// Hits per window.
    pub limit: u32,
    /// Hits left in this window.
    pub remaining: u32,
    /// Time until the window ends.
    pub resets_in: Duration,
}

/// Counts hits.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait::async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts one hit of `subject` against `rule`. A hit beyond the limit is refused and not counted.
    async fn hit(&self, rule: RateRule, subject: &str) -> Quota;
}
