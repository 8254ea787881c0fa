use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{ChargeId, Money, RefundId, StoreError};
use uuid::Uuid;

use super::{Guard, InMemoryPayments, State};
use crate::change::{Change, RefundChange};
use crate::model::{
    Charge, GatewayRefund, NewRefund, ProviderId, ReceiptTask, Refund, RefundIntent, RefundRequest, RefundState,
};
use crate::ports::{ExternalRefundStored, RefundStore, RefundStored};

/// Interval between comparisons with the acquirer's list.
const COMPARE_AFTER: TimeDelta = TimeDelta::hours(1);
/// Time for which a comparing worker excludes others.
const COMPARISON_LEASE: TimeDelta = TimeDelta::minutes(10);

/// Refund with the fields that only the storage reads.
pub(super) struct StoredRefund {
    refund: Refund,
    first_key: Uuid,
    next_check_at: Option<DateTime<Utc>>,
    leased_until: Option<DateTime<Utc>>,
}

impl State {
    /// Adds a refund whose money is reserved. `None` if the charge has no payment.
    pub(super) fn add_refund(
        &mut self,
        charge: &Charge,
        order: &RefundIntent,
        next_check_at: DateTime<Utc>,
        at: DateTime<Utc>,
    ) -> Option<Refund> {
        let payment = charge.provider_id.clone()?;
        let refund = Refund {
            id: self.ids.id(),
            project_id: charge.project_id,
            charge_id: charge.id,
            purpose: charge.purpose(),
            state: RefundState::Due,
            request: RefundRequest {
                payment,
                key: order.key(),
                amount: order.amount(),
                whole: order.amount() == charge.captured,
                currency: charge.request.currency.clone(),
                description: order.description().to_owned(),
                receipt: order.receipt().cloned(),
            },
            key_made_at: at,
            asked_at: at,
            tries: 0,
            provider_id: None,
            checks: 0,
            settled_at: None,
            created_at: at,
        };
        let (first_key, next_check_at) = (order.key(), Some(next_check_at));
        self.refunds.push(StoredRefund { refund: refund.clone(), first_key, next_check_at, leased_until: None });
        Some(refund)
    }

    fn store_refund(&mut self, new: &NewRefund) -> RefundStored {
        let known = self.refunds.iter().find(|known| known.first_key == new.order.key());
        if let Some(known) = known.filter(|_| self.guards.has(Guard::FirstKey)) {
            return RefundStored::Existing(known.refund.clone());
        }
        let Some(charge) = self.charges.find(|charge| charge.id == new.charge_id) else {
            return RefundStored::UnknownCharge;
        };
        if let Err(left) = self.charges.reserve(charge.id, new.order.amount()) {
            return RefundStored::ExceedsCharge { left };
        }
        let stored = self.add_refund(&charge, &new.order, new.next_check_at, new.at);
        stored.map_or(RefundStored::ExceedsCharge { left: Money::ZERO }, RefundStored::New)
    }

    fn record_refund(&mut self, id: RefundId, key: Uuid, change: &RefundChange, at: DateTime<Utc>) -> Change {
        let any = !self.guards.has(Guard::Attempt);
        let is_open = |known: &&mut StoredRefund| {
            let refund = &known.refund;
            refund.id == id && (any || (refund.request.key == key && refund.state.is_open()))
        };
        let Some(stored) = self.refunds.iter_mut().find(is_open) else { return Change::Stale };
        stored.next_check_at = change.next_check_at();
        stored.leased_until = None;
        let refund = &mut stored.refund;
        refund.checks += 1;
        if let Some(state) = change.state() {
            refund.state = state;
            refund.settled_at = (!state.is_open()).then_some(at);
        }
        match change {
            RefundChange::Pending { provider_id, .. } | RefundChange::Succeeded { provider_id, .. } => {
                refund.provider_id = Some(provider_id.clone());
            }
            RefundChange::Retry { key, .. } => {
                refund.request.key = *key;
                (refund.key_made_at, refund.asked_at) = (at, at);
                (refund.provider_id, refund.checks) = (None, 0);
                refund.tries += 1;
            }
            RefundChange::Postponed { unanswered: true, .. } => refund.asked_at = at,
            RefundChange::Postponed { .. } | RefundChange::Suspicious { .. } | RefundChange::Failed { .. } => {}
        }
        let (charge_id, amount) = (refund.charge_id, refund.request.amount);
        if matches!(change, RefundChange::Succeeded { .. } | RefundChange::Failed { .. }) {
            self.charges.settle_refund(charge_id, amount, matches!(change, RefundChange::Succeeded { .. }));
        }
        if let RefundChange::Succeeded { provider_id, receipt: Some(registration) } = change
            && let Some(charge) = self.charges.find(|charge| charge.id == charge_id)
        {
            self.add_receipt(&charge, ReceiptTask::Refund(provider_id.clone()), *registration, at);
        }
        Change::Done
    }

