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
mod tests {
    use chrono::{NaiveDateTime, TimeDelta};
    use proptest::prelude::*;

    use super::*;

    /// Two of them change their clocks today, at different times of the year; others did in the past.
    const ZONES: [&str; 6] =
        ["Europe/Moscow", "UTC", "America/New_York", "Europe/Berlin", "Asia/Kamchatka", "Asia/Kathmandu"];

    const PERIODS: u32 = 400;

    fn anchor(first: &str, zone: &str, months: u8) -> Anchor {
        Anchor::new(first.parse().unwrap(), Zone::parse(zone).unwrap(), months).unwrap()
    }

    fn boundaries(anchor: Anchor, count: u32) -> Vec<String> {
        (0..count).map(|count| anchor.boundary(count).unwrap().format("%Y-%m-%d %H:%M").to_string()).collect()
    }

    #[test]
    fn the_day_comes_back_after_a_shorter_month() {
        let monthly = anchor("2027-01-31T09:00:00Z", "UTC", 1);
        let expected =
            ["2027-01-31 09:00", "2027-02-28 09:00", "2027-03-31 09:00", "2027-04-30 09:00", "2027-05-31 09:00"];
        assert_eq!(boundaries(monthly, 5), expected);
        let quarterly = anchor("2026-11-30T09:00:00Z", "UTC", 3);
        let expected = ["2026-11-30 09:00", "2027-02-28 09:00", "2027-05-30 09:00", "2027-08-30 09:00"];
        assert_eq!(boundaries(quarterly, 4), expected);
        let yearly = anchor("2024-02-29T09:00:00Z", "UTC", 12);
        let expected =
            ["2024-02-29 09:00", "2025-02-28 09:00", "2026-02-28 09:00", "2027-02-28 09:00", "2028-02-29 09:00"];
        assert_eq!(boundaries(yearly, 5), expected);
    }

    #[test]
    fn clocks_that_are_set_move_no_boundary_but_their_own() {
        // 2:30 does not exist on 29 March 2026 and occurs twice on 25 October.
        let spring = anchor("2026-01-29T01:30:00Z", "Europe/Berlin", 1);
        let expected = ["2026-01-29 01:30", "2026-02-28 01:30", "2026-03-29 01:00", "2026-04-29 00:30"];
        assert_eq!(boundaries(spring, 4), expected);
        let autumn = anchor("2026-09-25T00:30:00Z", "Europe/Berlin", 1);
        assert_eq!(boundaries(autumn, 3), ["2026-09-25 00:30", "2026-10-25 00:30", "2026-11-25 01:30"]);
        // The second 2:30 is the first start; the boundaries after it have no second one.
        let twice = anchor("2026-10-25T01:30:00Z", "Europe/Berlin", 12);
        assert_eq!(boundaries(twice, 2), ["2026-10-25 01:30", "2027-10-25 00:30"]);
    }

    #[test]
    fn the_day_is_that_of_the_zone() {
        let moscow = anchor("2027-01-30T21:30:00Z", "Europe/Moscow", 1);
        assert_eq!(moscow.day(), 31);
        assert_eq!(boundaries(moscow, 3), ["2027-01-30 21:30", "2027-02-27 21:30", "2027-03-30 21:30"]);
    }

    #[test]
    fn invalid_anchors_are_refused() {
        let new = |first: &str, months| Anchor::new(first.parse().unwrap(), Zone::UTC, months);
        assert_eq!(new("2027-01-31T09:00:00Z", 0), Err(InvalidAnchor::Months));
        assert_eq!(new("2027-01-31T09:00:00Z", 25), Err(InvalidAnchor::Months));
        assert_eq!(Anchor::new(DateTime::<Utc>::MAX_UTC, Zone::UTC, 1), Err(InvalidAnchor::Moment));
        assert_eq!(Anchor::new(DateTime::<Utc>::MIN_UTC, Zone::UTC, 1), Err(InvalidAnchor::Moment));
        let day = |day| Anchor::on_day("2027-01-31T09:00:00Z".parse().unwrap(), Zone::UTC, 1, day).map(|_| ());
        assert_eq!([day(0), day(31), day(32)], [Err(InvalidAnchor::Day), Ok(()), Err(InvalidAnchor::Day)]);
    }

