//! Use cases of subscriptions for staff. They are not part of the contract; this project defines them.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};
use kontor_kernel::{
    Clock, Listing, Page, PageRequest, Permission, ProjectScoped, Random, Resource, Staff, Stamp, SubscriptionId,
};
use kontor_payments::ChargeService;

use crate::case::{EventContext, ScheduleCommand, SubscriptionCase};
use crate::effect::SubscriptionChange;
use crate::error::{SubscriptionError, SubscriptionRefusal};
use crate::model::{Attempt, SubscriptionEntry, SubscriptionPolicy, SubscriptionRecord};
use crate::ports::{ChargeTerms, CommitContext, SubscriptionReader, SubscriptionSelector, SubscriptionStore};
use crate::retry::RetryReason;
use crate::state::{SubscriptionEvent, SubscriptionStatus};
use crate::terms::ConsentedTerms;

/// Command of staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaffCommand {
    /// Cancels: nothing is charged any more, the paid period stays paid.
    Cancel,
    /// Changes the start of the next period.
    Retime(ScheduleCommand),
    /// Charges the due period, or a missed one, now.
    ChargeNow,
    /// Releases a parked subscription after a check.
    Release,
}

/// Use cases of subscriptions for staff.
pub struct StaffSubscriptions {
    /// Reads subscriptions.
    pub register: Arc<dyn SubscriptionReader>,
    /// Writes subscriptions.
    pub store: Arc<dyn SubscriptionStore>,
    /// Use cases of charges.
    pub charges: Arc<ChargeService>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of idempotency keys.
    pub random: Arc<dyn Random>,
}

impl StaffSubscriptions {
    /// Returns one page of the project's subscriptions.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<SubscriptionRecord>, SubscriptionError> {
        staff.require(Permission::view(Resource::Subscriptions))?;
        Ok(self.register.list(staff.project_id, listing, self.clock.now()).await?)
    }

    /// Returns the subscriptions that are charged before a time, the next first. Retries of failed charges are
    /// not predicted.
    pub async fn upcoming(
        &self,
        staff: &Staff,
        until: DateTime<Utc>,
        page: PageRequest,
    ) -> Result<Page<SubscriptionRecord>, SubscriptionError> {
        let mut listing = Listing::unfiltered(Sort::ascending("next_charge_at"), page);
        let before = Comparison::LessThan(FilterValue::Moment(until));
        listing.conditions.push(Condition { field: "next_charge_at", comparison: before });
        self.list(staff, listing).await
    }

    /// Returns one subscription of the project.
    pub async fn read(&self, staff: &Staff, id: SubscriptionId) -> Result<SubscriptionRecord, SubscriptionError> {
        staff.require(Permission::view(Resource::Subscriptions))?;
        self.own(staff, id).await
    }

    /// Returns its payments, newest first.
    pub async fn payments(
        &self,
        staff: &Staff,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Page<Attempt>, SubscriptionError> {
        self.read(staff, id).await?;
        Ok(self.register.payments(id, page).await?)
    }

    /// Returns its history, latest first.
    pub async fn history(
        &self,
        staff: &Staff,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Page<SubscriptionEntry>, SubscriptionError> {
        self.read(staff, id).await?;
        Ok(self.register.history(id, page).await?)
    }

    /// Returns its consents, latest first.
    pub async fn consents(
        &self,
        staff: &Staff,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Page<ConsentedTerms>, SubscriptionError> {
        self.read(staff, id).await?;
        Ok(self.register.consents(id, page).await?)
    }

    /// Returns the charge policy of the project.
    pub async fn policy(&self, staff: &Staff) -> Result<SubscriptionPolicy, SubscriptionError> {
        staff.require(Permission::view(Resource::Subscriptions))?;
        Ok(self.register.policy(staff.project_id).await?)
    }

    /// Sets the charge policy of the project.
    pub async fn set_policy(
        &self,
        staff: &Staff,
        policy: SubscriptionPolicy,
    ) -> Result<SubscriptionPolicy, SubscriptionError> {
        staff.require(Permission::edit(Resource::Subscriptions))?;
        self.register.set_policy(Stamp::of(staff, self.clock.now()), policy.clone()).await?;
        Ok(policy)
    }

    /// Executes a command of staff.
    pub async fn command(
        &self,
        staff: &Staff,
        id: SubscriptionId,
        command: StaffCommand,
    ) -> Result<SubscriptionRecord, SubscriptionError> {
        staff.require(Permission::edit(Resource::Subscriptions))?;
        self.own(staff, id).await?;
        let at = self.clock.now();
        let charge = ChargeTerms::of_saved_method(&*self.random, at);
        let with = CommitContext { author: Author::User(staff.user_id), charge, at };
        let decide = move |case: &SubscriptionCase| Ok(vec![decided(case, command, at)?]);
        let committed = self.store.change(SubscriptionSelector::Any(id), with, Box::new(decide)).await?;
        let parked = committed.view.subscription.parked.is_some();
        match &committed.charge {
            // The change is committed: a worker resolves an unknown outcome.
            Some(charge) => {
                let _unclear = self.charges.open(charge).await;
            }
            None if command == StaffCommand::ChargeNow && parked => {
                return Err(SubscriptionRefusal::NotRetryable(RetryReason::Parked).into());
            }
            None => {}
        }
        self.own(staff, id).await
    }

    async fn own(&self, staff: &Staff, id: SubscriptionId) -> Result<SubscriptionRecord, SubscriptionError> {
        let found: Option<ProjectScoped<_>> = self.register.find(id, self.clock.now()).await?;
        Ok(found.ok_or(SubscriptionError::NotFound)?.open(staff)?)
    }
}

fn decided(
    case: &SubscriptionCase,
    command: StaffCommand,
    at: DateTime<Utc>,
) -> Result<SubscriptionChange, SubscriptionError> {
    let event = match command {
        StaffCommand::Retime(timing) => return case.change_timing(timing, at),
        StaffCommand::Cancel => SubscriptionEvent::Cancel,
        StaffCommand::Release => SubscriptionEvent::Release,
        StaffCommand::ChargeNow if !case.application_active => {
            return Err(SubscriptionRefusal::ApplicationInactive.into());
        }
        StaffCommand::ChargeNow => {
            let past_due = case.subscription.status == SubscriptionStatus::PastDue;
            if past_due && !case.allows_unplanned_try(at) {
                return Err(SubscriptionRefusal::NotRetryable(RetryReason::TooManyTries).into());
            }
            SubscriptionEvent::ChargeStarted
        }
    };
    Ok(case.after(event, &EventContext::default(), at)?)
}
