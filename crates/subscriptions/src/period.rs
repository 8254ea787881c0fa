//! Paid periods. Each is computed from the start of the first one and its number, never from the one before.

use chrono::{DateTime, Datelike as _, Months, NaiveDate, Utc};
use kontor_kernel::Zone;

/// Errors of an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnchor {
    /// A period lasts 1 to 24 months.
    #[error("must be 1 to {} months", Anchor::MAX_MONTHS)]
    Months,
    /// A billing day is a day of a month.
    #[error("must be a day from 1 to 31")]
    Day,
    /// The start is outside the supported calendar.
    #[error("must be a moment before the year {}", Anchor::LAST_YEAR)]
    Moment,
}

/// Paid period: from its start, up to but not including its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Number, from 1.
    pub number: u32,
    /// Start, inclusive.
    pub start: DateTime<Utc>,
    /// End, exclusive.
    pub end: DateTime<Utc>,
}

impl Period {
    /// Returns `true` if the period contains this time.
    pub fn covers(self, moment: DateTime<Utc>) -> bool {
        self.start <= moment && moment < self.end
    }
}

/// Anchor that periods are counted from: the first start, the time zone, and the months of a period.
///
/// Every boundary has the local time and the day of the first start, or the last day of a shorter month. A local
/// time that does not exist becomes the time at which the clocks are set forward. Of a local time that occurs
/// twice the first one is used.
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
    /// Maximum months of a period.
    pub const MAX_MONTHS: u8 = 24;
    /// No boundary is computed from this year on.
    pub const LAST_YEAR: i32 = 9_999;

    /// Creates an anchor. The billing day is the local day of the first start.
    pub fn new(first: DateTime<Utc>, zone: Zone, months: u8) -> Result<Self, InvalidAnchor> {
        if !(1970..Self::LAST_YEAR).contains(&first.year()) {
            return Err(InvalidAnchor::Moment);
        }
        let day = u8::try_from(zone.local(first).day()).map_err(|_| InvalidAnchor::Day)?;
        Self::on_day(first, zone, months, day)
    }

    /// Creates an anchor with another billing day than that of the first start, for months that are long enough.
    pub fn on_day(first: DateTime<Utc>, zone: Zone, months: u8, day: u8) -> Result<Self, InvalidAnchor> {
        if !(1..=Self::MAX_MONTHS).contains(&months) {
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

    /// Start of the first period.
    pub fn first(self) -> DateTime<Utc> {
        self.first
    }

    /// Time zone of local times and dates.
    pub fn zone(self) -> Zone {
        self.zone
    }

    /// Length of a period in months.
    pub fn months(self) -> u8 {
        self.months
    }

    /// Billing day.
    pub fn day(self) -> u8 {
        self.day
    }

    /// Returns the boundary after `count` periods; for 0 the first start. `None` beyond the calendar.
    pub fn boundary(self, count: u32) -> Option<DateTime<Utc>> {
        if count == 0 {
            return Some(self.first);
        }
        let local = self.zone.local(self.first);
        let month = Months::new(count.checked_mul(self.months.into())?);
        let date = on_day(local.date().with_day(1)?.checked_add_months(month)?, self.day)?;
        (date.year() < Self::LAST_YEAR).then(|| self.zone.first_at(date.and_time(local.time())))
    }

    /// Returns the period with this number. `None` for the number 0 and beyond the calendar.
    pub fn period(self, number: u32) -> Option<Period> {
        let start = self.boundary(number.checked_sub(1)?)?;
        Some(Period { number, start, end: self.boundary(number)? })
    }

    /// Returns the period that contains this time. `None` before the first start and beyond the calendar.
    pub fn period_at(self, moment: DateTime<Utc>) -> Option<Period> {
        if moment < self.first || moment.year() >= Self::LAST_YEAR {
            return None;
        }
        let count = |shown: NaiveDate| i64::from(shown.year()) * 12 + i64::from(shown.month0());
        let between = count(self.zone.local(moment).date()) - count(self.zone.local(self.first).date());
        let guess = u32::try_from(between / i64::from(self.months)).ok()?;
        // The month gives the number with an error of at most one, since the day may be still ahead.
        let near = guess.saturating_sub(1)..=guess.saturating_add(1);
        near.filter_map(|passed| self.period(passed.checked_add(1)?)).find(|period| period.covers(moment))
    }
}

/// Returns this day in the month of `first`, or the last day of that month.
pub(crate) fn on_day(first: NaiveDate, day: u8) -> Option<NaiveDate> {
    first.with_day(u32::from(day).min(first.num_days_in_month().into()))
}

#[cfg(test)]
mod tests;
