//! Planning of the next charge and the next check of a subscription, and changes of the start of the next period by
//! staff.

use chrono::{DateTime, Days, NaiveTime, TimeDelta, Utc};

use super::{EventContext, SubscriptionCase};
use crate::dunning::NextAttempt;
use crate::effect::{AttemptEnd, SubscriptionChange, SubscriptionNotice};
use crate::error::{MoveRefused, SubscriptionError, SubscriptionRefusal};
use crate::model::{Announcement, AttemptState, Subscription};
use crate::schedule::{Schedule, ScheduleRefused};
use crate::state::{MethodStanding, PlanStanding, SubscriptionEvent, SubscriptionStatus};

/// Next planned step of a subscription.
enum Next {
    /// A charge at `at`. The worker checks at `wake_at`, which may be earlier.
    Charge { at: DateTime<Utc>, wake_at: DateTime<Utc> },
    /// No charge; the worker checks at this time, if any.
    Wait(Option<DateTime<Utc>>),
    /// No attempts are left.
    Nothing,
}

impl SubscriptionCase {
    /// Returns the change that a worker makes when the subscription is due. Steps that are not possible now are
    /// planned again.
    pub fn due(&self, now: DateTime<Utc>) -> SubscriptionChange {
        if !self.application_active {
            return self.with_next_step(SubscriptionEvent::PeriodDue, now);
        }
        let mut change = self.due_change(now).unwrap_or_else(|refused| self.with_next_step(refused.event, now));
        // A daily limit moved the charge to another day than announced.
        let (before, after) = (self.subscription.next_charge_at, change.subscription.next_charge_at);
        if before != after && after.is_some() && after == self.closed_until(now) && change.notices.is_empty() {
            change.notices.push(SubscriptionNotice::SubscriptionRescheduled);
        }
        change
    }

    fn due_change(&self, now: DateTime<Utc>) -> Result<SubscriptionChange, MoveRefused> {
        let planned = EventContext { planned: true, ..EventContext::default() };
        let again = || Ok(self.with_next_step(SubscriptionEvent::PeriodDue, now));
        match self.subscription.status {
            SubscriptionStatus::PastDue if self.plan == PlanStanding::Ends && self.open().is_none() => {
                self.after(SubscriptionEvent::PlanWithdrawn, &planned, now)
            }
            SubscriptionStatus::PastDue => match self.next(&self.subscription, now) {
                Next::Charge { at, .. } if at <= now => self.after(SubscriptionEvent::ChargeStarted, &planned, now),
                Next::Nothing => self.after(SubscriptionEvent::DunningExhausted, &planned, now),
                Next::Wait(Some(until)) if until <= now => self.after(SubscriptionEvent::PeriodDue, &planned, now),
                Next::Wait(None) => self.after(SubscriptionEvent::PeriodDue, &planned, now),
                Next::Charge { .. } | Next::Wait(_) => again(),
            },
            SubscriptionStatus::Active => {
                let reached = |at: Option<DateTime<Utc>>| at.is_some_and(|at| at <= now);
                let last_notice = self.next_announcement(&self.subscription, now);
                if self.subscription.parked.is_some() {
                    again()
                } else if reached(self.due_at(&self.subscription, now)) {
                    self.after(SubscriptionEvent::PeriodDue, &planned, now)
                } else if reached(last_notice.map(|(_, at)| at)) {
                    let event = match last_notice {
                        Some((Announcement::End, _)) => SubscriptionEvent::PlanWithdrawn,
                        _ => SubscriptionEvent::ChargeAnnounced,
                    };
                    self.after(event, &planned, now)
                } else if reached(self.missed_at(&self.subscription, now)) {
                    self.after(SubscriptionEvent::ChargeStarted, &planned, now)
                } else {
                    again()
                }
            }
            SubscriptionStatus::Charging | SubscriptionStatus::Canceled => {
                self.after(SubscriptionEvent::PeriodDue, &planned, now)
            }
        }
    }

    /// Plans the step after a change.
    pub(super) fn plan(&self, change: &mut SubscriptionChange, now: DateTime<Utc>) {
        let due = change.subscription.due_number(now);
        change.subscription.unpaid = match change.subscription.status {
            SubscriptionStatus::PastDue => change.subscription.unpaid.or(Some(due)),
            SubscriptionStatus::Charging => change.subscription.unpaid,
            SubscriptionStatus::Active | SubscriptionStatus::Canceled => None,
        };
        let after = self.with_change(change);
        match after.next(&change.subscription, now) {
            Next::Charge { at, wake_at } => {
                change.subscription.next_charge_at = Some(at);
                change.subscription.wake_at = Some(wake_at);
            }
            Next::Wait(until) => {
                change.subscription.next_charge_at = None;
                change.subscription.wake_at = until;
            }
            Next::Nothing => {
                change.subscription.status = SubscriptionStatus::Canceled;
                change.subscription.canceled_at = Some(now);
                change.subscription.unpaid = None;
                change.subscription.missed.clear();
                change.subscription.next_charge_at = None;
                change.subscription.wake_at = None;
                change.notices.push(SubscriptionNotice::SubscriptionEnded);
            }
        }
    }

