//! Periods of a subscription whose billing day or length may change.

use chrono::{DateTime, Datelike as _, Months, Utc};
use kontor_kernel::Zone;

use crate::period::{Anchor, InvalidAnchor, Period, on_day};

/// Reasons why a schedule cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleRefused {
    /// The start of the first period is fixed, as are the starts before an already planned change.
    #[error("only periods after the last change can be moved")]
    TooEarly,
    /// The period before would become shorter, and it may be paid.
    #[error("the previous period must not become shorter")]
    Shortens,
    /// No such day or length, or beyond the calendar.
    #[error(transparent)]
    Anchor(#[from] InvalidAnchor),
}

/// Anchors with the number of their first period. Numbers continue, and periods have no gaps: where the anchor
/// changes, the period before lasts until the new start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    first: Anchor,
    /// Later anchors, by ascending numbers and times.
    later: Vec<(u32, Anchor)>,
}

impl Schedule {
    /// Creates a schedule with one anchor.
    pub fn new(anchor: Anchor) -> Self {
        Self { first: anchor, later: Vec::new() }
    }

    /// Returns the anchors, each with the number of its first period.
    pub fn anchors(&self) -> impl Iterator<Item = (u32, Anchor)> + '_ {
        std::iter::once((1, self.first)).chain(self.later.iter().copied())
    }

    /// Time zone of the newest anchor.
    pub fn zone(&self) -> Zone {
        self.later.last().map_or(self.first, |(_, anchor)| *anchor).zone()
    }

    /// Returns the anchor of a period, with the number of its first one.
    fn anchor_of(&self, number: u32) -> (u32, Anchor) {
        let place = self.later.partition_point(|(first, _)| *first <= number);
        self.later_at(place)
    }

    fn later_at(&self, place: usize) -> (u32, Anchor) {
        place.checked_sub(1).and_then(|place| self.later.get(place)).copied().unwrap_or((1, self.first))
    }

    fn start_of(&self, number: u32) -> Option<DateTime<Utc>> {
        let (first, anchor) = self.anchor_of(number);
        anchor.boundary(number.checked_sub(first)?)
    }

    /// Returns the period with this number. `None` for the number 0 and beyond the calendar.
    pub fn period(&self, number: u32) -> Option<Period> {
        Some(Period { number, start: self.start_of(number)?, end: self.start_of(number.checked_add(1)?)? })
    }

    /// Returns the period that contains this time. `None` before the first start and beyond the calendar.
    pub fn period_at(&self, moment: DateTime<Utc>) -> Option<Period> {
        let place = self.later.partition_point(|(_, anchor)| anchor.first() <= moment);
        let (first, anchor) = self.later_at(place);
        let counted = anchor.period_at(moment)?.number.checked_add(first)?.checked_sub(1)?;
        // The last period of an anchor lasts until the next anchor, whatever its length.
        let last = self.later.get(place).and_then(|(next, _)| next.checked_sub(1));
        self.period(last.map_or(counted, |last| counted.min(last)))
    }

    /// Counts the period `number` and all after it from another anchor. Changes planned for it or later are
    /// dropped. The caller must ensure that the period is not paid.
    pub fn anchored(&self, number: u32, anchor: Anchor) -> Result<Self, ScheduleRefused> {
        if number <= 1 {
            return Err(ScheduleRefused::TooEarly);
        }
        let mut changed = self.without(number);
        if changed.start_of(number).is_none_or(|start| anchor.first() < start) {
            return Err(ScheduleRefused::Shortens);
        }
        changed.later.push((number, anchor));
        Ok(changed)
    }

    fn without(&self, number: u32) -> Self {
        let mut changed = self.clone();
        changed.later.retain(|(first, _)| *first < number);
        changed
    }

    /// Counts the period `number` and all after it from another anchor, after the period before has ended: it
    /// was refunded, or it is over.
    pub fn resumed(&self, number: u32, anchor: Anchor) -> Result<Self, ScheduleRefused> {
        let mut changed = self.without(number);
        let last = changed.later.last().map_or(changed.first, |(_, anchor)| *anchor);
        if number <= 1 || anchor.first() <= last.first() {
            return Err(ScheduleRefused::TooEarly);
        }
        changed.later.push((number, anchor));
        Ok(changed)
    }

    /// Restores a schedule from [`Schedule::anchors`]; `None` if they are not in order.
    pub fn from_anchors(anchors: impl IntoIterator<Item = (u32, Anchor)>) -> Option<Self> {
        let mut anchors = anchors.into_iter();
        let (1, first) = anchors.next()? else { return None };
        let later: Vec<(u32, Anchor)> = anchors.collect();
        let all = std::iter::once((1, first)).chain(later.iter().copied());
        let grows = all.zip(&later).all(|(one, next)| one.0 < next.0 && one.1.first() < next.1.first());
        grows.then_some(Self { first, later })
    }

    /// Returns the start of a period from which a change can be planned, and its anchor.
    fn changeable(&self, number: u32) -> Result<(DateTime<Utc>, Anchor), ScheduleRefused> {
        if self.later.last().is_some_and(|(first, _)| *first > number) {
            return Err(ScheduleRefused::TooEarly);
        }
        let start = self.start_of(number).ok_or(InvalidAnchor::Moment)?;
        Ok((start, self.anchor_of(number).1))
    }

    /// Moves the billing day from the period `number` on: to the first such day that does not shorten the period
    /// before. The local time of day stays.
    pub fn on_day(&self, number: u32, day: u8) -> Result<Self, ScheduleRefused> {
        let (start, anchor) = self.changeable(number)?;
        let zone = anchor.zone();
        let (shown, time) = (zone.local(start), zone.local(anchor.first()).time());
        let months = [Months::new(0), Months::new(1)].into_iter();
        let dates = months.filter_map(|month| on_day(shown.date().with_day(1)?.checked_add_months(month)?, day));
        let first = dates.map(|date| zone.first_at(date.and_time(time))).find(|first| *first >= start);
        let moved = Anchor::on_day(first.ok_or(InvalidAnchor::Day)?, zone, anchor.months(), day)?;
        self.anchored(number, moved)
    }

    /// Skips the period `number`: it begins at the start of the one after it. The billing day stays.
    pub fn skipping(&self, number: u32) -> Result<Self, ScheduleRefused> {
        let (_, anchor) = self.changeable(number)?;
        let end = self.period(number).ok_or(InvalidAnchor::Moment)?.end;
        self.anchored(number, Anchor::on_day(end, anchor.zone(), anchor.months(), anchor.day())?)
    }

    /// Postpones the period `number` to a time after its start; the day of that time becomes the billing day. A
    /// change planned for the same period is replaced.
    pub fn pausing(&self, number: u32, until: DateTime<Utc>) -> Result<Self, ScheduleRefused> {
        let (_, anchor) = self.without(number).changeable(number)?;
        self.anchored(number, Anchor::new(until, anchor.zone(), anchor.months())?)
    }

    /// Gives the period `number` and all after it another length. The billing day stays.
    pub fn with_period_length(&self, number: u32, months: u8) -> Result<Self, ScheduleRefused> {
        let (start, anchor) = self.changeable(number)?;
        self.anchored(number, Anchor::on_day(start, anchor.zone(), months, anchor.day())?)
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(
            starts(&last, 1..=4),
            ["2027-01-10 10:00", "2027-02-28 10:00", "2027-03-31 10:00", "2027-04-30 10:00"]
        );
        let same = schedule("2027-01-31T09:00:00Z", 1).on_day(2, 31).unwrap();
        assert_eq!(starts(&same, 1..=3), starts(&schedule("2027-01-31T09:00:00Z", 1), 1..=3));
    }

    #[test]
    fn another_length_begins_with_a_period_and_keeps_the_day() {
        let yearly = schedule("2027-01-31T09:00:00Z", 1).with_period_length(3, 12).unwrap();
        let expected = ["2027-01-31 10:00", "2027-02-28 10:00", "2027-03-31 10:00", "2028-03-31 10:00"];
        assert_eq!(starts(&yearly, 1..=4), expected);
        let back =
            schedule("2027-01-31T09:00:00Z", 1).with_period_length(2, 12).unwrap().with_period_length(3, 1).unwrap();
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
        assert_eq!(
            monthly.resumed(3, at("2027-01-31T09:00:00Z")),
            Err(ScheduleRefused::TooEarly),
            "not a moment later"
        );
        assert_eq!(early.resumed(4, at("2027-03-05T12:00:00Z")), Err(ScheduleRefused::TooEarly));
        let again = early.resumed(3, at("2027-02-10T00:00:00Z")).unwrap();
        assert_eq!(
            again,
            monthly.resumed(3, at("2027-02-10T00:00:00Z")).unwrap(),
            "what was planned later is forgotten"
        );
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
}
