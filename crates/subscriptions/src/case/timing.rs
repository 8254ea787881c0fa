//! When staff let the next period begin at another time.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Occasion, SubscriptionCase};
use crate::change::SubscriptionChange;
use crate::error::{SubscriptionError, SubscriptionRefusal};
use crate::schedule::{Schedule, ScheduleRefused};
use crate::state::SubscriptionEvent;

/// What staff ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// The next period begins at this moment. What is paid ends as it does; nothing is charged, and no access granted, in between.
    PauseUntil(DateTime<Utc>),
    /// The next period is left out: nothing is charged, and no access granted, for as long as it would have lasted.
    SkipNext,
    /// The next period begins on this day of a month, the first that is not earlier than now planned. What is paid lasts until
    /// then.
    BillingDay(u8),
}

/// Periods to come that are counted anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retimed {
    /// From what they are counted.
    pub schedule: Schedule,
    /// When the paid period ends, if that changes.
    pub paid_until: Option<DateTime<Utc>>,
}

impl Timing {
    /// No charge is put off for longer than this.
    pub const FARTHEST: TimeDelta = TimeDelta::days(731);

    fn event(self) -> SubscriptionEvent {
        match self {
            Self::PauseUntil(_) => SubscriptionEvent::Pause,
            Self::SkipNext => SubscriptionEvent::Skip,
            Self::BillingDay(_) => SubscriptionEvent::MoveDay,
        }
    }
}

impl SubscriptionCase {
    /// What follows when staff let the next period begin at another time.
    pub fn retimed(&self, timing: Timing, now: DateTime<Utc>) -> Result<SubscriptionChange, SubscriptionError> {
        let retimed = self.counted_anew(timing, now);
        let occasion = Occasion { timing: retimed.as_ref().ok().cloned(), ..Occasion::default() };
        // What the state does not allow is told before what the calendar does not.
        let change = self.after(timing.event(), &occasion, now)?;
        retimed?;
        Ok(change)
    }

    fn counted_anew(&self, timing: Timing, now: DateTime<Utc>) -> Result<Retimed, SubscriptionError> {
        let subscription = &self.subscription;
        let schedule = subscription.schedule.as_ref().ok_or(SubscriptionRefusal::NeverActivated)?;
        let (due, end) = (subscription.due_number(now), subscription.period.map(|period| period.end));
        let refused = |refused: ScheduleRefused| SubscriptionRefusal::NotThen(refused);
        let moved = match timing {
            Timing::PauseUntil(until) if until <= now => return Err(refused(ScheduleRefused::Shortens).into()),
            Timing::PauseUntil(until) => schedule.pausing(due, until),
            Timing::SkipNext => schedule.skipping(due),
            Timing::BillingDay(day) => schedule.on_day(due, day),
        };
        let moved = moved.map_err(refused)?;
        let starts = |schedule: &Schedule| schedule.period(due).map(|period| period.start);
        let (old, new) = (starts(schedule), starts(&moved));
        if new.is_none_or(|start| start > now + Timing::FARTHEST) {
            return Err(SubscriptionRefusal::TooFar.into());
        }
        // After a pause the paid period has ended already, and does not last until the new day.
        let lasts = matches!(timing, Timing::BillingDay(_)) && old == end;
        Ok(Retimed { schedule: moved, paid_until: new.filter(|_| lasts) })
    }
}
