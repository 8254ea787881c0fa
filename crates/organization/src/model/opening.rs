//! Opening times of shops.

use std::fmt;

use chrono::{DateTime, Datelike as _, Days, NaiveDate, TimeDelta, Utc};
use kontor_kernel::{Line, Name, ShopExceptionId, ShopHolidayId, ShopHoursId, Zone};

/// Error for a text that is no time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a time such as 09:00, from 00:00 to 24:00")]
pub struct InvalidTime;

/// Local time of day, to the minute; `24:00` is the end of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay(u16);

const MINUTES_OF_DAY: u16 = 24 * 60;
const MINUTES_OF_WEEK: u16 = 7 * MINUTES_OF_DAY;

impl TimeOfDay {
    /// Parses `HH:MM`.
    pub fn parse(text: &str) -> Result<Self, InvalidTime> {
        let (hours, minutes) = text.trim().split_once(':').ok_or(InvalidTime)?;
        let number = |digits: &str| {
            let formed = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
            if formed { digits.parse::<u16>().map_err(|_| InvalidTime) } else { Err(InvalidTime) }
        };
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        let whole = hours * 60 + minutes;
        if minutes < 60 && whole <= MINUTES_OF_DAY { Ok(Self(whole)) } else { Err(InvalidTime) }
    }

    /// Minutes since the start of the day, 0 to 1440.
    pub fn minutes(self) -> u16 {
        self.0
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

/// Errors of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInterval {
    /// The interval would begin at the end of the day.
    #[error("must be before 24:00")]
    StartsAtEndOfDay,
    /// Both times are the same; the whole day is 00:00 to 24:00.
    #[error("must differ from the opening time; use 00:00 to 24:00 for the whole day")]
    Empty,
}

/// Interval of opening hours. If it closes earlier than it opens, it closes on the next day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    opens: TimeOfDay,
    closes: TimeOfDay,
}

impl Interval {
    /// Checks both times.
    pub fn new(opens: TimeOfDay, closes: TimeOfDay) -> Result<Self, InvalidInterval> {
        if opens.0 >= MINUTES_OF_DAY {
            Err(InvalidInterval::StartsAtEndOfDay)
        } else if opens == closes {
            Err(InvalidInterval::Empty)
        } else {
            Ok(Self { opens, closes })
        }
    }

    /// Opening time.
    pub fn opens(self) -> TimeOfDay {
        self.opens
    }

    /// Closing time.
    pub fn closes(self) -> TimeOfDay {
        self.closes
    }

    /// Length in minutes.
    fn length(self) -> u16 {
        let past_midnight = if self.closes.0 < self.opens.0 { MINUTES_OF_DAY } else { 0 };
        self.closes.0 + past_midnight - self.opens.0
    }

    /// Returns start and end of the interval on a day. A clock change in between makes it shorter or longer.
    fn on(self, day: NaiveDate, zone: Zone) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        let opens = day.and_hms_opt(0, 0, 0)? + TimeDelta::minutes(self.opens.0.into());
        let closes = opens + TimeDelta::minutes(self.length().into());
        let (from, to) = (zone.first_at(opens), zone.first_at(closes));
        (from < to).then_some((from, to))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.opens, self.closes)
    }
}

/// Day of the week, `1` Monday to `7` Sunday.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weekday(u16);

/// Error for a number that is no day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 (Monday) to 7 (Sunday)")]
pub struct InvalidWeekday;

impl Weekday {
    /// Accepts 1 to 7.
    pub fn new(number: i64) -> Result<Self, InvalidWeekday> {
        u16::try_from(number).ok().filter(|number| (1..=7).contains(number)).map(Self).ok_or(InvalidWeekday)
    }

    /// Number, 1 to 7.
    pub fn number(self) -> i64 {
        self.0.into()
    }

    fn of(day: NaiveDate) -> Self {
        Self(u16::try_from(day.weekday().number_from_monday()).unwrap_or(1))
    }
}

/// Opening hours on one weekday.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShopHours {
    /// Identifier.
    pub id: ShopHoursId,
    /// Weekday.
    pub weekday: Weekday,
    /// Interval.
    pub interval: Interval,
    /// Version; grows with every change.
    pub version: u64,
}

