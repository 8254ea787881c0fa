//! Charges in memory, and their effects on orders.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::history::{Author, HistoryAction};
use kontor_kernel::{ChargeId, OrderId, ProjectScoped, StoreError};
use kontor_payments::change::{Change, ChargeChange, RecordedChange};
use kontor_payments::model::{Charge, ChargePurpose, NewCharge, ProviderId};
use kontor_payments::ports::{ChargeStore, ChargeStored};
use uuid::Uuid;

use super::{InMemoryOrders, State};
use crate::charge_outcome::{self, LockedOrder, OrderEffects, not_refunded};

impl State {
    fn store(&mut self, new: &NewCharge) -> ChargeStored {
        if !self.customers.contains_key(&new.counterparty_id) {
            return ChargeStored::CustomerDeleted;
        }
        if let Some(known) = self.charges.conflicting(new) {
            return ChargeStored::Existing(known);
        }
        // It saves no methods, so that none is active.
        let is_new = new.request.saved_method.is_none();
        let stored = is_new.then(|| self.charges.store(new)).flatten();
        stored.map_or(ChargeStored::MethodUnavailable, ChargeStored::New)
    }

    fn record(&mut self, id: ChargeId, change: &ChargeChange, at: DateTime<Utc>) -> Result<Change, StoreError> {
        let Some(recorded) = self.charges.record(id, change, at) else { return Ok(Change::Stale) };
        if let ChargePurpose::Order(order) = recorded.charge.purpose()
            && charge_outcome::is_relevant(&recorded)
        {
            self.apply_charge(order, &recorded, at)?;
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
        let settled = self.charges.contradict(id, why);
        if let Some(ChargePurpose::Order(order)) = settled.map(|charge| charge.purpose()) {
            let effects = charge_outcome::decide_contradiction(&self.locked(order)?, why);
            self.write_effects(order, &effects, at);
        }
        Ok(())
    }
}

#[async_trait]
impl ChargeStore for InMemoryOrders {
    async fn store(&self, new: NewCharge) -> Result<ChargeStored, StoreError> {
        self.write(|state| Ok(state.store(&new)))
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
        self.write(|state| Ok(state.charges.lease(at, until)))
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
