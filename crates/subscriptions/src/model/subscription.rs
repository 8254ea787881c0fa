//! A subscription.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, CounterpartyId, NomenclatureId, ProjectId, SubscriptionId};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::Attempt;
use crate::bounds::{Bounds, Park};
use crate::downtime::{MissedPeriods, after_downtime};
use crate::period::Period;
use crate::policy::DunningPolicy;
use crate::retry::RetryReason;
use crate::schedule::Schedule;
use crate::state::SubscriptionStatus;
use crate::terms::Terms;

/// How a project charges subscriptions. Nothing given is the default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SubscriptionPolicy {
    /// When a charge that failed is tried again.
    pub dunning: DunningPolicy,
    /// What stops a charge.
    pub bounds: Bounds,
    /// What becomes of periods that went by during a pause of the service.
    pub missed: MissedPeriods,
    /// Whether those who have a plan that was withdrawn keep it; else it ends with the paid period.
    pub withdrawn_plans_renew: bool,
    /// How long before a charge the customer is told.
    pub notice: NoticeDays,
}

/// How many days before a charge the customer is told, 1 to 14; 3 by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct NoticeDays(u8);

/// No number of days that a customer can be told ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("notice must be from 1 to {} days", NoticeDays::MOST)]
pub struct InvalidNoticeDays;

impl NoticeDays {
    /// Shorter than half of the shortest period.
    pub const MOST: u8 = 14;

    /// The days.
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
        if (1..=Self::MOST).contains(&days) { Ok(Self(days)) } else { Err(InvalidNoticeDays) }
    }
}

impl From<NoticeDays> for u8 {
    fn from(days: NoticeDays) -> Self {
        days.0
    }
}

/// What customers are told of before it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Upcoming {
    /// The next period will be charged.
    Charge,
    /// There will be no next period.
    End,
}

/// A subscription of a customer to a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Its number.
    pub id: SubscriptionId,
    /// The project.
    pub project_id: ProjectId,
    /// Where it was made; `None` of one that the project has as a whole.
    pub application_id: Option<ApplicationId>,
    /// Whose it is.
    pub counterparty_id: CounterpartyId,
    /// Its state.
    pub status: SubscriptionStatus,
    /// What the customer consented to for the charge that is next, or open.
    pub terms: Terms,
    /// Other terms that the customer consented to from the next period on.
    pub next_terms: Option<Terms>,
    /// From what periods are counted; `None` until the first charge succeeds.
    pub schedule: Option<Schedule>,
    /// The last period that is paid.
    pub period: Option<Period>,
    /// The number of the period that was not paid when it began, while none that is paid runs.
    pub unpaid: Option<u32>,
    /// What the customer was told of the period with this number before it comes.
    pub told: Option<(u32, Upcoming)>,
    /// The numbers of periods that went by without a charge, and are to be charged afterwards, ascending.
    pub missed: Vec<u32>,
    /// When it is charged next, at the earliest.
    pub next_charge_at: Option<DateTime<Utc>>,
    /// When a worker looks at it next.
    pub wake_at: Option<DateTime<Utc>>,
    /// When it was canceled.
    pub canceled_at: Option<DateTime<Utc>>,
    /// Why people must look at it before anything is charged.
    pub parked: Option<Park>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

impl Subscription {
    /// Whether its first charge has succeeded.
    pub fn is_activated(&self) -> bool {
        self.schedule.is_some()
    }

    /// Whether a paid period ends later than now.
    pub fn is_paid(&self, now: DateTime<Utc>) -> bool {
        self.period.is_some_and(|period| period.end > now)
    }

    /// Plans that are charged now or from the next period on: no other subscription of the customer may name one of them.
    /// A canceled subscription claims none.
    pub fn claims(&self) -> BTreeSet<NomenclatureId> {
        let live = self.status != SubscriptionStatus::Canceled;
        let named = [Some(&self.terms), self.next_terms.as_ref()].into_iter().flatten();
        named.filter(|_| live).map(|terms| terms.plan).collect()
    }

    fn paid_number(&self) -> u32 {
        self.period.map_or(0, |period| period.number)
    }

    /// The number of the period after the last one that is paid.
    pub(crate) fn due_after_paid(&self) -> u32 {
        self.paid_number().saturating_add(1)
    }

    /// The number of the period that is charged next. After a pause of the service that is the current one: what went by whole
    /// is passed over.
    pub fn due_number(&self, now: DateTime<Utc>) -> u32 {
        let paid = self.paid_number();
        let current = self.schedule.as_ref().and_then(|schedule| {
            let due = after_downtime(schedule, paid, now, MissedPeriods::Forgive);
            due.charge.map(|period| period.number)
        });
        current.unwrap_or_else(|| self.due_after_paid())
    }

    /// When the period after the paid one begins: later than the paid one ends, when staff put it off. What began while the
    /// service stood still is due since the paid one ended.
    pub fn next_period_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let (end, due) = (self.period?.end, self.due_number(now));
        let put_off = self.schedule.as_ref().filter(|_| due == self.due_after_paid()).and_then(|plan| plan.period(due));
        Some(put_off.map_or(end, |period| period.start.max(end)))
    }
}

/// A subscription as its customer sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionView {
    /// The subscription.
    pub subscription: Subscription,
    /// Its last payment.
    pub latest: Option<Attempt>,
    /// Whether that payment may be retried, and the word for it.
    pub retry: (bool, RetryReason),
}