/// Day on which the shop is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShopHoliday {
    /// Identifier.
    pub id: ShopHolidayId,
    /// Day.
    pub day: NaiveDate,
    /// Name of the holiday.
    pub name: Option<Name>,
    /// `true` if it recurs every year.
    pub is_yearly: bool,
}

/// Exception on one day. It replaces the hours of the weekday and of a holiday.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShopException {
    /// Identifier.
    pub id: ShopExceptionId,
    /// Content.
    pub terms: ExceptionTerms,
    /// Version; grows with every change.
    pub version: u64,
}

/// Content of an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExceptionTerms {
    /// Day.
    pub day: NaiveDate,
    /// Interval; `None` if the shop is closed.
    pub interval: Option<Interval>,
    /// Note.
    pub note: Option<Line<250>>,
}

/// Opening times of a shop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpeningTimes {
    /// Time zone of the times.
    pub zone: Zone,
    /// Weekly hours, by weekday and time.
    pub hours: Vec<ShopHours>,
    /// Holidays, by day.
    pub holidays: Vec<ShopHoliday>,
    /// Exceptions, by day and time.
    pub exceptions: Vec<ShopException>,
}

/// Reasons why a change of opening times is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimesRefused {
    /// The shop has no such hours, holiday or exception.
    #[error("there is no record with this number")]
    Unknown,
    /// The shop has the maximum number of them.
    #[error("there are too many records")]
    Full,
    /// It overlaps this interval.
    #[error("overlaps {0}")]
    Overlap(String),
    /// The day is long past, or too far ahead.
    #[error("must be at most one year in the past and five years in the future")]
    DayOutOfRange,
    /// The day of a holiday already has one.
    #[error("is already a holiday")]
    DayTaken,
}

/// Change of opening times by staff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimesChange {
    /// Adds weekly hours.
    AddHours(Weekday, Interval),
    /// Changes weekly hours.
    ChangeHours(ShopHoursId, Weekday, Interval),
    /// Removes weekly hours.
    RemoveHours(ShopHoursId),
    /// Sets a holiday; one on the same day is replaced.
    SetHoliday {
        /// Day.
        day: NaiveDate,
        /// Name of the holiday.
        name: Option<Name>,
        /// `true` if it recurs every year.
        is_yearly: bool,
    },
    /// Replaces the holiday with this identifier.
    ChangeHoliday(ShopHoliday),
    /// Removes a holiday.
    RemoveHoliday(ShopHolidayId),
    /// Adds an exception.
    AddException(ExceptionTerms),
    /// Changes an exception.
    ChangeException(ShopExceptionId, ExceptionTerms),
    /// Removes an exception.
    RemoveException(ShopExceptionId),
}

/// Maximum intervals of a week.
pub const MAX_HOURS: usize = 50;
/// Maximum holidays, and maximum exceptions.
pub const MAX_DAYS_AHEAD: usize = 500;
/// Search range for the next change, in days.
const MAX_SEARCH_DAYS: u64 = 400;

impl OpeningTimes {
    /// Returns `true` if the shop is open at this time.
    pub fn open_at(&self, moment: DateTime<Utc>) -> bool {
        let today = self.zone.local(moment).date();
        // Hours may extend into the next day, and clocks may change.
        let days = [today.checked_sub_days(Days::new(1)), Some(today)];
        days.into_iter().flatten().flat_map(|day| self.spans(day)).any(|(from, to)| from <= moment && moment < to)
    }

    /// Returns the next time at which the shop opens or closes; `None` if that is more than a year ahead.
    pub fn next_change(&self, moment: DateTime<Utc>) -> Option<DateTime<Utc>> {
        if self.hours.is_empty() && self.exceptions.is_empty() {
            return None;
        }
        let first = self.zone.local(moment).date().checked_sub_days(Days::new(1))?;
        let mut open_until: Option<DateTime<Utc>> = None;
        for day in (0..MAX_SEARCH_DAYS).map_while(|ahead| first.checked_add_days(Days::new(ahead))) {
            let mut spans: Vec<_> = self.spans(day).collect();
            spans.sort_unstable();
            for (from, to) in spans.into_iter().filter(|(_, to)| *to > moment) {
                match open_until {
                    // The shop is closed until then.
                    None if from > moment => return Some(from),
                    None => open_until = Some(to),
                    Some(until) if from <= until => open_until = Some(until.max(to)),
                    Some(until) => return Some(until),
                }
            }
            // Later intervals begin after this one has ended.
            if let Some(until) = open_until
                && self.zone.local(until).date() < day
            {
                return Some(until);
            }
        }
        None
    }

