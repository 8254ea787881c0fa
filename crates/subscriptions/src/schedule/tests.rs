use chrono::TimeDelta;
use kontor_kernel::Zone;
use proptest::prelude::*;

use super::*;

fn schedule(first: &str, months: u8) -> Schedule {
    Schedule::new(Anchor::new(first.parse().unwrap(), Zone::parse("Europe/Berlin").unwrap(), months).unwrap())
}

fn starts(schedule: &Schedule, numbers: std::ops::RangeInclusive<u32>) -> Vec<String> {
    let zone = schedule.first.zone();
    let shown = |number| zone.local(schedule.period(number).unwrap().start).format("%Y-%m-%d %H:%M").to_string();
    numbers.map(shown).collect()
}

#[test]
fn a_moved_day_makes_the_period_before_longer_and_never_shorter() {
    let moved = schedule("2027-01-31T09:00:00Z", 1).on_day(3, 10).unwrap();
    let expected = ["2027-01-31 10:00", "2027-02-28 10:00", "2027-04-10 10:00", "2027-05-10 10:00"];
    assert_eq!(starts(&moved, 1..=4), expected);
    let last = schedule("2027-01-10T09:00:00Z", 1).on_day(2, 31).unwrap();
    assert_eq!(starts(&last, 1..=4), ["2027-01-10 10:00", "2027-02-28 10:00", "2027-03-31 10:00", "2027-04-30 10:00"]);
    let same = schedule("2027-01-31T09:00:00Z", 1).on_day(2, 31).unwrap();
    assert_eq!(starts(&same, 1..=3), starts(&schedule("2027-01-31T09:00:00Z", 1), 1..=3));
}

#[test]
fn another_length_begins_with_a_period_and_keeps_the_day() {
    let yearly = schedule("2027-01-31T09:00:00Z", 1).with_period_length(3, 12).unwrap();
    let expected = ["2027-01-31 10:00", "2027-02-28 10:00", "2027-03-31 10:00", "2028-03-31 10:00"];
    assert_eq!(starts(&yearly, 1..=4), expected);
    let back = schedule("2027-01-31T09:00:00Z", 1).with_period_length(2, 12).unwrap().with_period_length(3, 1).unwrap();
    assert_eq!(starts(&back, 2..=4), ["2027-02-28 10:00", "2028-02-29 10:00", "2028-03-31 10:00"]);
}

#[test]
fn a_started_period_does_not_change() {
    let monthly = schedule("2027-01-31T09:00:00Z", 1);
    let early = Anchor::new("2027-03-01T00:00:00Z".parse().unwrap(), Zone::UTC, 1).unwrap();
    assert_eq!(monthly.anchored(1, early), Err(ScheduleRefused::TooEarly));
    assert_eq!(monthly.anchored(0, early), Err(ScheduleRefused::TooEarly));
    assert_eq!(monthly.anchored(3, early), Err(ScheduleRefused::Shortens));
    assert_eq!(monthly.on_day(3, 32), Err(ScheduleRefused::Anchor(InvalidAnchor::Day)));
    assert_eq!(monthly.with_period_length(3, 25), Err(ScheduleRefused::Anchor(InvalidAnchor::Months)));
    assert_eq!(monthly.with_period_length(u32::MAX, 1), Err(ScheduleRefused::Anchor(InvalidAnchor::Moment)));
    let moved = monthly.on_day(5, 10).unwrap();
    assert_eq!(moved.on_day(4, 20), Err(ScheduleRefused::TooEarly));
    assert_eq!(moved.with_period_length(4, 2), Err(ScheduleRefused::TooEarly));
    assert_eq!(moved.on_day(5, 20).unwrap(), monthly.on_day(5, 20).unwrap());
    let again = Anchor::new("2027-06-03T00:00:00Z".parse().unwrap(), Zone::UTC, 1).unwrap();
    assert_eq!(moved.anchored(4, again).unwrap(), monthly.anchored(4, again).unwrap());
}

#[test]
fn the_period_before_a_late_anchor_lasts_up_to_it() {
    let monthly = schedule("2027-01-31T09:00:00Z", 1);
    let resumed = Anchor::new("2027-09-05T12:00:00Z".parse().unwrap(), Zone::UTC, 1).unwrap();
    let schedule = monthly.anchored(3, resumed).unwrap();
    let long = schedule.period_at("2027-06-01T00:00:00Z".parse().unwrap()).unwrap();
    assert_eq!((long.number, long.end), (2, resumed.first()));
    assert_eq!(schedule.period_at(resumed.first()).map(|period| period.number), Some(3));
}