    #[test]
    fn nothing_is_computed_past_the_calendar() {
        let yearly = anchor("9997-06-01T00:00:00Z", "UTC", 12);
        assert_eq!(yearly.boundary(1), Some("9998-06-01T00:00:00Z".parse().unwrap()));
        assert_eq!(yearly.boundary(2), None);
        let late = anchor("9990-01-31T09:00:00Z", "Pacific/Apia", 24);
        assert!(late.period(4).is_some());
        for number in [0, 5, 400, u32::MAX - 1, u32::MAX] {
            assert_eq!(late.period(number), None, "{number}");
        }
        for moment in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC, late.first() - TimeDelta::seconds(1)] {
            assert_eq!(late.period_at(moment), None);
        }
        assert_eq!(late.period_at(late.first()), late.period(1));
    }

    /// Checks a boundary against the calendar.
    fn boundary_is_right(anchor: Anchor, count: u32) -> Result<DateTime<Utc>, String> {
        let boundary = anchor.boundary(count).ok_or("no boundary")?;
        let (first, shown) = (anchor.zone().local(anchor.first()), anchor.zone().local(boundary));
        let months = first.date().month0() + count * u32::from(anchor.months());
        let month = (first.year() + i32::try_from(months / 12).unwrap(), months % 12 + 1);
        let last = (28..=31).rev().find(|day| NaiveDate::from_ymd_opt(month.0, month.1, *day).is_some()).unwrap();
        let due = NaiveDate::from_ymd_opt(month.0, month.1, last.min(first.day())).unwrap().and_time(first.time());
        let moved = shown - due;
        // Clocks are set forward by an hour at most in these zones and years.
        let right = if moved.is_zero() { true } else { TimeDelta::zero() < moved && moved <= TimeDelta::hours(1) };
        if right && (moved.is_zero() || left_out(anchor.zone(), due)) {
            Ok(boundary)
        } else {
            Err(format!("{anchor:?} {count}: {shown} instead of {due}"))
        }
    }

    fn left_out(zone: Zone, shown: NaiveDateTime) -> bool {
        zone.local(zone.first_at(shown)) != shown
    }

    /// Every billing day and 29 February, every length and zone, over 400 periods.
    #[test]
    fn all_days_lengths_and_zones_tile_for_400_periods() {
        let days = (1..=31).map(|day| format!("2023-03-{day:02}T02:30:00")).chain(["2024-02-29T02:30:00".to_owned()]);
        let mut checked = 0_u32;
        for day in days {
            for months in 1..=24 {
                for name in ZONES {
                    let zone = Zone::parse(name).unwrap();
                    let anchor = Anchor::new(zone.first_at(day.parse().unwrap()), zone, months).unwrap();
                    let mut before = boundary_is_right(anchor, 0).unwrap();
                    for count in 1..=PERIODS {
                        let boundary = boundary_is_right(anchor, count).unwrap();
                        assert!(before < boundary, "{anchor:?} {count}");
                        before = boundary;
                        checked += 1;
                    }
                }
            }
        }
        assert_eq!(checked, 32 * 24 * 6 * PERIODS);
    }

    prop_compose! {
        /// Any second of 60 years, half of them on days that not all months have.
        fn anchors()(
            late_day in any::<bool>(), year in 1980..2040_i32, month in 1..=12_u32, day in 1..=31_u32,
            second in 0..86_400_i64, zone in prop::sample::select(&ZONES[..]), months in 1..=24_u8,
        ) -> Anchor {
            let (day, zone) = (if late_day { 29 + day % 3 } else { day }, Zone::parse(zone).unwrap());
            let date = (1..=day).rev().find_map(|day| NaiveDate::from_ymd_opt(year, month, day)).unwrap();
            let shown = date.and_time(chrono::NaiveTime::MIN) + TimeDelta::seconds(second);
            Anchor::new(zone.first_at(shown), zone, months).unwrap()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100_000, ..ProptestConfig::default() })]

        #[test]
        fn periods_tile_return_to_their_day_and_are_found(anchor in anchors(), number in 1..=PERIODS, share in 0.0..1.0_f64) {
            let (period, next) = (anchor.period(number).unwrap(), anchor.period(number + 1).unwrap());
            prop_assert!(period.start < period.end);
            prop_assert_eq!(period.end, next.start);
            prop_assert_eq!(boundary_is_right(anchor, number), Ok(period.end));
            #[expect(clippy::as_conversions, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "any moment of the period")]
            let within = period.start + TimeDelta::seconds(((period.end - period.start).num_seconds() as f64 * share) as i64);
            for moment in [period.start, within, period.end - TimeDelta::nanoseconds(1)] {
                prop_assert_eq!(anchor.period_at(moment), Some(period));
            }
        }
    }
}
