//! Changes of the start of the next period, by staff.

use chrono::{DateTime, TimeDelta, Utc};

use super::{EventContext, SubscriptionCase};
use crate::change::SubscriptionChange;
use crate::error::{SubscriptionError, SubscriptionRefusal};
use crate::schedule::{Schedule, ScheduleRefused};
use crate::state::SubscriptionEvent;

/// Timing command of staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleCommand {
    /// The next period begins at this time. The end of the paid period stays. In between nothing is charged, and
    /// there is no access.
    PauseUntil(DateTime<Utc>),
    /// The next period is skipped: for its length nothing is charged, and there is no access.
    SkipNext,
    /// The next period begins on this day of a month, the first one that is not before the planned start. The
    /// paid period is extended until then.
    BillingDay(u8),
}

/// New schedule of the future periods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSchedule {
    /// Schedule.
    pub schedule: Schedule,
    /// New end of the paid period, if it changes.
    pub paid_until: Option<DateTime<Utc>>,
}

impl ScheduleCommand {
    /// Maximum time by which a charge can be postponed.
    pub const MAX_POSTPONEMENT: TimeDelta = TimeDelta::days(731);

    fn event(self) -> SubscriptionEvent {
        match self {
            Self::PauseUntil(_) => SubscriptionEvent::Pause,
            Self::SkipNext => SubscriptionEvent::Skip,
            Self::BillingDay(_) => SubscriptionEvent::MoveDay,
        }
    }
}

impl SubscriptionCase {
    /// Returns the change for a timing command.
    pub fn change_timing(
        &self,
        timing: ScheduleCommand,
        now: DateTime<Utc>,
    ) -> Result<SubscriptionChange, SubscriptionError> {
        let retimed = self.new_schedule(timing, now);
        let occasion = EventContext { timing: retimed.as_ref().ok().cloned(), ..EventContext::default() };
        // A refusal by the state takes precedence over a refusal by the calendar.
        let change = self.after(timing.event(), &occasion, now)?;
        retimed?;
        Ok(change)
    }

    fn new_schedule(&self, timing: ScheduleCommand, now: DateTime<Utc>) -> Result<NewSchedule, SubscriptionError> {
        let subscription = &self.subscription;
        let schedule = subscription.schedule.as_ref().ok_or(SubscriptionRefusal::NeverActivated)?;
        let (due, end) = (subscription.due_number(now), subscription.period.map(|period| period.end));
        let refused = |refused: ScheduleRefused| SubscriptionRefusal::NotThen(refused);
        let moved = match timing {
            ScheduleCommand::PauseUntil(until) if until <= now => return Err(refused(ScheduleRefused::Shortens).into()),
            ScheduleCommand::PauseUntil(until) => schedule.pausing(due, until),
            ScheduleCommand::SkipNext => schedule.skipping(due),
            ScheduleCommand::BillingDay(day) => schedule.on_day(due, day),
        };
        let moved = moved.map_err(refused)?;
        let starts = |schedule: &Schedule| schedule.period(due).map(|period| period.start);
        let (old, new) = (starts(schedule), starts(&moved));
        if new.is_none_or(|start| start > now + ScheduleCommand::MAX_POSTPONEMENT) {
            return Err(SubscriptionRefusal::TooFar.into());
        }
        // After a pause the paid period has already ended, and is not extended to the new day.
        let lasts = matches!(timing, ScheduleCommand::BillingDay(_)) && old == end;
        Ok(NewSchedule { schedule: moved, paid_until: new.filter(|_| lasts) })
    }
}
