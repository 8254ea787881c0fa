use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, ChargeId, CustomerScope, Page, PageRequest, SavedMethodId, StoreError, SubscriptionId,
    SubscriptionPaymentId,
};
use kontor_payments::change::{Change, ChargeChange};
use kontor_payments::model::{Charge, ChargePurpose, NewCharge, ProviderId};
use kontor_payments::ports::{ChargeStore, ChargeStored};
use uuid::Uuid;

use super::{Entry, Guard, InMemorySubscriptions, Method, State};
use crate::charge_outcome;
use crate::error::SubscriptionError;
use crate::model::{Attempt, PlanChoice, PlanOffer, Subscription, SubscriptionView};
use crate::ports::{
    CheckoutStored, CommitContext, CommitResult, Decision, LeasedSubscription, NewSubscriptions, SubscriptionSelector,
    SubscriptionStore,
};
use crate::state::SubscriptionStatus;
use crate::terms::ConsentedTerms;

impl State {
    fn is_visible(&self, subscription: &Subscription, customer: CustomerScope) -> bool {
        let application = subscription.application_id;
        let own = subscription.counterparty_id == customer.counterparty_id || !self.guards.has(Guard::Owner);
        own && application.is_none_or(|application| application == customer.app.application_id)
    }

    fn visible(&self, customer: CustomerScope, id: SubscriptionId) -> Option<&Entry> {
        let found = self.entries.iter().find(|entry| entry.case.subscription.id == id);
        found.filter(|entry| self.is_visible(&entry.case.subscription, customer))
    }

    fn has_method(&self, customer: CustomerScope, id: SavedMethodId) -> bool {
        self.methods.iter().any(|method| {
            let own = method.customer == customer.counterparty_id || !self.guards.has(Guard::Owner);
            method.id == id && method.is_active && own && method.application == Some(customer.app.application_id)
        })
    }

    fn record(&mut self, id: ChargeId, change: &ChargeChange, at: DateTime<Utc>) -> Change {
        let Some(recorded) = self.charges.record(id, change, at) else { return Change::Stale };
        let mut saved = None;
        if let ChargeChange::Succeeded { method: Some(method), .. } = change {
            let (id, provider_id): (SavedMethodId, _) = (self.ids.id(), method.provider_id.clone());
            let (customer, application) = (recorded.charge.counterparty_id, recorded.charge.application_id);
            self.methods.push(Method { id, customer, application, provider_id, is_active: true });
            saved = Some(id);
        }
        for index in 0..self.entries.len() {
            let Some(entry) = self.entries.get(index) else { continue };
            if entry.charge.as_ref().is_none_or(|charge| charge.id != id) {
                continue;
            }
            if let Some(Ok(decided)) = charge_outcome::decide(&self.load(entry), change, false, saved, at) {
                self.write(index, &decided, None);
            }
        }
        Change::Done
    }

    fn change(
        &mut self,
        which: SubscriptionSelector,
        with: &CommitContext,
        decide: &Decision,
    ) -> Result<CommitResult, SubscriptionError> {
        let is_meant = |subscription: &Subscription| match which {
            SubscriptionSelector::OfCustomer(customer, id) => {
                subscription.id == id && self.is_visible(subscription, customer)
            }
            SubscriptionSelector::Any(id) => subscription.id == id,
        };
        let index = self.entries.iter().position(|entry| is_meant(&entry.case.subscription));
        let index = index.ok_or(SubscriptionError::NotFound)?;
        let entry = self.entries.get(index).ok_or(SubscriptionError::NotFound)?;
        let mut case = self.load(entry);
        if !self.guards.has(Guard::Current) && case.subscription.status == SubscriptionStatus::Charging {
            case.attempts.retain(|attempt| !attempt.state.is_open());
            case.subscription.status = SubscriptionStatus::Active;
        }
        let changes = decide(&case)?;
        let mut charge = None;
        for change in &changes {
            charge = self.write(index, change, Some(&with.charge)).or(charge);
        }
        let entry = self.entries.get(index).ok_or(SubscriptionError::NotFound)?;
        Ok(CommitResult { view: self.view(entry, with.at), charge })
    }

