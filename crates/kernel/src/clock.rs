//! Time as a port.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use chrono::{DateTime, TimeDelta, Utc};

/// Tells the current time. Nothing in the project reads the ambient clock outside the one adapter behind this port.
pub trait Clock: Send + Sync {
    /// The current moment, UTC, to the microsecond: finer moments would not survive being stored.
    fn now(&self) -> DateTime<Utc>;
}

/// A clock that can be moved forward against its base, so that a demo or a test can let days pass in an instant.
pub struct AdjustableClock {
    base: Arc<dyn Clock>,
    pace: RwLock<Pace>,
}

#[derive(Clone, Copy)]
enum Pace {
    /// Goes on with the base, so far ahead.
    Ahead(TimeDelta),
    /// Stands still.
    Held(DateTime<Utc>),
}

impl Pace {
    fn shown(self, base: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::Ahead(offset) => base.checked_add_signed(offset).unwrap_or(base),
            Self::Held(moment) => moment,
        }
    }

    /// Never back.
    fn moved_to(self, moment: DateTime<Utc>, base: DateTime<Utc>) -> Self {
        let moment = moment.max(self.shown(base));
        match self {
            Self::Ahead(_) => Self::Ahead(moment - base),
            Self::Held(_) => Self::Held(moment),
        }
    }
}

impl AdjustableClock {
    /// A clock that shows the time of `base` until it is advanced.
    pub fn new(base: Arc<dyn Clock>) -> Self {
        Self { base, pace: RwLock::new(Pace::Ahead(TimeDelta::zero())) }
    }

    fn pace(&self) -> Pace {
        *self.pace.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, next: impl FnOnce(Pace, DateTime<Utc>) -> Pace) {
        let mut pace = self.pace.write().unwrap_or_else(PoisonError::into_inner);
        *pace = next(*pace, self.base.now());
    }

    /// Moves the clock by whole seconds. Returns the new offset against the base, in seconds.
    pub fn advance(&self, seconds: i64) -> i64 {
        let by = TimeDelta::try_seconds(seconds).unwrap_or_default();
        self.change(|pace, _| match pace {
            Pace::Ahead(offset) => Pace::Ahead(offset.checked_add(&by).unwrap_or(offset)),
            Pace::Held(moment) => Pace::Held(moment.checked_add_signed(by).unwrap_or(moment)),
        });
        self.offset_seconds()
    }

    /// Moves the clock forward to a moment; never back.
    pub fn advance_to(&self, moment: DateTime<Utc>) {
        self.change(|pace, base| pace.moved_to(moment, base));
    }

    /// Lets the clock stand still until what is returned is dropped; then it goes on from where it stands.
    pub fn hold(&self) -> ClockHold<'_> {
        self.change(|pace, base| Pace::Held(pace.shown(base)));
        ClockHold(self)
    }

    /// The offset against the base, in seconds, to the nearest one.
    pub fn offset_seconds(&self) -> i64 {
        let offset = match self.pace() {
            Pace::Ahead(offset) => offset,
            Pace::Held(moment) => moment - self.base.now(),
        };
        offset.checked_add(&TimeDelta::milliseconds(500)).unwrap_or(offset).num_seconds()
    }
}

impl Clock for AdjustableClock {
    fn now(&self) -> DateTime<Utc> {
        self.pace().shown(self.base.now())
    }
}

/// A clock that stands still.
#[must_use]
pub struct ClockHold<'a>(&'a AdjustableClock);

impl Drop for ClockHold<'_> {
    fn drop(&mut self) {
        self.0.change(|pace, base| Pace::Ahead((pace.shown(base) - base).max(TimeDelta::zero())));
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
    #[test]
    fn a_clock_that_is_held_goes_on_from_where_it_stands() {
        let base = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let clock = AdjustableClock::new(base.clone());
        let at = |seconds| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let hold = clock.hold();
        base.advance(TimeDelta::seconds(2));
        assert_eq!(clock.now(), at(0));
        clock.advance_to(at(100));
        clock.advance_to(at(50));
        assert_eq!((clock.now(), clock.offset_seconds()), (at(100), 98));
        drop(hold);
        base.advance(TimeDelta::seconds(3));
        assert_eq!(clock.now(), at(103));
        clock.advance_to(at(50));
        assert_eq!(clock.now(), at(103), "never back");
        // What is held for longer than it was moved is behind its base for a moment only.
        let other = AdjustableClock::new(base.clone());
        let standing = other.hold();
        base.advance(TimeDelta::seconds(3));
        drop(standing);
        assert_eq!(other.now(), base.now());
    }

    #[test]
    fn a_clock_that_is_held_is_moved_by_what_it_is_told_alone() {
        let base = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let clock = AdjustableClock::new(base.clone());
        let at = |seconds| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let hold = clock.hold();
        assert_eq!(clock.advance(5), 5);
        base.advance(TimeDelta::seconds(2));
        assert_eq!((clock.now(), clock.offset_seconds()), (at(5), 3));
        drop(hold);
        assert_eq!((clock.now(), clock.offset_seconds()), (at(5), 3));
        assert_eq!(clock.advance(1), 4);
        clock.advance_to(at(20));
        assert_eq!((clock.now(), clock.offset_seconds()), (at(20), 18));
    }

    #[test]
    fn an_offset_is_told_to_the_nearest_second() {
        let base = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let clock = AdjustableClock::new(base);
        let mut told = Vec::new();
        for millis in [499, 500, 1_499, 1_500] {
            clock.advance_to(DateTime::UNIX_EPOCH + TimeDelta::milliseconds(millis));
            told.push(clock.offset_seconds());
        }
        assert_eq!(told, [0, 1, 1, 2]);
    }
}
