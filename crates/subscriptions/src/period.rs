//! Paid periods: each is computed from the first moment and its number, never from the one before.

use std::ops::Range;

use chrono::{DateTime, Datelike as _, Months, NaiveDate, Utc};
use kontor_kernel::Zone;

/// What no periods can be counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnchor {
    /// A period lasts 1 to 24 months.
    #[error("must be 1 to {} months", Anchor::MOST_MONTHS)]
    Months,
    /// A billing day is a day of a month.
    #[error("must be a day from 1 to 31")]
    Day,
    /// The first moment lies beyond any calendar in use.
    #[error("must be a moment before the year {}", Anchor::LAST_YEAR)]
    Moment,
}

/// A paid period: from its start, up to and without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Its number, from 1.
    pub number: u32,
    /// Its first moment.
    pub start: DateTime<Utc>,
    /// The first moment that is no longer its own.
    pub end: DateTime<Utc>,
}

impl Period {
    /// Whether a moment lies in it.
    pub fn covers(self, moment: DateTime<Utc>) -> bool {
        self.start <= moment && moment < self.end
    }
}

/// What periods are counted from: the first moment, the zone whose clocks and calendar count, the months of a period.
///
/// Every boundary has the local time of the first moment and its day, or the last day of a shorter month. A time that
/// the clocks leave out is the moment they are set forward; one that comes twice is the first.
/// ```
/// use kontor_kernel::Zone;
/// use kontor_subscriptions::Anchor;
///
/// let anchor = Anchor::new("2027-01-31T09:00:00Z".parse()?, Zone::default(), 1)?;
/// let starts: Vec<_> = (2..5).filter_map(|number| anchor.period(number)).map(|period| period.start.to_string()).collect();
/// assert_eq!(starts, ["2027-02-28 09:00:00 UTC", "2027-03-31 09:00:00 UTC", "2027-04-30 09:00:00 UTC"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    first: DateTime<Utc>,
    zone: Zone,
    months: u8,
    day: u8,
}

impl Anchor {
    /// The most months of a period.
    pub const MOST_MONTHS: u8 = 24;
    /// No boundary is computed from this year on.
    pub const LAST_YEAR: i32 = 9_999;

    /// The billing day is the local day of the first moment.
    pub fn new(first: DateTime<Utc>, zone: Zone, months: u8) -> Result<Self, InvalidAnchor> {
        if !(1970..Self::LAST_YEAR).contains(&first.year()) {
            return Err(InvalidAnchor::Moment);
        }
        let day = u8::try_from(zone.local(first).day()).map_err(|_| InvalidAnchor::Day)?;
        Self::on_day(first, zone, months, day)
    }

    /// With another billing day than that of the first moment, for months that are long enough to have it.
    pub fn on_day(first: DateTime<Utc>, zone: Zone, months: u8, day: u8) -> Result<Self, InvalidAnchor> {
        if !(1..=Self::MOST_MONTHS).contains(&months) {
            return Err(InvalidAnchor::Months);
        }
        if !(1..=31).contains(&day) {
            return Err(InvalidAnchor::Day);
        }
        if !(1970..Self::LAST_YEAR).contains(&first.year()) {
            return Err(InvalidAnchor::Moment);
        }
        Ok(Self { first, zone, months, day })
    }

    /// The first moment.
    pub fn first(self) -> DateTime<Utc> {
        self.first
    }

    /// The zone whose clocks and calendar count.
    pub fn zone(self) -> Zone {
        self.zone
    }

    /// How many months a period lasts.
    pub fn months(self) -> u8 {
        self.months
    }

    /// The billing day.
    pub fn day(self) -> u8 {
        self.day
    }

    /// The boundary after `count` periods; the one after none is the first moment. `None` past the calendar.
    pub fn boundary(self, count: u32) -> Option<DateTime<Utc>> {
        if count == 0 {
            return Some(self.first);
        }
        let local = self.zone.local(self.first);
        let month = Months::new(count.checked_mul(self.months.into())?);
        let date = on_day(local.date().with_day(1)?.checked_add_months(month)?, self.day)?;
        (date.year() < Self::LAST_YEAR).then(|| self.zone.first_at(date.and_time(local.time())))
    }

    /// The period with this number. `None` for the number 0 and past the calendar.
    pub fn period(self, number: u32) -> Option<Period> {
        let start = self.boundary(number.checked_sub(1)?)?;
        Some(Period { number, start, end: self.boundary(number)? })
    }

    /// The period that covers a moment. `None` before the first moment and past the calendar.
    pub fn period_at(self, moment: DateTime<Utc>) -> Option<Period> {
        if moment < self.first || moment.year() >= Self::LAST_YEAR {
            return None;
        }
        let count = |shown: NaiveDate| i64::from(shown.year()) * 12 + i64::from(shown.month0());
        let between = count(self.zone.local(moment).date()) - count(self.zone.local(self.first).date());
        let guess = u32::try_from(between / i64::from(self.months)).ok()?;
        // The month tells the number but for one: the day may still be to come.
        let near = guess.saturating_sub(1)..=guess.saturating_add(1);
        near.filter_map(|passed| self.period(passed.checked_add(1)?)).find(|period| period.covers(moment))
    }

    /// The numbers of the periods that lie wholly in `from..until`: what went by unseen in between.
    pub fn whole_between(self, from: DateTime<Utc>, until: DateTime<Utc>) -> Range<u32> {
        let first = if from <= self.first {
            Some(1)
        } else {
            self.period_at(from).and_then(|covering| {
                if covering.start == from { Some(covering.number) } else { covering.number.checked_add(1) }
            })
        };
        let after = self.period_at(until).map(|covering| covering.number);
        match (first, after) {
            (Some(first), Some(after)) if first < after => first..after,
            _ => 0..0,
        }
    }
}

/// The day of the month of `first`, or its last one.
pub(crate) fn on_day(first: NaiveDate, day: u8) -> Option<NaiveDate> {
    first.with_day(u32::from(day).min(first.num_days_in_month().into()))
}

#[cfg(test)]
mod tests;
