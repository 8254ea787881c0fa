//! Sample subscriptions for tests of rules.
//!
//! Set further fields with struct update syntax:
//! ```
//! use kontor_subscriptions::testing::samples::active;
//! use kontor_subscriptions::{SubscriptionCase, SubscriptionStatus};
//!
//! let case = active("2027-01-31T09:00:00Z".parse()?);
//! let due = case.subscription.period.ok_or("it is paid")?.end;
//! assert_eq!(case.due(due).subscription.status, SubscriptionStatus::Charging);
//!
//! let without_method = SubscriptionCase { method_active: false, ..case };
//! assert_eq!(without_method.due(due).subscription.status, SubscriptionStatus::PastDue);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "constant identifiers")]

use chrono::{DateTime, Utc};
use kontor_kernel::{
    CounterpartyId, NomenclatureId, OrderId, ProjectId, SavedMethodId, SubscriptionId, SubscriptionPaymentId, Zone,
};

use crate::case::{EventContext, SubscriptionCase};
use crate::model::{Attempt, AttemptState, NewAttempt, Subscription, SubscriptionPolicy};
use crate::retry::PaymentStanding;
use crate::state::{ChargeOrigin, Facts, MethodStanding, OpenCharge, PlanStanding, SubscriptionStatus};
use crate::terms::Terms;

/// Returns terms of 990.00 roubles a month for plan 1, by saved method 1.
pub fn terms() -> Terms {
    Terms {
        plan: NomenclatureId::new(1).unwrap(),
        plan_slug: "gold".to_owned(),
        amount: "990.00".parse().unwrap(),
        currency: "RUB".to_owned(),
        billing_months: 1,
        method: SavedMethodId::new(1).ok(),
    }
}

/// Returns the facts about an activated subscription in its paid period, without an open charge.
///
/// ```
/// use kontor_subscriptions::testing::samples::facts;
/// use kontor_subscriptions::{Facts, SubscriptionEvent, SubscriptionStatus};
///
/// let parked = Facts { parked: true, paid: false, ..facts() };
/// assert!(SubscriptionStatus::Active.after(SubscriptionEvent::ChargeStarted, parked).is_err());
/// ```
pub fn facts() -> Facts {
    Facts {
        activated: true,
        charge: OpenCharge::None,
        origin: ChargeOrigin::Renewal,
        in_time: true,
        paid: true,
        method: MethodStanding::Valid,
        plan: PlanStanding::Available,
        parked: false,
        limit_reached: false,
        refund_ends: false,
    }
}

/// Returns subscription 1 of customer 1 of project 1 in this state, with [`terms`] and without a paid period.
pub fn subscription(status: SubscriptionStatus, now: DateTime<Utc>) -> Subscription {
    Subscription {
        id: SubscriptionId::new(1).unwrap(),
        project_id: ProjectId::new(1).unwrap(),
        application_id: None,
        counterparty_id: CounterpartyId::new(1).unwrap(),
        status,
        terms: terms(),
        next_terms: None,
        schedule: None,
        period: None,
        unpaid: None,
        last_notice: None,
        missed: Vec::new(),
        next_charge_at: None,
        wake_at: None,
        canceled_at: None,
        parked: None,
        created_at: now,
    }
}

/// Returns a subscription whose first charge is open since `now`.
pub fn begun(now: DateTime<Utc>) -> SubscriptionCase {
    let mut case = SubscriptionCase {
        subscription: subscription(SubscriptionStatus::Charging, now),
        zone: Zone::default(),
        policy: SubscriptionPolicy::default(),
        application_active: true,
        application_since: None,
        plan: PlanStanding::Available,
        method_active: true,
        attempts: Vec::new(),
        method_tries: Vec::new(),
        paid_at: Vec::new(),
        customer_paid_at: Vec::new(),
    };
    open_attempt(&mut case, &NewAttempt::first(&terms()), now);
    case
}

/// Returns a subscription whose first period was paid at `now`.
pub fn active(now: DateTime<Utc>) -> SubscriptionCase {
    let case = begun(now);
    let change = case.apply_outcome(PaymentStanding::Succeeded, &EventContext::default(), now).unwrap().unwrap();
    case.with_change(&change)
}

/// Adds an attempt to a case, as the storage does when it is requested.
pub fn open_attempt(case: &mut SubscriptionCase, new: &NewAttempt, now: DateTime<Utc>) {
    let id = i64::from(new.period) * 100 + i64::from(new.number);
    case.attempts.retain(|attempt| attempt.period == new.period);
    case.attempts.push(Attempt {
        id: SubscriptionPaymentId::new(id).unwrap(),
        period: new.period,
        number: new.number,
        origin: new.origin,
        planned: new.planned,
        state: AttemptState::Processing,
        order: OrderId::new(id).unwrap(),
        amount: new.terms.amount,
        currency: new.terms.currency.clone(),
        method: new.terms.method,
        plan: Some((new.terms.plan, new.terms.billing_months)),
        reason: None,
        started_at: now,
        ended_at: None,
    });
    case.method_tries.push(now);
}
