//! Charges in memory, and their effects on orders.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::history::{Author, HistoryAction};
use kontor_kernel::{ChargeId, OrderId, ProjectScoped, StoreError};
use kontor_payments::change::{Change, ChargeChange, RecordedChange};
use kontor_payments::model::{Charge, ChargePurpose, ChargeState, NewCharge, ProviderId};
use kontor_payments::ports::{ChargeStore, ChargeStored};
use uuid::Uuid;

use super::orders::plus;
use super::{Guard, InMemoryOrders, State};
use crate::charge_outcome::{self, LockedOrder, OrderEffects, not_refunded};

/// Charge with the fields that only the storage reads.
#[derive(Clone)]
pub(super) struct StoredCharge {
    pub charge: Charge,
    next_check_at: Option<DateTime<Utc>>,
    leased_until: Option<DateTime<Utc>>,
    reason: Option<String>,
    contradiction: Option<String>,
}

impl State {
    fn charge(&self, is: impl Fn(&Charge) -> bool) -> Option<Charge> {
        self.charges.iter().map(|stored| &stored.charge).find(|charge| is(charge)).cloned()
    }

    pub(super) fn open_charge(&self, purpose: ChargePurpose) -> Option<Charge> {
        self.charge(|charge| charge.purpose() == purpose && charge.state.is_open())
    }

    /// Charge that prevents another one.
    fn conflicting(&self, new: &NewCharge) -> Option<Charge> {
        if !self.has(Guard::Payment) {
            return None;
        }
        let purpose = new.request.purpose;
        self.charge(|charge| charge.request.key == new.request.key).or_else(|| {
            self.charge(|charge| {
                let paid = charge.state == ChargeState::Succeeded && !purpose.is_recurring();
                charge.purpose() == purpose && (paid || charge.state.is_open())
            })
        })
    }

    /// Stores a charge; `None` if another one prevents it.
    pub(super) fn store_charge(&mut self, new: &NewCharge) -> Option<Charge> {
        if self.conflicting(new).is_some() {
            return None;
        }
        let charge = new.stored_as(self.id());
        self.charges.push(StoredCharge {
            charge: charge.clone(),
            next_check_at: Some(new.next_check_at),
            leased_until: None,
            reason: None,
            contradiction: None,
        });
        Some(charge)
    }

    fn store(&mut self, new: &NewCharge) -> ChargeStored {
        if !self.customers.contains_key(&new.counterparty_id) {
            return ChargeStored::CustomerDeleted;
        }
        if let Some(known) = self.conflicting(new) {
            return ChargeStored::Existing(known);
        }
        // It saves no methods, so that none is active.
        let is_new = new.request.saved_method.is_none();
        let stored = is_new.then(|| self.store_charge(new)).flatten();
        stored.map_or(ChargeStored::MethodUnavailable, ChargeStored::New)
    }

    fn lease(&mut self, at: DateTime<Utc>, until: DateTime<Utc>) -> Option<Charge> {
        let is_due = |stored: &&mut StoredCharge| {
            let free = stored.leased_until.is_none_or(|leased| leased <= at);
            free && stored.charge.state.is_open() && stored.next_check_at.is_some_and(|next| next <= at)
        };
        let longest = self.charges.iter_mut().filter(is_due).min_by_key(|stored| stored.next_check_at)?;
        longest.leased_until = Some(until);
        Some(longest.charge.clone())
    }

    fn record(&mut self, id: ChargeId, change: &ChargeChange, at: DateTime<Utc>) -> Result<Change, StoreError> {
        let once = self.has(Guard::Outcome);
        let Some(stored) = self.charges.iter_mut().find(|stored| stored.charge.id == id) else {
            return Ok(Change::Stale);
        };
        if once && !stored.charge.state.is_open() {
            return Ok(Change::Stale);
        }
        let repeated = stored.learn(change, at);
        let after = stored.charge.clone();
        if let ChargePurpose::Order(order) = after.purpose() {
            let recorded = RecordedChange { charge: after, change, repeated };
            if charge_outcome::is_relevant(&recorded) {
                self.apply_charge(order, &recorded, at)?;
            }
        }
        Ok(Change::Done)
    }

    fn locked(&self, id: OrderId) -> Result<LockedOrder, StoreError> {
        let order = self.orders.get(&id).ok_or_else(|| StoreError::corrupt("the order of a charge is missing"))?;
        let application_id = order.application.as_ref().map(|application| application.id);
        Ok(LockedOrder { id, project_id: self.project, application_id, status: order.status })
    }

    fn apply_charge(
        &mut self,
        id: OrderId,
        recorded: &RecordedChange<'_>,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let order = self.locked(id)?;
        let whole = || {
            let found = self.order(id).ok_or_else(|| StoreError::corrupt("the order of a charge is missing"))?;
            Ok::<_, StoreError>(ProjectScoped::new(self.project, found))
        };
        let effects = charge_outcome::decide(&order, recorded, at, whole)?;
        self.write_effects(id, &effects, at);
        let refused = effects
            .refund
            .as_ref()
            .and_then(|late| self.refund(id, &late.refund, Some(recorded.charge.id), at).err().map(not_refunded));
        if let Some(why) = effects.review.or(refused) {
            self.doubt(recorded.charge.id, &why, at)?;
        }
        Ok(())
    }

