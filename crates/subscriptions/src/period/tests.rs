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
    let expected = ["2027-01-31 09:00", "2027-02-28 09:00", "2027-03-31 09:00", "2027-04-30 09:00", "2027-05-31 09:00"];
    assert_eq!(boundaries(monthly, 5), expected);
    let quarterly = anchor("2026-11-30T09:00:00Z", "UTC", 3);
    let expected = ["2026-11-30 09:00", "2027-02-28 09:00", "2027-05-30 09:00", "2027-08-30 09:00"];
    assert_eq!(boundaries(quarterly, 4), expected);
    let yearly = anchor("2024-02-29T09:00:00Z", "UTC", 12);
    let expected = ["2024-02-29 09:00", "2025-02-28 09:00", "2026-02-28 09:00", "2027-02-28 09:00", "2028-02-29 09:00"];
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