    /// Returns the case as it is once the change is written.
    #[must_use]
    pub fn with_change(&self, change: &SubscriptionChange) -> Self {
        let mut after = Self { subscription: change.subscription.clone(), ..self.clone() };
        if change.ended == Some(AttemptEnd::Succeeded) {
            after.paid_at.push(change.at);
            after.customer_paid_at.push(change.at);
        }
        if let (Some(end), Some(attempt)) = (&change.ended, after.attempts.last_mut()) {
            let (state, reason) = match end {
                AttemptEnd::Succeeded => (AttemptState::Succeeded, None),
                AttemptEnd::Failed { reason } => (AttemptState::Failed, Some(reason.clone())),
            };
            (attempt.state, attempt.reason, attempt.ended_at) = (state, reason, Some(change.at));
        }
        if change.subscription.terms.method != self.subscription.terms.method {
            // The method was just checked.
            after.method_active = true;
            after.method_tries.clear();
        }
        if change.stopped_method.is_some() && change.stopped_method == change.subscription.terms.method {
            after.method_active = false;
        }
        if change.event == SubscriptionEvent::ChangePlan || change.event == SubscriptionEvent::Resume {
            after.plan = PlanStanding::Available;
        }
        after
    }

    /// Returns the next announcement to the customer about the next period, and the time from which it is due.
    fn next_announcement(
        &self,
        subscription: &Subscription,
        now: DateTime<Utc>,
    ) -> Option<(Announcement, DateTime<Utc>)> {
        let what = match (self.plan, self.method(now)) {
            (PlanStanding::Ends, _) => Announcement::End,
            // The customer was notified of the missing method when it became unusable.
            (_, MethodStanding::Gone) => return None,
            _ => Announcement::Charge,
        };
        if subscription.last_notice == Some((subscription.due_number(now), what)) {
            return None;
        }
        let begins = subscription.next_period_at(now)?;
        Some((what, begins - TimeDelta::days(self.policy.notice.get().into())))
    }

    /// Time at which the next missed period is charged: on a day without another charge.
    fn missed_at(&self, subscription: &Subscription, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let chargeable = self.plan != PlanStanding::Ends && self.method(now) == MethodStanding::Valid;
        if subscription.missed.is_empty() || !chargeable || !subscription.is_paid(now) {
            return None;
        }
        let date = |moment: DateTime<Utc>| self.zone.local(moment).date();
        let tomorrow = |day: chrono::NaiveDate| day.checked_add_days(Days::new(1));
        let last = self.attempts.last().map(|attempt| date(attempt.ended_at.unwrap_or(attempt.started_at)));
        let mut day = last.and_then(tomorrow).map_or(date(now), |after| after.max(date(now)));
        if let Some(free) = self.closed_until(now) {
            day = day.max(date(free));
        }
        if subscription.next_period_at(now).is_some_and(|begins| date(begins) == day) {
            day = tomorrow(day)?;
        }
        let hour = NaiveTime::from_hms_opt(self.policy.dunning.hour().into(), 0, 0)?;
        Some(self.zone.first_at(day.and_time(hour)).max(now))
    }

    /// Returns `true` if the next period will be charged, given the plan and the method.
    fn renews(&self, now: DateTime<Utc>) -> bool {
        self.method(now) != MethodStanding::Gone && self.plan != PlanStanding::Ends
    }

    /// Start of the next period, or a later time if the daily limits postpone the charge.
    fn due_at(&self, subscription: &Subscription, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let begins = subscription.next_period_at(now)?;
        Some(begins).max(self.closed_until(now).filter(|_| self.renews(now)))
    }

    fn next(&self, subscription: &Subscription, now: DateTime<Utc>) -> Next {
        // Releasing the subscription, or activating the application, triggers a new check.
        if subscription.parked.is_some() || !self.application_active {
            return Next::Wait(None);
        }
        match subscription.status {
            SubscriptionStatus::Charging | SubscriptionStatus::Canceled => Next::Wait(None),
            SubscriptionStatus::Active => {
                let due = self.due_at(subscription, now);
                let last_notice = self.next_announcement(subscription, now).map(|(_, at)| at.max(now));
                let missed = self.missed_at(subscription, now);
                let wake_at = [due, last_notice, missed].into_iter().flatten().min();
                match (due.filter(|_| self.renews(now)), wake_at) {
                    (Some(due), Some(wake_at)) => Next::Charge { at: missed.map_or(due, |at| at.min(due)), wake_at },
                    _ => Next::Wait(wake_at),
                }
            }
            SubscriptionStatus::PastDue => {
                let number = subscription.unpaid.unwrap_or_else(|| subscription.due_number(now));
                let end = self.period(number).map(|period| period.end);
                if !self.method_active || subscription.terms.method.is_none() || self.plan == PlanStanding::Ends {
                    return Next::Wait(end);
                }
                match self.next_try(now) {
                    NextAttempt::At(at) => {
                        let at = self.closed_until(now).map_or(at, |free| at.max(free));
                        Next::Charge { at, wake_at: at }
                    }
                    NextAttempt::Exhausted(_) => Next::Nothing,
                    NextAttempt::CustomerMustAct | NextAttempt::MethodDead => Next::Wait(end),
                }
            }
        }
    }

    /// Start of the time over which attempts by a method count.
    pub fn method_attempts_since(now: DateTime<Utc>) -> DateTime<Utc> {
        now - TimeDelta::days(i64::from(crate::DunningPolicy::METHOD_DAYS) + 1)
    }
}

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
        let event_context = EventContext { timing: retimed.as_ref().ok().cloned(), ..EventContext::default() };
        // A refusal by the state takes precedence over a refusal by the calendar.
        let change = self.after(timing.event(), &event_context, now)?;
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
