//! Subscriptions.

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
    pub told: Option<(u32, Announcement)>,
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
