//! Stored subscriptions and their attempts.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
pub use kontor_kernel::Named;
use kontor_kernel::history::HistoryEntry;
use kontor_kernel::{
    ApplicationId, CounterpartyId, Money, NomenclatureId, OrderId, ProjectId, SavedMethodId, SubscriptionId,
    SubscriptionPaymentId,
};
use kontor_payments::change::ChargeChange;
use kontor_payments::model::ChargeFailure;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::downtime::{MissedPeriods, after_downtime};
use crate::period::Period;
use crate::policy::{Bounds, DunningPolicy, Park};
use crate::retry::{PaymentStanding, RetryReason};
use crate::schedule::Schedule;
use crate::state::{ChargeOrigin, SubscriptionEvent, SubscriptionStatus};
use crate::terms::Terms;

/// State of an attempt: the `status` of a payment of a subscription. The contract shows `succeeded`; the other
/// values are defined here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum AttemptState {
    /// The request to the acquirer is in progress, or the acquirer has it.
    Processing,
    /// The acquirer may or may not have it.
    NeedsReconciliation,
    /// The money has arrived.
    Succeeded,
    /// It failed finally.
    Failed,
}

impl AttemptState {
    /// Returns `true` while the outcome is open.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Processing | Self::NeedsReconciliation)
    }
}

impl From<AttemptState> for PaymentStanding {
    fn from(state: AttemptState) -> Self {
        match state {
            AttemptState::Processing => Self::Processing,
            AttemptState::NeedsReconciliation => Self::OutcomeUnknown,
            AttemptState::Succeeded => Self::Succeeded,
            AttemptState::Failed => Self::Failed,
        }
    }
}

/// Attempt to charge a period: a payment of the subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Identifier: the `payment_id` of the contract.
    pub id: SubscriptionPaymentId,
    /// Number of the period.
    pub period: u32,
    /// Number of the attempt in the period, from 1.
    pub number: u32,
    /// Kind of charge.
    pub origin: ChargeOrigin,
    /// `true` if it was planned; `false` if a customer or staff requested it.
    pub planned: bool,
    /// State.
    pub state: AttemptState,
    /// Order that its money pays.
    pub order: OrderId,
    /// Amount.
    pub amount: Money,
    /// Currency, three letters.
    pub currency: String,
    /// Saved method that is charged; `None` for a checkout that the customer pays.
    pub method: Option<SavedMethodId>,
    /// Plan and length of its period in months; `None` for attempts made before these were stored.
    pub plan: Option<(NomenclatureId, u8)>,
    /// Reason given by the acquirer for a failure.
    pub reason: Option<String>,
    /// Time of the attempt.
    pub started_at: DateTime<Utc>,
    /// Time at which its outcome became known.
    pub ended_at: Option<DateTime<Utc>>,
}

/// Attempt to store before the acquirer is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAttempt {
    /// Number of the period.
    pub period: u32,
    /// Number of the attempt in the period, from 1.
    pub number: u32,
    /// Kind of charge.
    pub origin: ChargeOrigin,
    /// `true` if it was planned.
    pub planned: bool,
    /// Consented terms.
    pub terms: Terms,
}

impl NewAttempt {
    /// Creates the first attempt of a subscription, with the terms just consented to.
    pub fn first(terms: &Terms) -> Self {
        Self { period: 1, number: 1, origin: ChargeOrigin::First, planned: false, terms: terms.clone() }
    }

    /// Returns `true` if a worker may repeat the request under the same key. A first payment is requested by the
    /// customer and never repeated for them.
    pub fn is_repeatable(&self) -> bool {
        self.origin != ChargeOrigin::First
    }

    /// Outcome of an attempt that needs a receipt of a customer without a contact for it. A planned attempt fails
    /// without a call of the acquirer. A requested one is refused: `None`.
    pub fn without_receipt_contact(&self) -> Option<ChargeChange> {
        let (failure, reason) = (ChargeFailure::Refused, "receipt_contact_missing".to_owned());
        self.planned.then_some(ChargeChange::Failed { provider_id: None, failure, reason })
    }
}

/// Reference to a plan by a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChoice {
    /// Item identifier.
    Item(NomenclatureId),
    /// Slug in the application.
    Slug(String),
}

/// Plan that an application offers now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOffer {
    /// Item of the plan.
    pub plan: NomenclatureId,
    /// Slug in the application.
    pub slug: String,
    /// Display name.
    pub name: String,
    /// Price of a period.
    pub amount: Money,
    /// Currency of the project, ISO 4217.
    pub currency: String,
    /// Length of a period in months.
    pub billing_months: u8,
}

/// Subscription with the names of its references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionRecord {
    /// Data that the customer sees too.
    pub view: SubscriptionView,
    /// Customer.
    pub customer: Named<CounterpartyId>,
    /// Phone of the customer, digits only.
    pub phone: Option<String>,
    /// Application; `None` for a subscription of the whole project.
    pub application: Option<Named<ApplicationId>>,
    /// `false` while that application is deactivated: nothing is charged.
    pub application_active: bool,
    /// Plan.
    pub plan: Named<NomenclatureId>,
    /// Time of parking.
    pub parked_at: Option<DateTime<Utc>>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
    /// Version; grows with every change.
    pub version: i64,
}

