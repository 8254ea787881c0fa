//! Time as a port.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};

/// Tells the current time. Nothing in the project reads the ambient clock outside the one adapter behind this port.
pub trait Clock: Send + Sync {
    /// The current moment, UTC, to the microsecond: finer moments would not survive being stored.
    fn now(&self) -> DateTime<Utc>;
}

/// A clock that can be moved forward against its base, so that a demo or a test can let days pass in an instant.
pub struct AdjustableClock {
    base: Arc<dyn Clock>,
    offset_seconds: AtomicI64,
}

impl AdjustableClock {
    /// A clock that shows the time of `base` until it is advanced.
    pub fn new(base: Arc<dyn Clock>) -> Self {
        Self { base, offset_seconds: AtomicI64::new(0) }
    }

    /// Moves the clock by whole seconds. Returns the new offset against the base, in seconds.
    pub fn advance(&self, seconds: i64) -> i64 {
        self.offset_seconds.fetch_add(seconds, Ordering::SeqCst).saturating_add(seconds)
    }

    /// The offset against the base, in seconds.
    pub fn offset_seconds(&self) -> i64 {
        self.offset_seconds.load(Ordering::SeqCst)
    }
}

impl Clock for AdjustableClock {
    fn now(&self) -> DateTime<Utc> {
        let base = self.base.now();
        TimeDelta::try_seconds(self.offset_seconds()).and_then(|offset| base.checked_add_signed(offset)).unwrap_or(base)
    }
}

/// A clock that stands still until a test moves it.
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// A clock that shows `moment`, to the microsecond.
    pub fn at(moment: DateTime<Utc>) -> Self {
        Self(AtomicI64::new(moment.timestamp_micros()))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: TimeDelta) {
        self.0.fetch_add(by.num_microseconds().unwrap_or_default(), Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(self.0.load(Ordering::SeqCst)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adjustable_clock_adds_its_offset() {
        let base = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let clock = AdjustableClock::new(base);
        assert_eq!(clock.advance(90), 90);
        assert_eq!(clock.now(), DateTime::UNIX_EPOCH + TimeDelta::seconds(90));
    }
}
