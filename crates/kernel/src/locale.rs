//! Time zone of a project, which defines where its days begin, and its language.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone as _, Utc};
use chrono_tz::Tz;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::Money;

/// Error: there is no time zone with this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be the name of a time zone, such as Europe/Moscow")]
pub struct UnknownZone;

/// Time zone by its name in the IANA database, with its rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone(Tz);

/// Europe/Moscow, for projects that have not chosen a time zone.
impl Default for Zone {
    fn default() -> Self {
        Self(Tz::Europe__Moscow)
    }
}

impl Zone {
    /// Time zone UTC.
    pub const UTC: Self = Self(Tz::UTC);

    /// Parses a name such as `Europe/Moscow`.
    pub fn parse(name: &str) -> Result<Self, UnknownZone> {
        Tz::from_str(name).map(Self).map_err(|_| UnknownZone)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns the first instant of a day. If clocks are set forward over midnight, that is the instant of the change.
    /// If they are set back over midnight, it is the earlier midnight.
    pub fn start_of(self, day: NaiveDate) -> DateTime<Utc> {
        self.first_at(day.and_time(NaiveTime::MIN))
    }

    /// Returns the local time.
    pub fn local(self, moment: DateTime<Utc>) -> NaiveDateTime {
        moment.with_timezone(&self.0).naive_local()
    }

    /// Returns the first instant at which clocks show this local time. A skipped local time gives the instant of the
    /// change.
    pub fn first_at(self, shown: NaiveDateTime) -> DateTime<Utc> {
        if let Some(first) = self.0.from_local_datetime(&shown).earliest() {
            return first.with_timezone(&Utc);
        }
        // Clocks skip this local time: search for the first instant whose local time is later.
        let earliest = shown.and_utc() - MAX_UTC_OFFSET;
        let local_after = |seconds| self.local(earliest + TimeDelta::seconds(seconds));
        let (mut before, mut after) = (0, 2 * MAX_UTC_OFFSET.num_seconds());
        while after - before > 1 {
            let between = i64::midpoint(before, after);
            if local_after(between) < shown { before = between } else { after = between }
        }
        earliest + TimeDelta::seconds(after)
    }
}

/// Bound on the distance of any local time from UTC.
const MAX_UTC_OFFSET: TimeDelta = TimeDelta::hours(26);

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Language of messages to the customers of a project, by its ISO 639-1 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Language {
    /// Russian; the default.
    #[default]
    Ru,
    /// English.
    En,
}

impl Language {
    /// Formats an amount with its currency (ISO 4217) in the notation of the language.
    ///
    /// ```
    /// use kontor_kernel::{Language, Money};
    ///
    /// let amount: Money = "265.50".parse()?;
    /// assert_eq!(Language::Ru.sum(amount, "RUB"), "265,50 ₽");
    /// assert_eq!(Language::En.sum(amount, "RUB"), "265.50 RUB");
    /// # Ok::<(), kontor_kernel::MoneyError>(())
    /// ```
    pub fn sum(self, amount: Money, currency: &str) -> String {
        match self {
            Self::Ru => {
                let sign = if currency == "RUB" { "₽" } else { currency };
                format!("{} {sign}", amount.to_string().replace('.', ","))
            }
            Self::En => format!("{amount} {currency}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(zone: &str, day: &str) -> String {
        Zone::parse(zone).unwrap().start_of(day.parse().unwrap()).to_rfc3339()
    }

    #[test]
    fn a_day_begins_at_midnight_of_its_zone() {
        assert_eq!(Zone::default().name(), "Europe/Moscow");
        for (zone, day, expected) in [
            ("Europe/Moscow", "2026-03-01", "2026-02-28T21:00:00+00:00"),
            ("UTC", "2026-03-01", "2026-03-01T00:00:00+00:00"),
            ("Asia/Kamchatka", "2026-03-01", "2026-02-28T12:00:00+00:00"),
            ("America/New_York", "2026-03-09", "2026-03-09T04:00:00+00:00"),
            // Clocks go from 23:59 to 1:00, and from 23:59 back to 23:00 of the same day.
            ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00+00:00"),
            ("America/Sao_Paulo", "2019-02-17", "2019-02-17T03:00:00+00:00"),
            // Midnight occurs twice.
            ("America/Havana", "2026-11-01", "2026-11-01T04:00:00+00:00"),
            // A skipped day begins with the next one.
            ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00+00:00"),
            ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00+00:00"),
        ] {
            assert_eq!(start(zone, day), expected, "{zone} {day}");
        }
        for name in ["", "Moscow", "Europe/Atlantis", "+03:00"] {
            assert_eq!(Zone::parse(name), Err(UnknownZone), "{name}");
        }
        start("Europe/Moscow", "0001-01-01");
        start("America/Los_Angeles", "9999-12-31");
    }

    #[test]
    fn a_time_that_is_left_out_is_when_clocks_are_set_and_one_that_comes_twice_is_the_first() {
        for (zone, shown, expected) in [
            ("Europe/Moscow", "2026-03-29T02:30:00", "2026-03-28T23:30:00+00:00"),
            ("Europe/Berlin", "2026-03-29T02:30:00", "2026-03-29T01:00:00+00:00"),
            ("Europe/Berlin", "2026-10-25T02:30:00", "2026-10-25T00:30:00+00:00"),
            ("America/New_York", "2026-03-08T02:00:00", "2026-03-08T07:00:00+00:00"),
            ("America/New_York", "2026-11-01T01:59:59", "2026-11-01T05:59:59+00:00"),
            ("Pacific/Apia", "2011-12-30T15:00:00", "2011-12-30T10:00:00+00:00"),
        ] {
            let zone = Zone::parse(zone).unwrap();
            let moment = zone.first_at(shown.parse().unwrap());
            assert_eq!(moment.to_rfc3339(), expected, "{zone} {shown}");
            assert!(zone.local(moment) >= shown.parse().unwrap());
        }
    }

    #[test]
    fn a_zone_is_written_by_its_name() {
        assert_eq!(Zone::parse("Asia/Tokyo").unwrap().to_string(), "Asia/Tokyo");
        assert_eq!(Zone::UTC.name(), "UTC");
    }

    #[test]
    fn an_amount_is_written_as_people_of_the_language_do() {
        let amount: Money = "1265.50".parse().unwrap();
        assert_eq!(Language::Ru.sum(amount, "RUB"), "1265,50 ₽");
        assert_eq!(Language::Ru.sum(amount, "USD"), "1265,50 USD");
        assert_eq!(Language::En.sum(amount, "RUB"), "1265.50 RUB");
    }
}