/// One entry of the history of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionEntry {
    /// Author, time, and changed fields.
    pub line: HistoryEntry,
    /// Event.
    pub event: SubscriptionEvent,
    /// Status of the subscription afterwards.
    pub status: SubscriptionStatus,
}

/// Charge policy of a project. Missing fields have their defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SubscriptionPolicy {
    /// Dunning policy.
    pub dunning: DunningPolicy,
    /// Bounds on charges.
    pub bounds: Bounds,
    /// Handling of periods missed during downtime.
    pub missed: MissedPeriods,
    /// `true` if subscriptions to a withdrawn plan renew; otherwise they end with the paid period.
    pub withdrawn_plans_renew: bool,
    /// Notice time before a charge.
    pub notice: NoticeDays,
}

/// Days between the announcement and the charge, 1 to 14; 3 by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct NoticeDays(u8);

/// Error for a number of days out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("notice must be from 1 to {} days", NoticeDays::MAX_DAYS)]
pub struct InvalidNoticeDays;

impl NoticeDays {
    /// Maximum; shorter than half of the shortest period.
    pub const MAX_DAYS: u8 = 14;

    /// Number of days.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Default for NoticeDays {
    fn default() -> Self {
        Self(3)
    }
}

impl TryFrom<u8> for NoticeDays {
    type Error = InvalidNoticeDays;

    fn try_from(days: u8) -> Result<Self, InvalidNoticeDays> {
        if (1..=Self::MAX_DAYS).contains(&days) { Ok(Self(days)) } else { Err(InvalidNoticeDays) }
    }
}

impl From<NoticeDays> for u8 {
    fn from(days: NoticeDays) -> Self {
        days.0
    }
}

/// Announcement to a customer about the next period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Announcement {
    /// The next period will be charged.
    Charge,
    /// There will be no next period.
    End,
}

/// Subscription of a customer to a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Identifier.
    pub id: SubscriptionId,
    /// Project.
    pub project_id: ProjectId,
    /// Application; `None` for a subscription of the whole project.
    pub application_id: Option<ApplicationId>,
    /// Customer.
    pub counterparty_id: CounterpartyId,
    /// State.
    pub status: SubscriptionStatus,
    /// Consented terms of the next or open charge.
    pub terms: Terms,
    /// Consented terms that apply from the next period on.
    pub next_terms: Option<Terms>,
    /// Schedule of the periods; `None` until the first charge succeeds.
    pub schedule: Option<Schedule>,
    /// Last paid period.
    pub period: Option<Period>,
    /// Number of the period that was not paid at its start, while no paid period is current.
    pub unpaid: Option<u32>,
    /// Last announcement, with the number of its period.
    pub last_notice: Option<(u32, Announcement)>,
    /// Numbers of missed periods to charge afterwards, ascending.
    pub missed: Vec<u32>,
    /// Earliest time of the next charge.
    pub next_charge_at: Option<DateTime<Utc>>,
    /// Time of the next check by a worker.
    pub wake_at: Option<DateTime<Utc>>,
    /// Time of the cancellation.
    pub canceled_at: Option<DateTime<Utc>>,
    /// Reason why it is parked.
    pub parked: Option<Park>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

impl Subscription {
    /// Returns `true` if its first charge has succeeded.
    pub fn is_activated(&self) -> bool {
        self.schedule.is_some()
    }

    /// Returns `true` if a paid period ends later than now.
    pub fn is_paid(&self, now: DateTime<Utc>) -> bool {
        self.period.is_some_and(|period| period.end > now)
    }

    /// Returns the plans that are charged now or from the next period on. No other subscription of the customer
    /// may have one of them. A canceled subscription claims none.
    pub fn claims(&self) -> BTreeSet<NomenclatureId> {
        let live = self.status != SubscriptionStatus::Canceled;
        let named = [Some(&self.terms), self.next_terms.as_ref()].into_iter().flatten();
        named.filter(|_| live).map(|terms| terms.plan).collect()
    }

    fn paid_number(&self) -> u32 {
        self.period.map_or(0, |period| period.number)
    }

    /// Number of the period after the last paid one.
    pub(crate) fn due_after_paid(&self) -> u32 {
        self.paid_number().saturating_add(1)
    }

    /// Number of the period that is charged next. After downtime that is the current one; completely passed
    /// periods are skipped.
    pub fn due_number(&self, now: DateTime<Utc>) -> u32 {
        let paid = self.paid_number();
        let current = self.schedule.as_ref().and_then(|schedule| {
            let due = after_downtime(schedule, paid, now, MissedPeriods::Forgive);
            due.charge.map(|period| period.number)
        });
        current.unwrap_or_else(|| self.due_after_paid())
    }

    /// Start of the period after the paid one: later than its end if staff postponed it. A period that began
    /// during downtime is due since the end of the paid one.
    pub fn next_period_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let (end, due) = (self.period?.end, self.due_number(now));
        let put_off = self.schedule.as_ref().filter(|_| due == self.due_after_paid()).and_then(|plan| plan.period(due));
        Some(put_off.map_or(end, |period| period.start.max(end)))
    }
}

/// Subscription as shown to its customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionView {
    /// Subscription.
    pub subscription: Subscription,
    /// Last payment.
    pub latest: Option<Attempt>,
    /// `true` if that payment may be retried, and the reason code.
    pub retry: (bool, RetryReason),
}
