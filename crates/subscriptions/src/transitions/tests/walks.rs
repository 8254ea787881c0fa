//! Random sequences of events.

use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;

use super::*;
use crate::state::grants_access;

/// A charge as the walk sees it, with the end of its period.
#[derive(Debug, Clone, Copy)]
struct Charge {
    origin: ChargeOrigin,
    ends: DateTime<Utc>,
    unclear: bool,
}

/// Facts for the table, and its effects so far.
#[derive(Debug)]
struct WalkState {
    status: SubscriptionStatus,
    now: DateTime<Utc>,
    paid_until: Option<DateTime<Utc>>,
    charge: Option<Charge>,
    method: MethodStanding,
    plan: PlanStanding,
    parked: bool,
    activated: bool,
    arrived: u32,
    granted: u32,
    returned: u32,
    contradictions: u32,
}

const PERIOD: TimeDelta = TimeDelta::days(30);

impl WalkState {
    fn new() -> Self {
        let now = DateTime::UNIX_EPOCH;
        Self {
            status: Charging,
            now,
            paid_until: None,
            charge: Some(Charge { origin: ChargeOrigin::First, ends: now + PERIOD, unclear: false }),
            method: MethodStanding::Valid,
            plan: PlanStanding::Available,
            parked: false,
            activated: false,
            arrived: 0,
            granted: 0,
            returned: 0,
            contradictions: 0,
        }
    }

    fn facts(&self, refund_ends: bool) -> Facts {
        Facts {
            activated: self.activated,
            charge: match self.charge {
                None => OpenCharge::None,
                Some(Charge { unclear: false, .. }) => OpenCharge::Running,
                Some(Charge { unclear: true, .. }) => OpenCharge::OutcomeUnknown,
            },
            origin: self.charge.map_or(ChargeOrigin::Renewal, |charge| charge.origin),
            in_time: self.charge.is_some_and(|charge| charge.ends > self.now),
            paid: self.paid_until.is_some_and(|end| end > self.now),
            method: self.method,
            plan: self.plan,
            parked: self.parked,
            limit_reached: false,
            refund_ends,
        }
    }

    /// `flag` marks a charge for a missed period, a refund that ends the period, or a hard decline after the
    /// method was changed.
    fn happens(&mut self, event: SubscriptionEvent, flag: bool) -> Result<(), TestCaseError> {
        let mut facts = self.facts(flag);
        if event == ChargeStarted && flag {
            facts.origin = ChargeOrigin::Missed;
        }
        if event == ChargeDeclinedHard && !flag {
            facts.method = MethodStanding::Gone;
        }
        let money = event == ChargeSucceeded;
        self.arrived += u32::from(money);
        let Ok(row) = self.status.after(event, facts) else {
            prop_assert!(!money, "money that nobody takes note of: {:?}", self);
            return Ok(());
        };
        prop_assert_eq!(row.from, self.status);
        let charge = self.charge;
        if matches!(event, ChargeSucceeded | ChargeDeclinedSoft | ChargeDeclinedHard) {
            self.charge = None;
        }
        if event == ChangeMethod {
            self.method = MethodStanding::Valid;
        }
        let mut begins = None;
        for effect in row.effects {
            match effect {
                StartAttempt => {
                    prop_assert!(self.charge.is_none(), "two charges: {:?}", self);
                    let origin = match (facts.origin, row.from) {
                        (ChargeOrigin::Missed, _) => ChargeOrigin::Missed,
                        (_, Active) => ChargeOrigin::Renewal,
                        _ => ChargeOrigin::Recovery,
                    };
                    self.charge = Some(Charge { origin, ends: self.now + PERIOD, unclear: false });
                }
                CollectMissed => self.granted += 1,
                Anchor => begins = Some(self.now),
                GrantPeriod => {
                    self.granted += 1;
                    let ends = begins.map_or(charge.map(|charge| charge.ends), |begins| Some(begins + PERIOD));
                    self.paid_until = ends;
                }
                Reconcile => self.charge = charge.map(|charge| Charge { unclear: true, ..charge }),
                AskLater => self.charge = charge.map(|charge| Charge { unclear: false, ..charge }),
                StopMethod if event == ChargeDeclinedHard => self.method = facts.method,
                StopMethod => self.method = MethodStanding::Gone,
                EndPeriod => self.paid_until = Some(self.now),
                ReturnMoney => self.returned += 1,
                Park => {
                    self.parked = true;
                    self.contradictions += u32::from(money);
                }
                Unpark => self.parked = false,
                ScheduleTry | EndQueuedAttempts | NextTerms | NextMethod | Reschedule => {}
            }
        }
        self.activated |= row.to == Active;
        let activates = row.from != Active && row.to == Active;
        self.status = row.to;
        prop_assert!(!activates || self.paid_until.is_some_and(|end| end > self.now), "active and unpaid: {:?}", self);
        self.keeps_the_rules()
    }

    fn keeps_the_rules(&self) -> Result<(), TestCaseError> {
        let open = self.charge.is_some();
        match self.status {
            Active | PastDue => prop_assert!(!open, "{:?}", self),
            Charging => prop_assert!(open, "{:?}", self),
            Canceled => {}
        }
        prop_assert_eq!(self.arrived, self.granted + self.returned + self.contradictions);
        let paid = self.paid_until.is_some_and(|end| end > self.now);
        prop_assert_eq!(grants_access(self.status, self.paid_until, self.now), self.status == Active && paid);
        prop_assert!(self.activated || matches!(self.status, Charging | Canceled));
        Ok(())
    }

    /// Lets time pass and runs the scheduler.
    fn passes(&mut self, days: i64) -> Result<(), TestCaseError> {
        self.now += TimeDelta::days(days);
        if self.paid_until.is_none_or(|end| end <= self.now) {
            self.happens(PeriodDue, false)?;
            let unpaid = self.status == Active && !self.parked;
            prop_assert!(!unpaid, "active after its period, once the scheduler ran: {:?}", self);
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Event(SubscriptionEvent, bool),
    Passes(i64),
    Method(MethodStanding),
    Plan(PlanStanding),
    Released,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let event = prop::sample::select(SubscriptionEvent::VARIANTS);
    let outcome = prop::sample::select(vec![ChargeSucceeded, ChargeDeclinedSoft, ChargeUnknown, ChargePending]);
    let step = prop_oneof![
        6 => (event, any::<bool>()).prop_map(|(event, ends)| Step::Event(event, ends)),
        6 => outcome.prop_map(|event| Step::Event(event, false)),
        4 => (0..70_i64).prop_map(Step::Passes),
        1 => prop::sample::select(MethodStanding::VARIANTS).prop_map(Step::Method),
        1 => prop::sample::select(PlanStanding::VARIANTS).prop_map(Step::Plan),
        2 => Just(Step::Released),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    /// Never active without a paid period, never two open charges, no charge while canceled, and all money that
    /// arrived was granted, refunded, or reported to staff.
    #[test]
    fn any_walk_keeps_the_invariants(steps in steps()) {
        let mut state = WalkState::new();
        for step in steps {
            match step {
                Step::Event(event, ends) => state.happens(event, ends)?,
                Step::Passes(days) => state.passes(days)?,
                Step::Method(method) => state.method = method,
                Step::Plan(plan) => state.plan = plan,
                Step::Released => state.parked = false,
            }
        }
    }
}
