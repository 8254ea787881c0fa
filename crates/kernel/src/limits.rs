//! Rate limits as a port.

use std::time::Duration;

/// A rule: how many times within a window that starts at the first hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RateRule {
    /// Names the rule; subjects of different rules never share a counter.
    pub name: &'static str,
    /// How many hits a window takes.
    pub limit: u32,
    /// How long a window lasts.
    pub window: Duration,
}

/// The state of a counter after a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Whether the hit was within the limit.
    pub allowed: bool,
    /// Hits per window.
    pub limit: u32,
    /// Hits left in this window.
    pub remaining: u32,
    /// Until the window ends.
    pub resets_in: Duration,
}

/// Counts hits.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait::async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts one hit of `subject` against `rule`. A hit beyond the limit is refused and counts nothing.
    async fn hit(&self, rule: RateRule, subject: &str) -> Quota;
}
