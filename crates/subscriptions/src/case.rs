//! A subscription with all data that decides about it, and the changes that events cause.

mod planning;

pub use planning::{NewSchedule, ScheduleCommand};

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{SavedMethodId, Zone};

use crate::downtime::{MissedPeriodDue, MissedPeriods, after_downtime};
use crate::dunning::{Decline, NextAttempt, PastAttempt, allows_unplanned_try, next_try};
use crate::effect::{AttemptEnd, Effect, SubscriptionChange, SubscriptionNotice};
use crate::error::MoveRefused;
use crate::model::{
    Announcement, Attempt, AttemptState, NewAttempt, Subscription, SubscriptionPolicy, SubscriptionView,
};
use crate::period::{Anchor, Period};
use crate::policy::Park;
use crate::retry::{PaymentStanding, RetryFacts, can_retry_payment};
use crate::schedule::Schedule;
use crate::state::{
    ChargeOrigin, Facts, MethodStanding, OpenCharge, PlanStanding, SubscriptionEvent, SubscriptionStatus,
};
use crate::terms::ConsentedTerms;

/// Subscription with all data that decides about it, read under a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionCase {
    /// Subscription.
    pub subscription: Subscription,
    /// Time zone of the project.
    pub zone: Zone,
    /// Charge policy of the project.
    pub policy: SubscriptionPolicy,
    /// `false` while its application is deactivated: nothing is charged, and nothing announced.
    pub application_active: bool,
    /// Time at which its application was reactivated, if it ever was deactivated.
    pub application_since: Option<DateTime<Utc>>,
    /// State of the plan that is charged next.
    pub plan: PlanStanding,
    /// `true` if the method that is charged next is active for both the customer and the acquirer.
    pub method_active: bool,
    /// Attempts of the period that was charged last, oldest first.
    pub attempts: Vec<Attempt>,
    /// Times of attempts by that method, over all its subscriptions, for at least 30 days.
    pub method_tries: Vec<DateTime<Utc>>,
    /// Times of successful charges of the subscription, for at least two days.
    pub paid_at: Vec<DateTime<Utc>>,
    /// Times of successful charges of all subscriptions of the customer.
    pub customer_paid_at: Vec<DateTime<Utc>>,
}

/// Additional data of an event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventContext {
    /// `true` if the attempt was planned.
    pub planned: bool,
    /// Consent of the customer.
    pub consent: Option<ConsentedTerms>,
    /// Method that was saved with the money of a first charge.
    pub saved_method: Option<SavedMethodId>,
    /// Reason given by the acquirer for a failed charge.
    pub reason: Option<String>,
    /// New schedule of the future periods.
    pub timing: Option<NewSchedule>,
    /// `true` if the refund ends the paid period.
    pub ends_period: bool,
}

