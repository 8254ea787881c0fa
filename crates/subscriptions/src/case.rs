//! A subscription with all that decides about it, and what follows when something happens to it.

mod planning;
mod timing;

pub use timing::{Retimed, Timing};

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{SavedMethodId, Zone};

use crate::bounds::Park;
use crate::change::{AttemptEnd, SubscriptionChange};
use crate::decline::Decline;
use crate::downtime::{MissedPeriods, ToCollect, after_downtime};
use crate::dunning::{NextTry, Try, allows_unplanned_try, next_try};
use crate::effect::{Effect, SubscriptionNotice};
use crate::model::{Attempt, AttemptState, NewAttempt, Subscription, SubscriptionPolicy, SubscriptionView, Upcoming};
use crate::period::{Anchor, Period};
use crate::refusal::MoveRefused;
use crate::retry::{PaymentStanding, RetryFacts, can_retry_payment};
use crate::schedule::Schedule;
use crate::state::{
    ChargeOrigin, Facts, MethodStanding, OpenCharge, PlanStanding, SubscriptionEvent, SubscriptionStatus,
};
use crate::terms::ConsentedTerms;

/// A subscription with all that decides about it, as it stands while nobody else changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionCase {
    /// The subscription.
    pub subscription: Subscription,
    /// The zone of the project.
    pub zone: Zone,
    /// How the project charges.
    pub policy: SubscriptionPolicy,
    /// `false` while its application is deactivated: nothing is charged, and nothing announced.
    pub application_active: bool,
    /// When its application was activated again, if it ever was deactivated.
    pub application_since: Option<DateTime<Utc>>,
    /// How the plan that is charged next stands.
    pub plan: PlanStanding,
    /// Whether the method that is charged next may be charged by the word of customer and acquirer.
    pub method_active: bool,
    /// The attempts of the period that was charged last, oldest first.
    pub attempts: Vec<Attempt>,
    /// When attempts by that method were made, by all its subscriptions, of 30 days at least.
    pub method_tries: Vec<DateTime<Utc>>,
    /// When charges of the subscription succeeded, of two days at least.
    pub paid_at: Vec<DateTime<Utc>>,
    /// The same of all subscriptions of the customer.
    pub customer_paid_at: Vec<DateTime<Utc>>,
}

/// What is known when something happens, beside that it does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Occasion {
    /// Whether a try is one that was planned.
    pub planned: bool,
    /// What the customer consents to.
    pub consent: Option<ConsentedTerms>,
    /// The method that was saved with the money of a first charge.
    pub saved_method: Option<SavedMethodId>,
    /// The acquirer's reason of a charge that failed.
    pub reason: Option<String>,
    /// How the periods to come are counted anew.
    pub timing: Option<Retimed>,
    /// Whether the paid period ends with its money.
    pub ends_period: bool,
}