#[test]
fn a_stored_schedule_reads_back_and_none_that_goes_back_is_read() {
    let moved = schedule("2027-01-31T09:00:00Z", 1).on_day(3, 10).unwrap().with_period_length(5, 12).unwrap();
    let anchors: Vec<_> = moved.anchors().collect();
    assert_eq!(anchors.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 3, 5]);
    assert_eq!(Schedule::from_anchors(anchors.clone()), Some(moved));
    let [first, second, third] = [anchors[0], anchors[1], anchors[2]];
    for wrong in [
        vec![],
        vec![second, third],
        vec![first, third, second],
        vec![first, second, (3, third.1)],
        vec![first, second, (5, second.1)],
        vec![first, (1, second.1)],
    ] {
        assert_eq!(Schedule::from_anchors(wrong.clone()), None, "{wrong:?}");
    }
    let elsewhere = Anchor::new("2028-06-03T00:00:00Z".parse().unwrap(), Zone::UTC, 1).unwrap();
    let in_another_zone = Schedule::from_anchors([first, (2, elsewhere)]).unwrap();
    assert_eq!((in_another_zone.zone(), Schedule::new(first.1).zone()), (Zone::UTC, first.1.zone()));
}

#[test]
fn a_resumed_subscription_starts_a_new_anchor() {
    let monthly = schedule("2027-01-31T09:00:00Z", 1);
    let at = |text: &str| Anchor::new(text.parse().unwrap(), Zone::UTC, 1).unwrap();
    // Earlier than the period would have begun, which no other change may do.
    let early = monthly.resumed(3, at("2027-03-05T12:00:00Z")).unwrap();
    assert_eq!(early.period(2).unwrap().end, early.period(3).unwrap().start);
    assert_eq!(early.period(3).unwrap().start.to_string(), "2027-03-05 12:00:00 UTC");
    for number in [0, 1] {
        assert_eq!(monthly.resumed(number, at("2027-03-05T12:00:00Z")), Err(ScheduleRefused::TooEarly));
    }
    assert_eq!(monthly.resumed(3, at("2027-01-31T09:00:00Z")), Err(ScheduleRefused::TooEarly), "not a moment later");
    assert_eq!(early.resumed(4, at("2027-03-05T12:00:00Z")), Err(ScheduleRefused::TooEarly));
    let again = early.resumed(3, at("2027-02-10T00:00:00Z")).unwrap();
    assert_eq!(again, monthly.resumed(3, at("2027-02-10T00:00:00Z")).unwrap(), "what was planned later is forgotten");
}

#[test]
fn a_skipped_period_is_added_to_the_one_before_and_a_pause_lasts_until_its_moment() {
    let monthly = schedule("2027-01-31T09:00:00Z", 1);
    let skipped = monthly.skipping(3).unwrap();
    let expected = ["2027-01-31 10:00", "2027-02-28 10:00", "2027-04-30 10:00", "2027-05-31 10:00"];
    assert_eq!(starts(&skipped, 1..=4), expected);
    let paused = monthly.pausing(3, "2027-06-15T10:00:00Z".parse().unwrap()).unwrap();
    let expected = ["2027-02-28 10:00", "2027-06-15 12:00", "2027-07-15 12:00"];
    assert_eq!(starts(&paused, 2..=4), expected);
    // Another pause replaces the one before, also when it is shorter.
    let shorter = paused.pausing(3, "2027-05-15T10:00:00Z".parse().unwrap()).unwrap();
    assert_eq!(starts(&shorter, 2..=3), ["2027-02-28 10:00", "2027-05-15 12:00"]);
    let early = monthly.pausing(3, "2027-03-30T00:00:00Z".parse().unwrap());
    assert_eq!(early, Err(ScheduleRefused::Shortens));
}

#[derive(Debug, Clone, Copy)]
enum Change {
    Day(u8),
    Length(u8),
    Pause(i64),
}

fn changes() -> impl Strategy<Value = Vec<(u32, Change)>> {
    let change = prop_oneof![
        (1..=31_u8).prop_map(Change::Day),
        (1..=24_u8).prop_map(Change::Length),
        (0..40_000_000_i64).prop_map(Change::Pause),
    ];
    prop::collection::vec((1..6_u32, change), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn moved_periods_tile_and_are_found(first in 1_600_000_000..1_900_000_000_i64, months in 1..=24_u8, changes in changes()) {
        let (mut number, zone) = (1, Zone::parse("Europe/Berlin").unwrap());
        let mut schedule = Schedule::new(Anchor::new(DateTime::from_timestamp(first, 0).unwrap(), zone, months).unwrap());
        for (after, change) in changes {
            number += after;
            let before = schedule.period(number - 1).unwrap();
            schedule = match change {
                Change::Day(day) => schedule.on_day(number, day),
                Change::Length(months) => schedule.with_period_length(number, months),
                Change::Pause(seconds) => {
                    let again = before.end + TimeDelta::seconds(seconds);
                    schedule.anchored(number, Anchor::new(again, zone, months).unwrap())
                }
            }.unwrap();
            let now = schedule.period(number - 1).unwrap();
            prop_assert!(now.start == before.start && now.end >= before.end);
            if matches!(change, Change::Day(_)) {
                prop_assert!(now.end - before.end <= TimeDelta::days(32));
            }
        }
        let mut end = schedule.period(1).unwrap().start;
        for number in 1..number + 4 {
            let period = schedule.period(number).unwrap();
            prop_assert_eq!(period.start, end);
            prop_assert!(period.start < period.end);
            prop_assert_eq!(schedule.period_at(period.start), Some(period));
            prop_assert_eq!(schedule.period_at(period.end - TimeDelta::seconds(1)), Some(period));
            end = period.end;
        }
    }
}