    fn lease_refund(&mut self, at: DateTime<Utc>, until: DateTime<Utc>) -> Option<Refund> {
        let exclusive = self.guards.has(Guard::RefundLease);
        let is_due = |known: &&mut StoredRefund| {
            let free = !exclusive || known.leased_until.is_none_or(|leased| leased <= at);
            free && known.refund.state.is_open() && known.next_check_at.is_some_and(|next| next <= at)
        };
        let longest = self.refunds.iter_mut().filter(is_due).min_by_key(|known| known.next_check_at)?;
        longest.leased_until = Some(until);
        Some(longest.refund.clone())
    }

    fn record_outside(&mut self, key: Uuid, refund: &GatewayRefund, at: DateTime<Utc>) -> ExternalRefundStored {
        let Some(charge) = self.charges.find(|charge| charge.provider_id.as_ref() == Some(&refund.payment)) else {
            return ExternalRefundStored::UnknownCharge;
        };
        let purpose = charge.purpose();
        let is_same = |known: &StoredRefund| known.refund.provider_id.as_ref() == Some(&refund.id);
        if self.guards.has(Guard::Outside) && self.refunds.iter().any(is_same) {
            return ExternalRefundStored::Known(purpose);
        }
        let intent = RefundIntent::outside(key, refund, &charge, charge.refundable());
        let Some(intent) = intent.filter(|intent| self.charges.reserve(charge.id, intent.amount()).is_ok()) else {
            let why = format!("the acquirer refunded {}, and {} is left", refund.amount, charge.refundable());
            self.charges.contradict(charge.id, &why);
            return ExternalRefundStored::Contradicted { purpose, why };
        };
        let stored = self.add_refund(&charge, &intent, at, at);
        let done = RefundChange::Succeeded { provider_id: refund.id.clone(), receipt: refund.receipt };
        if let Some(stored) = stored {
            self.record_refund(stored.id, key, &done, at);
        }
        ExternalRefundStored::Recorded(purpose)
    }

    fn claim_comparison(&mut self, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let free = !self.guards.has(Guard::Comparison) || self.claimed_until.is_none_or(|claimed| claimed <= at);
        if !free || self.compared_until > at - COMPARE_AFTER {
            return None;
        }
        self.claimed_until = Some(at + COMPARISON_LEASE);
        Some(self.compared_until)
    }
}

#[async_trait]
impl RefundStore for InMemoryPayments {
    async fn store(&self, new: NewRefund) -> Result<RefundStored, StoreError> {
        Ok(self.state.with(|state| state.store_refund(&new)))
    }

    async fn find(&self, id: RefundId) -> Result<Option<Refund>, StoreError> {
        Ok(self
            .state
            .with(|state| state.refunds.iter().map(|known| &known.refund).find(|refund| refund.id == id).cloned()))
    }

    async fn of_charge(&self, charge: ChargeId) -> Result<Vec<Refund>, StoreError> {
        Ok(self.state.with(|state| {
            let refunds = state.refunds.iter().map(|known| &known.refund);
            refunds.filter(|refund| refund.charge_id == charge).cloned().collect()
        }))
    }

    async fn of_payment(&self, payment: &ProviderId) -> Result<Option<Vec<Refund>>, StoreError> {
        Ok(self.state.with(|state| {
            state.charges.find(|charge| charge.provider_id.as_ref() == Some(payment))?;
            let refunds = state.refunds.iter().map(|known| &known.refund);
            Some(refunds.filter(|refund| refund.request.payment == *payment).cloned().collect())
        }))
    }

    async fn record_outside(
        &self,
        key: Uuid,
        refund: GatewayRefund,
        at: DateTime<Utc>,
    ) -> Result<ExternalRefundStored, StoreError> {
        Ok(self.state.with(|state| state.record_outside(key, &refund, at)))
    }

    async fn claim_comparison(&self, at: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, StoreError> {
        Ok(self.state.with(|state| state.claim_comparison(at)))
    }

    async fn compared(&self, until: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| {
            state.claimed_until = None;
            state.compared_until = state.compared_until.max(until);
        });
        Ok(())
    }

    async fn lease(&self, _: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Refund>, StoreError> {
        Ok(self.state.with(|state| state.lease_refund(at, until)))
    }

    async fn record(
        &self,
        id: RefundId,
        key: Uuid,
        change: RefundChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError> {
        Ok(self.state.with(|state| state.record_refund(id, key, &change, at)))
    }
}