impl SubscriptionCase {
    /// The attempt whose outcome is still to come.
    pub fn open(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.state.is_open())
    }

    /// The attempts of the period that is charged next.
    fn attempts_of(&self, period: u32) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(move |attempt| attempt.period == period)
    }

    fn tries(&self, period: u32) -> Vec<Try> {
        let method = self.subscription.terms.method;
        let declined = |attempt: &Attempt| {
            let counts = attempt.state == AttemptState::Failed && attempt.method == method;
            counts.then(|| Decline::of(attempt.reason.as_deref()))
        };
        let tried =
            |attempt: &Attempt| Try { at: attempt.started_at, planned: attempt.planned, decline: declined(attempt) };
        self.attempts_of(period).map(tried).collect()
    }

    fn next_try(&self, now: DateTime<Utc>) -> NextTry {
        let due = self.subscription.unpaid.unwrap_or_else(|| self.subscription.due_number(now));
        next_try(&self.policy.dunning, self.zone, &self.tries(due), &self.method_tries, now)
    }

    /// How the method that is charged next stands.
    pub fn method(&self, now: DateTime<Utc>) -> MethodStanding {
        if !self.method_active || self.subscription.terms.method.is_none() {
            return MethodStanding::Gone;
        }
        match self.next_try(now) {
            NextTry::MethodDead => MethodStanding::Gone,
            NextTry::CustomerMustAct => MethodStanding::NeedsCustomer,
            NextTry::At(_) | NextTry::Exhausted(_) => MethodStanding::Valid,
        }
    }

    /// Start of the next local day, if a daily limit is reached.
    fn closed_until(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.policy.bounds.closed_until(&self.paid_at, &self.customer_paid_at, self.zone, now)
    }

    /// Returns `true` if customers and staff may ask for another try of the period that is due.
    pub(crate) fn allows_unplanned_try(&self, now: DateTime<Utc>) -> bool {
        let due = self.attempts_of(self.subscription.due_number(now));
        let unplanned = due.filter(|attempt| !attempt.planned).count();
        allows_unplanned_try(&self.policy.dunning, unplanned, &self.method_tries, now)
    }

    fn facts(&self, now: DateTime<Utc>) -> Facts {
        let subscription = &self.subscription;
        let open = self.open();
        let charge = open.map_or(OpenCharge::None, |attempt| match attempt.state {
            AttemptState::NeedsReconciliation => OpenCharge::Unclear,
            _ => OpenCharge::Running,
        });
        let origin = match (open, subscription.status) {
            (Some(attempt), _) => attempt.origin,
            (None, _) if !subscription.is_activated() => ChargeOrigin::First,
            (None, SubscriptionStatus::PastDue) => ChargeOrigin::Recovery,
            (None, _) if self.collects(now) => ChargeOrigin::Missed,
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

    /// Whether it waits for people before anything is charged.
    fn may_not_charge(&self) -> bool {
        self.subscription.parked.is_some() || !self.application_active
    }

    /// Whether a missed period is what is charged next.
    fn collects(&self, now: DateTime<Utc>) -> bool {
        let one = &self.subscription;
        one.status == SubscriptionStatus::Active && one.is_paid(now) && !one.missed.is_empty()
    }

    fn period(&self, number: u32) -> Option<Period> {
        self.subscription.schedule.as_ref()?.period(number)
    }

    /// Whether the last payment may be retried, for the customer who asks for this one, or for none in particular.
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
            parked: self.may_not_charge(),
            tries_left: self.allows_unplanned_try(now),
            limit_reached: self.closed_until(now).is_some(),
        };
        let retry = can_retry_payment(facts);
        SubscriptionView { subscription: subscription.clone(), latest: latest.cloned(), retry }
    }

    /// The attempt that is open has ended, or was heard of. `None` when that is no news.
    pub fn heard(
        &self,
        standing: PaymentStanding,
        occasion: &Occasion,
        now: DateTime<Utc>,
    ) -> Option<Result<SubscriptionChange, MoveRefused>> {
        let open = self.open()?;
        let event = match standing {
            PaymentStanding::Succeeded => SubscriptionEvent::ChargeSucceeded,
            PaymentStanding::Failed if Decline::of(occasion.reason.as_deref()).is_hard() => {
                SubscriptionEvent::ChargeDeclinedHard
            }
            PaymentStanding::Failed => SubscriptionEvent::ChargeDeclinedSoft,
            PaymentStanding::Unclear if open.state == AttemptState::Processing => SubscriptionEvent::ChargeUnknown,
            PaymentStanding::Processing if open.state == AttemptState::NeedsReconciliation => {
                SubscriptionEvent::ChargePending
            }
            PaymentStanding::Unclear | PaymentStanding::Processing => return None,
        };
        Some(self.after(event, occasion, now))
    }

    /// The same, planned anew.
    fn replanned(&self, event: SubscriptionEvent, now: DateTime<Utc>) -> SubscriptionChange {
        let mut change = self.unmoved(event, now);
        self.plan(&mut change, now);
        change
    }

    fn unmoved(&self, event: SubscriptionEvent, now: DateTime<Utc>) -> SubscriptionChange {
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

    /// What follows from an event, by the table of moves.
    pub fn after(
        &self,
        event: SubscriptionEvent,
        occasion: &Occasion,
        now: DateTime<Utc>,
    ) -> Result<SubscriptionChange, MoveRefused> {
        let mut facts = self.facts(now);
        facts.refund_ends = occasion.ends_period;
        if matches!(event, SubscriptionEvent::ChargeStarted | SubscriptionEvent::PeriodDue | SubscriptionEvent::Retry) {
            facts.parked = self.may_not_charge();
        }
        if event == SubscriptionEvent::ChargeDeclinedHard
            && self.open().is_some_and(|attempt| attempt.method == self.subscription.terms.method)
        {
            facts.method = MethodStanding::Gone;
        }
        if let Some(consent) = &occasion.consent {
            // What is consented to was looked up by whoever asks: it can be bought and charged.
            match event {
                SubscriptionEvent::ChangePlan => facts.plan = PlanStanding::Available,
                SubscriptionEvent::ChangeMethod if consent.terms.method.is_some() => {
                    facts.method = MethodStanding::Valid;
                }
                _ => {}
            }
        }
        let step = self.subscription.status.after(event, facts)?;
        let mut change = self.unmoved(event, now);
        change.subscription.status = step.to;
        change.notices.extend(step.notice);
        change.ended = ended(event, occasion);
        if step.to == SubscriptionStatus::Canceled && step.from != SubscriptionStatus::Canceled {
            change.subscription.canceled_at = Some(now);
            change.subscription.missed.clear();
        }
        if event == SubscriptionEvent::Resume {
            change.subscription.canceled_at = None;
        }
        change.consent.clone_from(&occasion.consent);
        if let Some(saved) = occasion.saved_method.filter(|_| change.subscription.terms.method.is_none()) {
            change.subscription.terms.method = Some(saved);
        }
        for effect in step.effects {
            if self.takes_effect(*effect, &mut change, occasion, facts.origin) == Flow::Stop {
                return Ok(change);
            }
        }
        if event == SubscriptionEvent::ChangePlan {
            self.announce_anew(&mut change);
        }
        let begins = event == SubscriptionEvent::ChargeSucceeded && facts.origin == ChargeOrigin::First;
        if begins
            && change.subscription.status == SubscriptionStatus::Active
            && change.subscription.terms.method.is_none()
        {
            change.notices.push(SubscriptionNotice::SubscriptionMethodNeeded);
        }
        self.tell_ahead(&mut change);
        self.plan(&mut change, now);
        Ok(change)
    }

    /// Other terms are announced before they are charged: an active subscription is charged no sooner than the notice before it.
    fn announce_anew(&self, change: &mut SubscriptionChange) {
        let (now, one) = (change.at, &mut change.subscription);
        one.told = None;
        let earliest = now + TimeDelta::days(self.policy.notice.get().into());
        let too_soon =
            one.status == SubscriptionStatus::Active && one.next_period_at(now).is_some_and(|at| at < earliest);
        let due = one.due_number(now);
        let later =
            one.schedule.as_ref().filter(|_| too_soon).and_then(|schedule| schedule.pausing(due, earliest).ok());
        one.schedule = later.or_else(|| one.schedule.take());
    }

    /// Remembers what the customer is told of the next period, and tells them at last when it begins untold.
    fn tell_ahead(&self, change: &mut SubscriptionChange) {
        let (due, one) = (self.subscription.due_number(change.at), &mut change.subscription);
        match change.event {
            SubscriptionEvent::ChargeAnnounced => one.told = Some((due, Upcoming::Charge)),
            SubscriptionEvent::PlanWithdrawn if one.status == SubscriptionStatus::Active => {
                one.told = Some((due, Upcoming::End));
            }
            SubscriptionEvent::PeriodDue
                if change.from == SubscriptionStatus::Active
                    && change.attempt.is_some()
                    && one.told != Some((due, Upcoming::Charge)) =>
            {
                one.told = Some((due, Upcoming::Charge));
                change.notices.push(SubscriptionNotice::SubscriptionChargeAhead);
            }
            _ => {}
        }
    }

    fn takes_effect(
        &self,
        effect: Effect,
        change: &mut SubscriptionChange,
        occasion: &Occasion,
        origin: ChargeOrigin,
    ) -> Flow {
        let now = change.at;
        match effect {
            Effect::StartAttempt => {
                let attempt = self.attempt(change, occasion, origin);
                if let Err(park) = self.judge(&attempt) {
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
                let agreed = occasion.consent.as_ref().map(|consent| consent.terms.clone());
                change.subscription.next_terms = agreed.filter(|terms| *terms != change.subscription.terms);
            }
            Effect::NextMethod => {
                let method = occasion.consent.as_ref().and_then(|consent| consent.terms.method);
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
                if let Some(Retimed { schedule, paid_until }) = &occasion.timing {
                    change.subscription.schedule = Some(schedule.clone());
                    change.subscription.told = None;
                    if let (Some(period), Some(end)) = (&mut change.subscription.period, paid_until) {
                        period.end = *end;
                    }
                }
            }
            // What follows from these is what is planned afterwards.
            Effect::CollectMissed
            | Effect::ScheduleTry
            | Effect::EndQueuedAttempts
            | Effect::Reconcile
            | Effect::AskLater => {}
        }
        Flow::Go
    }

    /// The attempt that comes next.
    fn attempt(&self, change: &mut SubscriptionChange, occasion: &Occasion, origin: ChargeOrigin) -> NewAttempt {
        let subscription = &mut change.subscription;
        let period = match origin {
            ChargeOrigin::Missed if !subscription.missed.is_empty() => subscription.missed.remove(0),
            _ => self.begin_period(change),
        };
        let number = self.attempts_of(period).map(|attempt| attempt.number).max().unwrap_or(0).saturating_add(1);
        let terms = change.subscription.terms.clone();
        NewAttempt { period, number, origin, planned: occasion.planned, terms }
    }

    /// The number of the period that is charged now. Terms that were agreed on in between begin with it; periods that went by
    /// before it are remembered, where the project collects them.
    fn begin_period(&self, change: &mut SubscriptionChange) -> u32 {
        let period = self.subscription.due_number(change.at);
        let subscription = &mut change.subscription;
        if let (MissedPeriods::Collect, Some(schedule)) = (self.policy.missed, &self.subscription.schedule) {
            let settled = self.subscription.unpaid.unwrap_or_else(|| self.subscription.due_after_paid());
            let due = after_downtime(schedule, settled.saturating_sub(1), change.at, MissedPeriods::Collect);
            let served = |missed: &&ToCollect| {
                let period = schedule.period(missed.number);
                self.application_since.is_none_or(|since| period.is_some_and(|period| period.start >= since))
            };
            subscription.missed.extend(due.collect.iter().filter(served).map(|missed| missed.number));
        }
        if let Some(next) = subscription.next_terms.take() {
            let months = next.billing_months;
            if months != subscription.terms.billing_months
                && let Some(Ok(schedule)) =
                    subscription.schedule.as_ref().map(|schedule| schedule.lasting(period, months))
            {
                subscription.schedule = Some(schedule);
            }
            subscription.terms = next;
        }
        period
    }

    fn judge(&self, attempt: &NewAttempt) -> Result<(), Park> {
        let agreed = self.subscription.next_terms.as_ref().filter(|_| attempt.origin != ChargeOrigin::Missed);
        let consented = agreed.unwrap_or(&self.subscription.terms);
        Park::above(consented, attempt.terms.amount, &attempt.terms.currency)
    }

    /// People must look before anything is charged.
    fn parked(&self, park: Park, event: SubscriptionEvent, now: DateTime<Utc>) -> SubscriptionChange {
        let mut change = self.unmoved(event, now);
        self.park(park, &mut change);
        self.plan(&mut change, now);
        change
    }

    /// The customer is told once, unless nothing would be charged anyway.
    fn park(&self, park: Park, change: &mut SubscriptionChange) {
        if self.subscription.parked.is_none() && change.subscription.status != SubscriptionStatus::Canceled {
            change.notices.push(SubscriptionNotice::SubscriptionOnHold);
        }
        change.subscription.parked = Some(park);
    }

    /// The period that is due begins now. A resumed subscription begins a period that was never tried, so that its tries are
    /// planned from the start.
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

fn ended(event: SubscriptionEvent, occasion: &Occasion) -> Option<AttemptEnd> {
    match event {
        SubscriptionEvent::ChargeSucceeded => Some(AttemptEnd::Succeeded),
        SubscriptionEvent::ChargeDeclinedSoft | SubscriptionEvent::ChargeDeclinedHard => {
            Some(AttemptEnd::Failed { reason: occasion.reason.clone().unwrap_or_default() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