    fn lease_due(&mut self, now: DateTime<Utc>, until: DateTime<Utc>, most: u32) -> Vec<LeasedSubscription> {
        let exclusive = self.guards.has(Guard::Lease);
        let is_due = |entry: &&mut Entry| {
            let free = !exclusive || entry.leased_until.is_none_or(|leased| leased <= now);
            free && !entry.is_parked && entry.case.subscription.wake_at.is_some_and(|wake| wake <= now)
        };
        let mut due: Vec<&mut Entry> = self.entries.iter_mut().filter(is_due).collect();
        due.sort_by_key(|entry| entry.case.subscription.wake_at);
        due.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        let lease = |entry: &mut Entry| {
            entry.leased_until = Some(until);
            entry.leases += 1;
            LeasedSubscription { id: entry.case.subscription.id, attempts: entry.leases }
        };
        due.into_iter().map(lease).collect()
    }

    /// Entry that is still leased as it was.
    fn leased(&mut self, leased: LeasedSubscription) -> Option<&mut Entry> {
        let any = !self.guards.has(Guard::LastLease);
        self.entries
            .iter_mut()
            .find(|entry| entry.case.subscription.id == leased.id && (any || entry.leases == leased.attempts))
    }

    fn delete_method(&mut self, customer: CustomerScope, method: SavedMethodId, at: DateTime<Utc>) -> bool {
        if !self.has_method(customer, method) {
            return false;
        }
        for index in 0..self.entries.len() {
            let change = self.entries.get(index).and_then(|entry| self.load(entry).without_method(method, at));
            if let Some(change) = change {
                self.write(index, &change, None);
            }
        }
        self.stop_method(method);
        true
    }
}

/// Returns one page of records, oldest first in `all`, newest first on the page.
fn page_of<T: Clone>(all: &[T], request: PageRequest) -> Page<T> {
    Page::of(all.iter().rev().cloned().collect(), request)
}

#[async_trait]
impl SubscriptionStore for InMemorySubscriptions {
    async fn plan(&self, app: AppScope, choice: PlanChoice) -> Result<Option<PlanOffer>, StoreError> {
        let is_chosen = |offer: &&PlanOffer| match &choice {
            PlanChoice::Item(plan) => offer.plan == *plan,
            PlanChoice::Slug(slug) => offer.slug == *slug,
        };
        let offered = self.state.with(|state| state.plans.iter().find(is_chosen).cloned());
        Ok(offered.filter(|_| app.application_id == self.app.application_id))
    }

    async fn begin(&self, new: NewSubscriptions) -> Result<CheckoutStored, StoreError> {
        Ok(self.state.with(|state| state.begin(&new)))
    }

    async fn of_customer(
        &self,
        customer: CustomerScope,
        page: PageRequest,
        now: DateTime<Utc>,
    ) -> Result<Vec<SubscriptionView>, StoreError> {
        Ok(self.state.with(|state| {
            let own = state.entries.iter().filter(|entry| state.is_visible(&entry.case.subscription, customer));
            let own: Vec<_> = own.map(|entry| state.view(entry, now)).collect();
            page_of(&own, page).items
        }))
    }

    async fn find(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        now: DateTime<Utc>,
    ) -> Result<Option<SubscriptionView>, StoreError> {
        Ok(self.state.with(|state| state.visible(customer, id).map(|entry| state.view(entry, now))))
    }