impl SubscriptionCase {
    /// Returns the open attempt, if any.
    pub fn open(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.state.is_open())
    }

    /// Attempts of this period.
    fn attempts_of(&self, period: u32) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(move |attempt| attempt.period == period)
    }

    fn tries(&self, period: u32) -> Vec<PastAttempt> {
        let method = self.subscription.terms.method;
        let declined = |attempt: &Attempt| {
            let counts = attempt.state == AttemptState::Failed && attempt.method == method;
            counts.then(|| Decline::of(attempt.reason.as_deref()))
        };
        let tried = |attempt: &Attempt| PastAttempt {
            at: attempt.started_at,
            planned: attempt.planned,
            decline: declined(attempt),
        };
        self.attempts_of(period).map(tried).collect()
    }

    fn next_try(&self, now: DateTime<Utc>) -> NextAttempt {
        let due = self.subscription.unpaid.unwrap_or_else(|| self.subscription.due_number(now));
        next_try(&self.policy.dunning, self.zone, &self.tries(due), &self.method_tries, now)
    }

    /// State of the method that is charged next.
    pub fn method(&self, now: DateTime<Utc>) -> MethodStanding {
        if !self.method_active || self.subscription.terms.method.is_none() {
            return MethodStanding::Gone;
        }
        match self.next_try(now) {
            NextAttempt::MethodDead => MethodStanding::Gone,
            NextAttempt::CustomerMustAct => MethodStanding::NeedsCustomer,
            NextAttempt::At(_) | NextAttempt::Exhausted(_) => MethodStanding::Valid,
        }
    }

    /// Start of the next local day, if a daily limit is reached.
    fn closed_until(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.policy.bounds.closed_until(&self.paid_at, &self.customer_paid_at, self.zone, now)
    }

    /// Returns `true` if customers and staff may request another attempt for the due period.
    pub(crate) fn allows_unplanned_try(&self, now: DateTime<Utc>) -> bool {
        let due = self.attempts_of(self.subscription.due_number(now));
        let unplanned = due.filter(|attempt| !attempt.planned).count();
        allows_unplanned_try(&self.policy.dunning, unplanned, &self.method_tries, now)
    }

    fn facts(&self, now: DateTime<Utc>) -> Facts {
        let subscription = &self.subscription;
        let open = self.open();
        let charge = open.map_or(OpenCharge::None, |attempt| match attempt.state {
            AttemptState::NeedsReconciliation => OpenCharge::OutcomeUnknown,
            _ => OpenCharge::Running,
        });
        let origin = match (open, subscription.status) {
            (Some(attempt), _) => attempt.origin,
            (None, _) if !subscription.is_activated() => ChargeOrigin::First,
            (None, SubscriptionStatus::PastDue) => ChargeOrigin::Recovery,
            (None, _) if self.charges_missed_period(now) => ChargeOrigin::Missed,
            (None, _) => ChargeOrigin::Renewal,
        };
        let period = open.and_then(|attempt| self.period(attempt.period));
        Facts {
            activated: subscription.is_activated(),
            charge,
            origin,
            in_time: period.is_none_or(|period| period.end > now),
            paid: subscription.is_paid(now),
            method: self.method(now),
            plan: self.plan,
            parked: subscription.parked.is_some(),
            limit_reached: self.closed_until(now).is_some(),
            refund_ends: false,
        }
    }

    /// Returns `true` if charges wait for staff.
    fn is_charging_blocked(&self) -> bool {
        self.subscription.parked.is_some() || !self.application_active
    }

    /// Returns `true` if the next charge is for a missed period.
    fn charges_missed_period(&self, now: DateTime<Utc>) -> bool {
        let one = &self.subscription;
        one.status == SubscriptionStatus::Active && one.is_paid(now) && !one.missed.is_empty()
    }

    fn period(&self, number: u32) -> Option<Period> {
        self.subscription.schedule.as_ref()?.period(number)
    }

    /// Returns the view with the retry state of the payment `asked`, or of the last payment if `None`.
    pub fn view(&self, asked: Option<&Attempt>, now: DateTime<Utc>) -> SubscriptionView {
        let (subscription, latest) = (&self.subscription, self.attempts.last());
        let other_terms = |attempt: &Attempt| {
            let next = subscription.next_terms.as_ref().unwrap_or(&subscription.terms);
            let plan = (next.plan, next.billing_months);
            attempt.amount != next.amount
                || attempt.currency != next.currency
                || attempt.method != next.method
                || attempt.plan.is_some_and(|of_attempt| of_attempt != plan)
        };
        let facts = RetryFacts {
            status: subscription.status,
            paid: subscription.is_paid(now),
            last: latest.map(|attempt| attempt.state.into()),
            is_last: asked.is_none_or(|asked| latest.is_some_and(|latest| latest.id == asked.id)),
            terms_changed: latest.is_some_and(other_terms),
            method: self.method(now),
            plan: self.plan,
            parked: self.is_charging_blocked(),
            tries_left: self.allows_unplanned_try(now),
            limit_reached: self.closed_until(now).is_some(),
        };
        let retry = can_retry_payment(facts);
        SubscriptionView { subscription: subscription.clone(), latest: latest.cloned(), retry }
    }

    /// Applies an outcome of the open attempt. `None` if it is not new.
    pub fn apply_outcome(
        &self,
        standing: PaymentStanding,
        event_context: &EventContext,
        now: DateTime<Utc>,
    ) -> Option<Result<SubscriptionChange, MoveRefused>> {
        let open = self.open()?;
        let event = match standing {
            PaymentStanding::Succeeded => SubscriptionEvent::ChargeSucceeded,
            PaymentStanding::Failed if Decline::of(event_context.reason.as_deref()).is_hard() => {
                SubscriptionEvent::ChargeDeclinedHard
            }
            PaymentStanding::Failed => SubscriptionEvent::ChargeDeclinedSoft,
            PaymentStanding::OutcomeUnknown if open.state == AttemptState::Processing => {
                SubscriptionEvent::ChargeUnknown
            }
            PaymentStanding::Processing if open.state == AttemptState::NeedsReconciliation => {
                SubscriptionEvent::ChargePending
            }
            PaymentStanding::OutcomeUnknown | PaymentStanding::Processing => return None,
        };
        Some(self.after(event, event_context, now))
    }

    /// Returns the change after the customer deleted a method. `None` if another one is charged.
    pub fn without_method(&self, method: SavedMethodId, now: DateTime<Utc>) -> Option<SubscriptionChange> {
        let is_charged = self.subscription.terms.method == Some(method);
        is_charged.then(|| self.after(SubscriptionEvent::DeleteMethod, &EventContext::default(), now).ok()).flatten()
    }

    /// Returns a change that only plans the next step.
    fn with_next_step(&self, event: SubscriptionEvent, now: DateTime<Utc>) -> SubscriptionChange {
        let mut change = self.without_move(event, now);
        self.plan(&mut change, now);
        change
    }

    fn without_move(&self, event: SubscriptionEvent, now: DateTime<Utc>) -> SubscriptionChange {
        SubscriptionChange {
            event,
            from: self.subscription.status,
            subscription: self.subscription.clone(),
            ended: None,
            attempt: None,
            consent: None,
            stopped_method: None,
            returns_money: false,
            notices: Vec::new(),
            at: now,
        }
    }

    /// Returns the change for an event, by the table of moves.
    pub fn after(
        &self,
        event: SubscriptionEvent,
        event_context: &EventContext,
        now: DateTime<Utc>,
    ) -> Result<SubscriptionChange, MoveRefused> {
        let mut facts = self.facts(now);
        facts.refund_ends = event_context.ends_period;
        if matches!(event, SubscriptionEvent::ChargeStarted | SubscriptionEvent::PeriodDue | SubscriptionEvent::Retry) {
            facts.parked = self.is_charging_blocked();
        }
        if event == SubscriptionEvent::ChargeDeclinedHard
            && self.open().is_some_and(|attempt| attempt.method == self.subscription.terms.method)
        {
            facts.method = MethodStanding::Gone;
        }
        if let Some(consent) = &event_context.consent {
            // The caller has checked the new terms: the plan can be bought, and the method can be charged.
            match event {
                SubscriptionEvent::ChangePlan => facts.plan = PlanStanding::Available,
                SubscriptionEvent::ChangeMethod if consent.terms.method.is_some() => {
                    facts.method = MethodStanding::Valid;
                }
                _ => {}
            }
        }
        let step = self.subscription.status.after(event, facts)?;
        let mut change = self.without_move(event, now);
        change.subscription.status = step.to;
        change.notices.extend(step.notice);
        change.ended = ended(event, event_context);
        if step.to == SubscriptionStatus::Canceled && step.from != SubscriptionStatus::Canceled {
            change.subscription.canceled_at = Some(now);
            change.subscription.missed.clear();
        }
        if event == SubscriptionEvent::Resume {
            change.subscription.canceled_at = None;
        }
        change.consent.clone_from(&event_context.consent);
        if let Some(saved) = event_context.saved_method.filter(|_| change.subscription.terms.method.is_none()) {
            change.subscription.terms.method = Some(saved);
        }
        for effect in step.effects {
            if self.takes_effect(*effect, &mut change, event_context, facts.origin) == Flow::Stop {
                return Ok(change);
            }
        }
        if event == SubscriptionEvent::ChangePlan {
            self.announce_new_terms(&mut change);
        }
        let begins = event == SubscriptionEvent::ChargeSucceeded && facts.origin == ChargeOrigin::First;
        if begins
            && change.subscription.status == SubscriptionStatus::Active
            && change.subscription.terms.method.is_none()
        {
            change.notices.push(SubscriptionNotice::SubscriptionMethodNeeded);
        }
        self.announce_next_period(&mut change);
        self.plan(&mut change, now);
        Ok(change)
    }

    /// Announces new terms before they are charged: the next charge of an active subscription is postponed to
    /// keep the notice time.
    fn announce_new_terms(&self, change: &mut SubscriptionChange) {
        let (now, one) = (change.at, &mut change.subscription);
        one.last_notice = None;
        let earliest = now + TimeDelta::days(self.policy.notice.get().into());
        let too_soon =
            one.status == SubscriptionStatus::Active && one.next_period_at(now).is_some_and(|at| at < earliest);
        let due = one.due_number(now);
        let later =
            one.schedule.as_ref().filter(|_| too_soon).and_then(|schedule| schedule.pausing(due, earliest).ok());
        one.schedule = later.or_else(|| one.schedule.take());
    }

    /// Records the announcement for the next period, and sends it now if the period begins without one.
    fn announce_next_period(&self, change: &mut SubscriptionChange) {
        let (due, one) = (self.subscription.due_number(change.at), &mut change.subscription);
        match change.event {
            SubscriptionEvent::ChargeAnnounced => one.last_notice = Some((due, Announcement::Charge)),
            SubscriptionEvent::PlanWithdrawn if one.status == SubscriptionStatus::Active => {
                one.last_notice = Some((due, Announcement::End));
            }
            SubscriptionEvent::PeriodDue
                if change.from == SubscriptionStatus::Active
                    && change.attempt.is_some()
                    && one.last_notice != Some((due, Announcement::Charge)) =>
            {
                one.last_notice = Some((due, Announcement::Charge));
                change.notices.push(SubscriptionNotice::SubscriptionChargeAhead);
            }
            _ => {}
        }
    }

    fn takes_effect(
        &self,
        effect: Effect,
        change: &mut SubscriptionChange,
        event_context: &EventContext,
        origin: ChargeOrigin,
    ) -> Flow {
        let now = change.at;
        match effect {
            Effect::StartAttempt => {
                let attempt = self.attempt(change, event_context, origin);
                if let Err(park) = self.check_attempt(&attempt) {
                    *change = self.parked(park, change.event, now);
                    return Flow::Stop;
                }
                if attempt.origin != ChargeOrigin::Missed {
                    change.subscription.unpaid = Some(attempt.period);
                }
                change.attempt = Some(attempt);
            }
            Effect::GrantPeriod => {
                let number = self.open().map_or(1, |attempt| attempt.period);
                change.subscription.period =
                    change.subscription.schedule.as_ref().and_then(|schedule| schedule.period(number));
            }
            Effect::Anchor => self.anchor(change),
            Effect::StopMethod => {
                change.stopped_method = match change.event {
                    SubscriptionEvent::ChargeDeclinedHard => self.open().and_then(|attempt| attempt.method),
                    _ => self.subscription.terms.method,
                };
            }
            Effect::NextTerms => {
                let agreed = event_context.consent.as_ref().map(|consent| consent.terms.clone());
                change.subscription.next_terms = agreed.filter(|terms| *terms != change.subscription.terms);
            }
            Effect::NextMethod => {
                let method = event_context.consent.as_ref().and_then(|consent| consent.terms.method);
                change.subscription.terms.method = method;
                if let Some(next) = &mut change.subscription.next_terms {
                    next.method = method;
                }
            }
            Effect::EndPeriod => {
                if let Some(period) = &mut change.subscription.period {
                    period.end = now;
                }
            }
            Effect::ReturnMoney => change.returns_money = true,
            Effect::Park => self.park(Park::ContradictingAnswers, change),
            Effect::Unpark => change.subscription.parked = None,
            Effect::Reschedule => {
                if let Some(NewSchedule { schedule, paid_until }) = &event_context.timing {
                    change.subscription.schedule = Some(schedule.clone());
                    change.subscription.last_notice = None;
                    if let (Some(period), Some(end)) = (&mut change.subscription.period, paid_until) {
                        period.end = *end;
                    }
                }
            }
            // The plan made afterwards covers these effects.
            Effect::CollectMissed
            | Effect::ScheduleTry
            | Effect::EndQueuedAttempts
            | Effect::Reconcile
            | Effect::AskLater => {}
        }
        Flow::Go
    }

    /// Returns the next attempt.
    fn attempt(
        &self,
        change: &mut SubscriptionChange,
        event_context: &EventContext,
        origin: ChargeOrigin,
    ) -> NewAttempt {
        let subscription = &mut change.subscription;
        let period = match origin {
            ChargeOrigin::Missed if !subscription.missed.is_empty() => subscription.missed.remove(0),
            _ => self.begin_period(change),
        };
        let number = self.attempts_of(period).map(|attempt| attempt.number).max().unwrap_or(0).saturating_add(1);
        let terms = change.subscription.terms.clone();
        NewAttempt { period, number, origin, planned: event_context.planned, terms }
    }

    /// Returns the number of the period that is charged now. Pending terms apply from it. If the project
    /// collects missed periods, those before it are recorded.
    fn begin_period(&self, change: &mut SubscriptionChange) -> u32 {
        let period = self.subscription.due_number(change.at);
        let subscription = &mut change.subscription;
        if let (MissedPeriods::Collect, Some(schedule)) = (self.policy.missed, &self.subscription.schedule) {
            let settled = self.subscription.unpaid.unwrap_or_else(|| self.subscription.due_after_paid());
            let due = after_downtime(schedule, settled.saturating_sub(1), change.at, MissedPeriods::Collect);
            let served = |missed: &&MissedPeriodDue| {
                let period = schedule.period(missed.number);
                self.application_since.is_none_or(|since| period.is_some_and(|period| period.start >= since))
            };
            subscription.missed.extend(due.collect.iter().filter(served).map(|missed| missed.number));
        }
        if let Some(next) = subscription.next_terms.take() {
            let months = next.billing_months;
            if months != subscription.terms.billing_months
                && let Some(Ok(schedule)) =
                    subscription.schedule.as_ref().map(|schedule| schedule.with_period_length(period, months))
            {
                subscription.schedule = Some(schedule);
            }
            subscription.terms = next;
        }
        period
    }

    fn check_attempt(&self, attempt: &NewAttempt) -> Result<(), Park> {
        let agreed = self.subscription.next_terms.as_ref().filter(|_| attempt.origin != ChargeOrigin::Missed);
        let consented = agreed.unwrap_or(&self.subscription.terms);
        Park::check_amount(consented, attempt.terms.amount, &attempt.terms.currency)
    }

    /// Parks the subscription until staff release it.
    fn parked(&self, park: Park, event: SubscriptionEvent, now: DateTime<Utc>) -> SubscriptionChange {
        let mut change = self.without_move(event, now);
        self.park(park, &mut change);
        self.plan(&mut change, now);
        change
    }

    /// Notifies the customer once, unless the subscription is canceled.
    fn park(&self, park: Park, change: &mut SubscriptionChange) {
        if self.subscription.parked.is_none() && change.subscription.status != SubscriptionStatus::Canceled {
            change.notices.push(SubscriptionNotice::SubscriptionOnHold);
        }
        change.subscription.parked = Some(park);
    }

    /// Starts the due period now. A resumed subscription starts a period without earlier attempts, so that
    /// dunning starts from its first day.
    fn anchor(&self, change: &mut SubscriptionChange) {
        let (now, terms) = (change.at, &change.subscription.terms);
        let tried = self.attempts.iter().map(|attempt| attempt.period.saturating_add(1)).max();
        let resumed = || self.subscription.due_number(now).max(tried.unwrap_or(1));
        let number = self.open().map_or_else(resumed, |attempt| attempt.period);
        let Ok(anchor) = Anchor::new(now, self.zone, terms.billing_months) else { return };
        change.subscription.schedule = match &self.subscription.schedule {
            None => Some(Schedule::new(anchor)),
            Some(schedule) => schedule.resumed(number, anchor).ok().or_else(|| Some(schedule.clone())),
        };
    }
}

#[derive(PartialEq, Eq)]
enum Flow {
    Go,
    Stop,
}

fn ended(event: SubscriptionEvent, event_context: &EventContext) -> Option<AttemptEnd> {
    match event {
        SubscriptionEvent::ChargeSucceeded => Some(AttemptEnd::Succeeded),
        SubscriptionEvent::ChargeDeclinedSoft | SubscriptionEvent::ChargeDeclinedHard => {
            Some(AttemptEnd::Failed { reason: event_context.reason.clone().unwrap_or_default() })
        }
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests;