    /// Returns start and end of the hours that begin on a day.
    fn spans(&self, day: NaiveDate) -> impl Iterator<Item = (DateTime<Utc>, DateTime<Utc>)> {
        let intervals: Vec<Interval> = if self.exceptions.iter().any(|other| other.terms.day == day) {
            let own = self.exceptions.iter().filter(|other| other.terms.day == day);
            own.filter_map(|other| other.terms.interval).collect()
        } else if self.holidays.iter().any(|holiday| holiday.is_on_day(day)) {
            Vec::new()
        } else {
            let own = self.hours.iter().filter(|hours| hours.weekday == Weekday::of(day));
            own.map(|hours| hours.interval).collect()
        };
        let zone = self.zone;
        intervals.into_iter().filter_map(move |interval| interval.on(day, zone))
    }

    /// Checks a change.
    pub fn check(&self, change: &TimesChange, now: DateTime<Utc>) -> Result<(), TimesRefused> {
        let unless = |known: bool| if known { Ok(()) } else { Err(TimesRefused::Unknown) };
        let room = |count: usize, most: usize| if count < most { Ok(()) } else { Err(TimesRefused::Full) };
        match change {
            TimesChange::AddHours(weekday, interval) => {
                room(self.hours.len(), MAX_HOURS)?;
                self.check_overlap(*weekday, *interval, None)
            }
            TimesChange::ChangeHours(id, weekday, interval) => {
                unless(self.hours.iter().any(|hours| hours.id == *id))?;
                self.check_overlap(*weekday, *interval, Some(*id))
            }
            TimesChange::RemoveHours(id) => unless(self.hours.iter().any(|hours| hours.id == *id)),
            TimesChange::SetHoliday { day, .. } => {
                let replaces = self.holidays.iter().any(|holiday| holiday.day == *day);
                room(if replaces { 0 } else { self.holidays.len() }, MAX_DAYS_AHEAD)?;
                self.check_day(*day, now)
            }
            TimesChange::ChangeHoliday(ShopHoliday { id, day, .. }) => {
                let before = self.holidays.iter().find(|holiday| holiday.id == *id).ok_or(TimesRefused::Unknown)?;
                if self.holidays.iter().any(|other| other.day == *day && other.id != *id) {
                    return Err(TimesRefused::DayTaken);
                }
                // A holiday of every year may have begun long ago.
                if before.day == *day { Ok(()) } else { self.check_day(*day, now) }
            }
            TimesChange::RemoveHoliday(id) => unless(self.holidays.iter().any(|holiday| holiday.id == *id)),
            TimesChange::AddException(terms) => {
                room(self.exceptions.len(), MAX_DAYS_AHEAD)?;
                self.fits(terms, None, now)
            }
            TimesChange::ChangeException(id, terms) => {
                unless(self.exceptions.iter().any(|other| other.id == *id))?;
                self.fits(terms, Some(*id), now)
            }
            TimesChange::RemoveException(id) => unless(self.exceptions.iter().any(|other| other.id == *id)),
        }
    }

    /// Refuses weekly hours that overlap others, also over midnight and from Sunday to Monday. The replaced
    /// hours are not counted.
    fn check_overlap(
        &self,
        weekday: Weekday,
        interval: Interval,
        but: Option<ShopHoursId>,
    ) -> Result<(), TimesRefused> {
        let place = |weekday: Weekday, interval: Interval| (weekday.0 - 1) * MINUTES_OF_DAY + interval.opens.0;
        let begins = place(weekday, interval);
        let overlaps = |other: &&ShopHours| {
            let other_begins = place(other.weekday, other.interval);
            let after = |first: u16, then: u16| (then + MINUTES_OF_WEEK - first) % MINUTES_OF_WEEK;
            after(begins, other_begins) < interval.length() || after(other_begins, begins) < other.interval.length()
        };
        match self.hours.iter().filter(|hours| Some(hours.id) != but).find(overlaps) {
            Some(other) => {
                let day = DAYS.get(usize::from(other.weekday.0 - 1)).copied().unwrap_or_default();
                Err(TimesRefused::Overlap(format!("{day} {}", other.interval)))
            }
            None => Ok(()),
        }
    }