    /// Writes effects on an order, except the refund and the review.
    fn write_effects(&mut self, id: OrderId, effects: &OrderEffects, at: DateTime<Utc>) {
        if effects.is_empty() {
            return;
        }
        if let Some(step) = effects.transition {
            self.transition(id, step);
        }
        if let Some(order) = self.orders.get_mut(&id) {
            if effects.transition.is_some() {
                order.payment_link = None;
            }
            if let Some(link) = effects.payment_link.as_set() {
                order.payment_link.clone_from(link);
            }
            if let Some(captured) = &effects.captured {
                (order.captured, order.paid_at) = (captured.amount, Some(at));
            }
            order.version += 1;
            order.updated_at = at;
        }
        self.events.extend(effects.captured.iter().filter_map(|captured| captured.event.clone()));
        if let Some(entry) = effects.entry.clone() {
            self.log(id, HistoryAction::Changed, Author::System, entry, at);
        }
    }

    /// Records that an outcome is doubtful, once per reason.
    fn doubt(&mut self, id: ChargeId, why: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        let settled = self.charges.iter_mut().find(|stored| stored.charge.id == id && !stored.charge.state.is_open());
        let Some(stored) = settled.filter(|stored| stored.contradiction.as_deref() != Some(why)) else {
            return Ok(());
        };
        stored.contradiction = Some(why.to_owned());
        if let ChargePurpose::Order(order) = stored.charge.purpose() {
            let effects = charge_outcome::decide_contradiction(&self.locked(order)?, why);
            self.write_effects(order, &effects, at);
        }
        Ok(())
    }
}

impl StoredCharge {
    /// Applies an update. Returns `true` if the charge already had its reason.
    fn learn(&mut self, change: &ChargeChange, at: DateTime<Utc>) -> bool {
        let Self { charge: target, .. } = self;
        let mut reason = None;
        match change {
            ChargeChange::Pending { provider_id, confirmation_url, .. } => {
                target.provider_id = Some(provider_id.clone());
                target.confirmation_url.clone_from(confirmation_url);
            }
            ChargeChange::Succeeded { provider_id, refund, .. } => {
                target.provider_id = Some(provider_id.clone());
                target.captured = target.request.amount;
                if let Some(refund) = refund {
                    target.refunding = plus(target.refunding, refund.amount());
                }
            }
            ChargeChange::Failed { provider_id, reason: why, .. } => {
                target.provider_id = provider_id.clone().or(target.provider_id.take());
                reason = Some(why);
            }
            ChargeChange::Postponed { why, unanswered, .. } => {
                if *unanswered {
                    target.asked_at = at;
                }
                reason = Some(why);
            }
            ChargeChange::Suspicious { why, .. } => reason = Some(why),
        }
        target.checks += 1;
        if let Some(state) = change.state() {
            target.state = state;
            target.settled_at = (!state.is_open()).then_some(at);
        }
        self.next_check_at = change.next_check_at();
        self.leased_until = None;
        let repeated = reason.is_some() && self.reason.as_ref() == reason;
        if let Some(reason) = reason {
            self.reason = Some(reason.clone());
        }
        repeated
    }
}

#[async_trait]
impl ChargeStore for InMemoryOrders {
    async fn store(&self, new: NewCharge) -> Result<ChargeStored, StoreError> {
        self.write(|state| Ok(state.store(&new)))
    }

    async fn find(&self, id: ChargeId) -> Result<Option<Charge>, StoreError> {
        Ok(self.read(|state| state.charge(|charge| charge.id == id)))
    }

    async fn by_provider(&self, id: &ProviderId) -> Result<Option<Charge>, StoreError> {
        Ok(self.read(|state| state.charge(|charge| charge.provider_id.as_ref() == Some(id))))
    }

    async fn by_key(&self, key: Uuid) -> Result<Option<Charge>, StoreError> {
        Ok(self.read(|state| state.charge(|charge| charge.request.key == key)))
    }

    async fn open_for(&self, purpose: ChargePurpose) -> Result<Option<Charge>, StoreError> {
        Ok(self.read(|state| state.open_charge(purpose)))
    }

    async fn lease(&self, _: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Charge>, StoreError> {
        self.write(|state| Ok(state.lease(at, until)))
    }

    async fn mark_sending(&self, _: ChargeId, _: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn record(&self, id: ChargeId, change: ChargeChange, at: DateTime<Utc>) -> Result<Change, StoreError> {
        self.write(|state| state.record(id, &change, at))
    }

    async fn record_contradiction(&self, id: ChargeId, why: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.write(|state| state.doubt(id, why, at))
    }
}