    async fn payments(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Option<Page<Attempt>>, StoreError> {
        Ok(self.state.with(|state| state.visible(customer, id).map(|entry| page_of(&entry.attempts, page))))
    }

    async fn consents(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Option<Page<ConsentedTerms>>, StoreError> {
        Ok(self.state.with(|state| state.visible(customer, id).map(|entry| page_of(&entry.consents, page))))
    }

    async fn payment(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        payment: SubscriptionPaymentId,
    ) -> Result<Option<Attempt>, StoreError> {
        Ok(self.state.with(|state| {
            let attempts = state.visible(customer, id).map(|entry| entry.attempts.iter());
            attempts.and_then(|mut attempts| attempts.find(|attempt| attempt.id == payment)).cloned()
        }))
    }

    async fn has_method(&self, customer: CustomerScope, method: SavedMethodId) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.has_method(customer, method)))
    }

    async fn change(
        &self,
        which: SubscriptionSelector,
        with: CommitContext,
        decide: Decision,
    ) -> Result<CommitResult, SubscriptionError> {
        self.state.with(|state| state.change(which, &with, &decide))
    }

    async fn delete_method(
        &self,
        customer: CustomerScope,
        method: SavedMethodId,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.delete_method(customer, method, at)))
    }

    async fn lease_due(
        &self,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        most: u32,
    ) -> Result<Vec<LeasedSubscription>, StoreError> {
        Ok(self.state.with(|state| state.lease_due(now, until, most)))
    }

    async fn postpone(
        &self,
        leased: LeasedSubscription,
        again: Option<DateTime<Utc>>,
        _: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.state.with(|state| {
            if let Some(entry) = state.leased(leased) {
                entry.leased_until = None;
                entry.is_parked = again.is_none();
                entry.case.subscription.wake_at = again.or(entry.case.subscription.wake_at);
            }
        });
        Ok(())
    }

    async fn extend_leases(
        &self,
        leased: Vec<LeasedSubscription>,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Vec<LeasedSubscription>, StoreError> {
        let mut kept = leased;
        self.state.with(|state| {
            kept.retain(|one| {
                let entry = state.leased(*one).filter(|entry| entry.leased_until == Some(from));
                entry.map(|entry| entry.leased_until = Some(until)).is_some()
            });
        });
        Ok(kept)
    }
}

#[async_trait]
impl ChargeStore for InMemorySubscriptions {
    async fn store(&self, new: NewCharge) -> Result<ChargeStored, StoreError> {
        Ok(self.state.with(|state| {
            if !state.customers.contains(&new.counterparty_id) {
                return ChargeStored::CustomerDeleted;
            }
            let known = state.charges.conflicting(&new).map(ChargeStored::Existing);
            let stored = known.or_else(|| state.charges.store(&new).map(ChargeStored::New));
            stored.unwrap_or(ChargeStored::MethodUnavailable)
        }))
    }

    async fn find(&self, id: ChargeId) -> Result<Option<Charge>, StoreError> {
        Ok(self.state.with(|state| state.charges.find(|charge| charge.id == id)))
    }

    async fn by_provider(&self, id: &ProviderId) -> Result<Option<Charge>, StoreError> {
        Ok(self.state.with(|state| state.charges.find(|charge| charge.provider_id.as_ref() == Some(id))))
    }

    async fn by_key(&self, key: Uuid) -> Result<Option<Charge>, StoreError> {
        Ok(self.state.with(|state| state.charges.find(|charge| charge.request.key == key)))
    }

    async fn open_for(&self, purpose: ChargePurpose) -> Result<Option<Charge>, StoreError> {
        Ok(self.state.with(|state| state.charges.open_for(purpose)))
    }

    async fn lease(&self, _: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Charge>, StoreError> {
        Ok(self.state.with(|state| state.charges.lease(at, until)))
    }

    async fn mark_sending(&self, id: ChargeId, _: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let open = state.charges.find(|charge| charge.id == id && charge.state.is_open());
            let method = open.and_then(|charge| charge.request.saved_method);
            method.is_some_and(|method| state.reference(method.id).is_some())
        }))
    }

    async fn record(&self, id: ChargeId, change: ChargeChange, at: DateTime<Utc>) -> Result<Change, StoreError> {
        Ok(self.state.with(|state| state.record(id, &change, at)))
    }

    async fn record_contradiction(&self, id: ChargeId, why: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| {
            if state.charges.contradict(id, why).is_none() {
                return;
            }
            for index in 0..state.entries.len() {
                let paid = |entry: &&Entry| entry.charge.as_ref().is_some_and(|charge| charge.id == id);
                let case = state.entries.get(index).filter(paid).map(|entry| state.load(entry));
                let decided = case.and_then(|case| charge_outcome::decide_contradiction(&case, at).ok());
                if let Some(change) = decided {
                    state.write(index, &change, None);
                }
            }
        });
        Ok(())
    }
}