    fn fits(
        &self,
        terms: &ExceptionTerms,
        but: Option<ShopExceptionId>,
        now: DateTime<Utc>,
    ) -> Result<(), TimesRefused> {
        self.check_day(terms.day, now)?;
        let same_day = |other: &&ShopException| other.terms.day == terms.day && Some(other.id) != but;
        let clashes = |other: &&ShopException| match (terms.interval, other.terms.interval) {
            // Closed and open on one day contradict each other.
            (None, _) | (_, None) => true,
            (Some(one), Some(other)) => {
                let (one_ends, other_ends) = (one.opens.0 + one.length(), other.opens.0 + other.length());
                one.opens.0 < other_ends && other.opens.0 < one_ends
            }
        };
        match self.exceptions.iter().filter(same_day).find(clashes) {
            Some(other) => {
                let hours = other.terms.interval.map_or_else(|| "closed".to_owned(), |interval| interval.to_string());
                Err(TimesRefused::Overlap(format!("{} {hours}", other.terms.day)))
            }
            None => Ok(()),
        }
    }

    fn check_day(&self, day: NaiveDate, now: DateTime<Utc>) -> Result<(), TimesRefused> {
        let ahead = day.signed_duration_since(self.zone.local(now).date()).num_days();
        if (-366..=5 * 366).contains(&ahead) { Ok(()) } else { Err(TimesRefused::DayOutOfRange) }
    }
}

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl ShopHoliday {
    fn is_on_day(&self, day: NaiveDate) -> bool {
        self.day == day || self.is_yearly && (self.day.month(), self.day.day()) == (day.month(), day.day())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn interval(text: &str) -> Interval {
        let (opens, closes) = text.split_once('-').unwrap();
        Interval::new(TimeOfDay::parse(opens).unwrap(), TimeOfDay::parse(closes).unwrap()).unwrap()
    }

    fn times(zone: &str, hours: &[(i64, &str)]) -> OpeningTimes {
        let hours = hours.iter().zip(1..).map(|((weekday, text), id)| ShopHours {
            id: ShopHoursId::new(id).unwrap(),
            weekday: Weekday::new(*weekday).unwrap(),
            interval: interval(text),
            version: 1,
        });
        OpeningTimes { zone: Zone::parse(zone).unwrap(), hours: hours.collect(), ..OpeningTimes::default() }
    }

    fn moment(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn exception(day: &str, hours: Option<&str>) -> ShopException {
        let terms = ExceptionTerms { day: day.parse().unwrap(), interval: hours.map(interval), note: None };
        ShopException { id: ShopExceptionId::new(1).unwrap(), terms, version: 1 }
    }

    #[test]
    fn a_time_is_between_midnight_and_midnight() {
        for good in ["00:00", "09:30", " 23:59 ", "24:00"] {
            assert!(TimeOfDay::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "25:00", "24:01", "09:60", "9:00", "09:0", "0900", "-1:00", "٠٩:٠٠", "09:00:00"] {
            assert_eq!(TimeOfDay::parse(bad), Err(InvalidTime), "{bad}");
        }
        let made = |opens: &str, closes: &str| {
            Interval::new(TimeOfDay::parse(opens).unwrap(), TimeOfDay::parse(closes).unwrap())
        };
        assert_eq!(made("24:00", "10:00"), Err(InvalidInterval::StartsAtEndOfDay));
        assert_eq!(made("10:00", "10:00"), Err(InvalidInterval::Empty));
        assert!(made("00:00", "24:00").is_ok() && made("22:00", "00:00").is_ok());
    }

    #[test]
    fn overlaps_are_refused_by_name() {
        let shop = times("Europe/Moscow", &[(1, "09:00-13:00"), (7, "22:00-06:00")]);
        let judged = |weekday: i64, text: &str| {
            let change = TimesChange::AddHours(Weekday::new(weekday).unwrap(), interval(text));
            shop.check(&change, moment("2026-01-01T00:00:00Z"))
        };
        let overlap = |name: &str| Err(TimesRefused::Overlap(name.to_owned()));
        assert_eq!(judged(1, "12:59-14:00"), overlap("Monday 09:00-13:00"));
        assert_eq!(judged(1, "05:00-07:00"), overlap("Sunday 22:00-06:00"));
        assert_eq!(judged(6, "23:00-22:30"), overlap("Sunday 22:00-06:00"));
        assert_eq!(judged(1, "13:00-14:00"), Ok(()));
        assert_eq!(judged(1, "06:00-09:00"), Ok(()));
        let own =
            TimesChange::ChangeHours(ShopHoursId::new(1).unwrap(), Weekday::new(1).unwrap(), interval("10:00-12:00"));
        assert_eq!(shop.check(&own, moment("2026-01-01T00:00:00Z")), Ok(()));
    }

    #[test]
    fn exceptions_fit_their_day() {
        let shop = OpeningTimes {
            exceptions: vec![exception("2026-05-01", Some("10:00-12:00")), exception("2026-05-02", None)],
            ..times("Europe/Moscow", &[])
        };
        let judged = |day: &str, hours: Option<&str>| {
            let change = TimesChange::AddException(exception(day, hours).terms);
            shop.check(&change, moment("2026-04-01T00:00:00Z"))
        };
        assert_eq!(judged("2026-05-01", Some("12:00-14:00")), Ok(()));
        let overlap = |name: &str| Err(TimesRefused::Overlap(name.to_owned()));
        assert_eq!(judged("2026-05-01", Some("11:00-14:00")), overlap("2026-05-01 10:00-12:00"));
        assert_eq!(judged("2026-05-01", None), overlap("2026-05-01 10:00-12:00"));
        assert_eq!(judged("2026-05-02", Some("11:00-14:00")), overlap("2026-05-02 closed"));
        for far in ["9999-01-01", "2020-01-01", "2035-01-01"] {
            assert_eq!(judged(far, None), Err(TimesRefused::DayOutOfRange), "{far}");
        }
    }

    #[test]
    fn a_holiday_moves_to_a_free_day() {
        let holiday = |id, day: &str| {
            let id = ShopHolidayId::new(id).unwrap();
            ShopHoliday { id, day: day.parse().unwrap(), name: None, is_yearly: true }
        };
        let holidays = vec![holiday(1, "2001-01-01"), holiday(2, "2026-05-01")];
        let shop = OpeningTimes { holidays, ..times("Europe/Moscow", &[]) };
        let now = moment("2026-04-01T00:00:00Z");
        let judged = |id, day: &str| shop.check(&TimesChange::ChangeHoliday(holiday(id, day)), now);
        assert_eq!((judged(1, "2001-01-01"), judged(2, "2026-05-02")), (Ok(()), Ok(())));
        assert_eq!(judged(1, "2026-05-01"), Err(TimesRefused::DayTaken));
        assert_eq!(judged(1, "2002-01-01"), Err(TimesRefused::DayOutOfRange));
        assert_eq!(judged(3, "2026-05-03"), Err(TimesRefused::Unknown));
    }

    #[test]
    fn a_night_reaches_into_the_next_day_and_a_holiday_closes_what_begins_on_it() {
        let mut bar = times("Europe/Moscow", &[(5, "22:00-04:00"), (6, "22:00-04:00")]);
        // 2026-01-03 is a Saturday.
        assert!(bar.open_at(moment("2026-01-03T00:30:00Z")), "Friday's night");
        assert_eq!(bar.next_change(moment("2026-01-03T00:30:00Z")), Some(moment("2026-01-03T01:00:00Z")));
        bar.holidays.push(ShopHoliday {
            id: ShopHolidayId::new(1).unwrap(),
            day: "2020-01-03".parse().unwrap(),
            name: None,
            is_yearly: true,
        });
        assert!(bar.open_at(moment("2026-01-03T00:30:00Z")), "Friday's night goes on");
        assert!(!bar.open_at(moment("2026-01-03T20:00:00Z")), "Saturday's does not begin");
        bar.exceptions.push(exception("2026-01-03", Some("12:00-13:00")));
        assert!(bar.open_at(moment("2026-01-03T09:30:00Z")), "an exception comes before a holiday");
    }

    #[test]
    fn a_shop_open_all_week_has_no_next_change() {
        let always: Vec<(i64, &str)> = (1..=7).map(|weekday| (weekday, "00:00-24:00")).collect();
        let shop = times("America/New_York", &always);
        assert!(shop.open_at(moment("2026-03-08T07:00:00Z")));
        assert_eq!(shop.next_change(moment("2026-03-08T07:00:00Z")), None);
        assert_eq!(times("UTC", &[]).next_change(moment("2026-03-08T07:00:00Z")), None);
    }

    #[test]
    fn clocks_that_are_set_make_a_night_shorter_and_longer() {
        let night = times("Europe/Berlin", &[(6, "22:00-06:00")]);
        let hours = |from: &str| {
            let opens = night.next_change(moment(from)).unwrap();
            (night.next_change(opens).unwrap() - opens).num_hours()
        };
        assert_eq!(
            (hours("2026-03-28T12:00:00Z"), hours("2026-10-24T12:00:00Z"), hours("2026-06-06T12:00:00Z")),
            (7, 9, 8)
        );
    }

    fn arbitrary_times() -> impl Strategy<Value = OpeningTimes> {
        let time = (0_u16..=96).prop_map(|quarter| TimeOfDay(quarter * 15));
        let interval =
            (time.clone(), time).prop_filter_map("an interval", |(opens, closes)| Interval::new(opens, closes).ok());
        let hours = prop::collection::vec((1_i64..=7, interval.clone()), 0..8);
        let days = prop::collection::vec((0_u64..40, prop::option::of(interval)), 0..6);
        let holidays = prop::collection::vec((0_u64..40, any::<bool>()), 0..4);
        let zone =
            prop::sample::select(vec!["Europe/Berlin", "America/New_York", "America/Sao_Paulo", "UTC", "Pacific/Apia"]);
        (hours, days, holidays, zone).prop_map(|(hours, days, holidays, zone)| {
            let first: NaiveDate = "2026-03-01".parse().unwrap();
            let mut own = OpeningTimes { zone: Zone::parse(zone).unwrap(), ..OpeningTimes::default() };
            for ((weekday, interval), id) in hours.into_iter().zip(1..) {
                let (id, weekday) = (ShopHoursId::new(id).unwrap(), Weekday::new(weekday).unwrap());
                own.hours.push(ShopHours { id, weekday, interval, version: 1 });
            }
            for ((ahead, interval), id) in days.into_iter().zip(1..) {
                let terms = ExceptionTerms { day: first + Days::new(ahead), interval, note: None };
                own.exceptions.push(ShopException { id: ShopExceptionId::new(id).unwrap(), terms, version: 1 });
            }
            for ((ahead, is_yearly), id) in holidays.into_iter().zip(1..) {
                let (id, day) = (ShopHolidayId::new(id).unwrap(), first + Days::new(ahead));
                own.holidays.push(ShopHoliday { id, day, name: None, is_yearly });
            }
            own
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        /// The state stays until the next change and changes there, also on days with clock changes.
        #[test]
        fn the_next_change_is_the_first(times in arbitrary_times(), minutes in 0_i64..60_000, probes in prop::collection::vec(0.0_f64..1.0, 20)) {
            let now = moment("2026-02-27T00:00:00Z") + TimeDelta::minutes(minutes);
            let open = times.open_at(now);
            let next = times.next_change(now);
            let until = next.unwrap_or(now + TimeDelta::days(390));
            prop_assert!(until > now);
            if let Some(next) = next {
                prop_assert_ne!(times.open_at(next), open, "at {}", next);
                prop_assert_eq!(times.open_at(next - TimeDelta::seconds(1)), open);
            }
            let seconds = (until - now).num_seconds();
            for probe in probes {
                #[expect(clippy::as_conversions, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a sample")]
                let ahead = (seconds as f64 * probe) as i64;
                let at = now + TimeDelta::seconds(ahead);
                prop_assert_eq!(times.open_at(at), open, "at {}, between {} and {}", at, now, until);
            }
        }
    }
}
