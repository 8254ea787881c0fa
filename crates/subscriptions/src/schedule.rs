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
mod tests;
