//! Time as a port, and periods of time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};

/// Source of the current time. Only the adapter behind this port reads the system clock.
pub trait Clock: Send + Sync {
    /// Returns the current time, UTC, truncated to microseconds: storage keeps no finer times.
    fn now(&self) -> DateTime<Utc>;
}

/// Clock that can be moved forward relative to its base, so that a demo or a test can skip days.
pub struct AdjustableClock {
    base: Arc<dyn Clock>,
    pace: RwLock<ClockMode>,
}

#[derive(Clone, Copy)]
enum ClockMode {
    /// Follows the base clock with this offset.
    Offset(TimeDelta),
    /// Stopped at this time.
    Stopped(DateTime<Utc>),
}

impl ClockMode {
    fn shown(self, base: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::Offset(offset) => base.checked_add_signed(offset).unwrap_or(base),
            Self::Stopped(moment) => moment,
        }
    }

    /// Never moves back.
    fn moved_to(self, moment: DateTime<Utc>, base: DateTime<Utc>) -> Self {
        let moment = moment.max(self.shown(base));
        match self {
            Self::Offset(_) => Self::Offset(moment - base),
            Self::Stopped(_) => Self::Stopped(moment),
        }
    }
}

impl AdjustableClock {
    /// Creates a clock that follows `base` until it is advanced.
    pub fn new(base: Arc<dyn Clock>) -> Self {
        Self { base, pace: RwLock::new(ClockMode::Offset(TimeDelta::zero())) }
    }

    fn pace(&self) -> ClockMode {
        *self.pace.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, next: impl FnOnce(ClockMode, DateTime<Utc>) -> ClockMode) {
        let mut pace = self.pace.write().unwrap_or_else(PoisonError::into_inner);
        *pace = next(*pace, self.base.now());
    }

    /// Moves the clock forward by whole seconds. Returns the new offset from the base, in seconds.
    pub fn advance(&self, seconds: i64) -> i64 {
        let by = TimeDelta::try_seconds(seconds).unwrap_or_default();
        self.change(|pace, _| match pace {
            ClockMode::Offset(offset) => ClockMode::Offset(offset.checked_add(&by).unwrap_or(offset)),
            ClockMode::Stopped(moment) => ClockMode::Stopped(moment.checked_add_signed(by).unwrap_or(moment)),
        });
        self.offset_seconds()
    }

    /// Moves the clock forward to a time; never moves it back.
    pub fn advance_to(&self, moment: DateTime<Utc>) {
        self.change(|pace, base| pace.moved_to(moment, base));
    }

    /// Stops the clock until the returned guard is dropped. The clock then continues from the time at which it stopped.
    pub fn hold(&self) -> ClockHold<'_> {
        self.change(|pace, base| ClockMode::Stopped(pace.shown(base)));
        ClockHold(self)
    }

    /// Returns the offset from the base, rounded to seconds.
    pub fn offset_seconds(&self) -> i64 {
        let offset = match self.pace() {
            ClockMode::Offset(offset) => offset,
            ClockMode::Stopped(moment) => moment - self.base.now(),
        };
        offset.checked_add(&TimeDelta::milliseconds(500)).unwrap_or(offset).num_seconds()
    }
}

impl Clock for AdjustableClock {
    fn now(&self) -> DateTime<Utc> {
        self.pace().shown(self.base.now())
    }
}

/// Guard that keeps a clock stopped.
#[must_use]
pub struct ClockHold<'a>(&'a AdjustableClock);

impl Drop for ClockHold<'_> {
    fn drop(&mut self) {
        self.0.change(|pace, base| ClockMode::Offset((pace.shown(base) - base).max(TimeDelta::zero())));
    }
}

/// Clock that is stopped until a test moves it.
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// Creates a clock that shows `moment`, truncated to microseconds.
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

/// Error: the period ends before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be later than the start")]
pub struct EndsBeforeStart;

/// Relation of a time to a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before the period.
    Upcoming,
    /// Within the period.
    Running,
    /// After the period.
    Ended,
}

/// Period from a start, inclusive, to an end, exclusive. Either may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Period {
    starts_at: Option<DateTime<Utc>>,
    ends_at: Option<DateTime<Utc>>,
}

impl Period {
    /// Refuses a period that ends before it begins. Times are truncated to microseconds, as they are stored.
    pub fn new(starts_at: Option<DateTime<Utc>>, ends_at: Option<DateTime<Utc>>) -> Result<Self, EndsBeforeStart> {
        let [starts_at, ends_at] = [starts_at, ends_at].map(|end| end.map(|moment| moment.trunc_subsecs(6)));
        let ends_first = starts_at.zip(ends_at).is_some_and(|(start, end)| end <= start);
        if ends_first { Err(EndsBeforeStart) } else { Ok(Self { starts_at, ends_at }) }
    }

    /// Returns the start.
    pub fn starts_at(self) -> Option<DateTime<Utc>> {
        self.starts_at
    }

    /// Returns the end, exclusive.
    pub fn ends_at(self) -> Option<DateTime<Utc>> {
        self.ends_at
    }

    /// Returns the relation of a time to the period.
    pub fn phase(self, at: DateTime<Utc>) -> Phase {
        if self.starts_at.is_some_and(|start| at < start) {
            Phase::Upcoming
        } else if self.ends_at.is_some_and(|end| at >= end) {
            Phase::Ended
        } else {
            Phase::Running
        }
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
    fn a_held_clock_continues_from_its_time() {
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
        // A clock held for longer than it was moved lags its base only until the hold ends.
        let other = AdjustableClock::new(base.clone());
        let standing = other.hold();
        base.advance(TimeDelta::seconds(3));
        drop(standing);
        assert_eq!(other.now(), base.now());
    }

    #[test]
    fn a_held_clock_moves_only_on_request() {
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
    fn an_offset_is_rounded_to_the_nearest_second() {
        let base = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let clock = AdjustableClock::new(base);
        let mut reported = Vec::new();
        for millis in [499, 500, 1_499, 1_500] {
            clock.advance_to(DateTime::UNIX_EPOCH + TimeDelta::milliseconds(millis));
            reported.push(clock.offset_seconds());
        }
        assert_eq!(reported, [0, 1, 1, 2]);
    }

    #[test]
    fn the_first_moment_belongs_to_it_and_the_last_does_not() {
        let [before, start, inside, end] = [0, 10, 15, 20].map(|s| DateTime::UNIX_EPOCH + TimeDelta::seconds(s));
        let period = Period::new(Some(start), Some(end)).unwrap();
        let phases = [before, start, inside, end].map(|at| period.phase(at));
        assert_eq!(phases, [Phase::Upcoming, Phase::Running, Phase::Running, Phase::Ended]);
        assert_eq!(Period::new(Some(start), Some(start)), Err(EndsBeforeStart));
        assert_eq!(Period::default().phase(end), Phase::Running);
    }
}
