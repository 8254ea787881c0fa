//! The step that hands the outcome of a charge or a refund to orders and subscriptions, in the commit of the outcome.
//!
//! Orders are paid by charges, and periods of subscriptions are paid by orders. The modules of both domains do not use
//! each other. The domain crates decide the effects (`kontor_orders::charge_outcome`,
//! `kontor_subscriptions::charge_outcome`), and the modules of the domains write them.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{ChargeId, OrderId, RefundId, StoreError};
use kontor_orders::OrderRefusal;
use kontor_orders::model::OrderRefundState;
use kontor_orders::refund::{RefundRefused, outside_refund};
use kontor_payments::change::{Change, ChargeChange, RecordedChange, RefundChange};
use kontor_payments::model::{
    Charge, ChargePurpose, GatewayRefund, NewCharge, NewRefund, ProviderId, Refund, RefundIntent,
};
use kontor_payments::ports::{ChargeStore, ChargeStored, ExternalRefundStored, RefundStore, RefundStored};
use uuid::Uuid;

use crate::customer_data::{self, CustomerOf, lock_customer_of};
use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::orders::{self, to_storage};
use crate::payments::{self, ChargeConsequences, Key};
use crate::subscriptions;

impl ChargeConsequences for AnyConnection {
    fn record_charge(
        &mut self,
        id: ChargeId,
        change: &ChargeChange,
        at: DateTime<Utc>,
    ) -> Result<Change, Abort<StoreError>> {
        if matches!(change, ChargeChange::Succeeded { .. } | ChargeChange::Failed { .. }) {
            lock_customer_of(self, CustomerOf::Charge(id.get()))?;
        }
        // The result of a request with an idempotency key is stored after this or was stored before it.
        self.note_preparation();
        let Some(recorded) = payments::record(self, id.get(), change, at)? else { return Ok(Change::Stale) };
        let purpose = recorded.charge.purpose();
        if let ChargeChange::Suspicious { why, .. } = change {
            tracing::error!(%purpose, %why, "a payment does not match its charge");
        }
        match purpose {
            ChargePurpose::Order(order) => apply_to_order(self, order, &recorded, at)?,
            ChargePurpose::Verification(_) => {
                if matches!(change, ChargeChange::Succeeded { .. }) {
                    let Charge { project_id, counterparty_id, .. } = recorded.charge;
                    customer_data::mark_verified(self, project_id, counterparty_id.get(), at.naive_utc())?;
                }
            }
            ChargePurpose::MethodBinding(binding) => subscriptions::save_method(self, binding, &recorded, at)?,
            // Only the saved method follows: subscriptions are paid by orders.
            ChargePurpose::Subscription(_) => {}
        }
        Ok(Change::Done)
    }

    fn refund_periods(
        &mut self,
        charge: Option<ChargeId>,
        ends: bool,
        author: Author,
        at: DateTime<Utc>,
    ) -> Result<bool, Abort<StoreError>> {
        subscriptions::refund_periods(self, charge, ends, author, at)
    }
}

/// Hands an update of a charge to its order, and then to the subscriptions whose periods the order pays.
fn apply_to_order(
    connection: &mut AnyConnection,
    order: OrderId,
    recorded: &RecordedChange<'_>,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let effect = orders::apply_charge(connection, order, recorded, at)?;
    review(connection, &recorded.charge, effect.review, at)?;
    if subscriptions::apply_charge(connection, recorded, effect.returns_money, at)? {
        let kept = orders::refund_late_money(connection, order, recorded, at)?;
        review(connection, &recorded.charge, kept, at)?;
    }
    Ok(())
}

/// Commits that staff must check the money of a charge, if there is a reason. `kontor doctor` reports it.
fn review(
    connection: &mut AnyConnection,
    charge: &Charge,
    why: Option<String>,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let Some(why) = why else { return Ok(()) };
    tracing::error!(purpose = %charge.purpose(), %why, "a payment needs review; see `kontor payment --help`");
    record_contradiction(connection, charge.id, &why, at)
}

/// Commits that an outcome is doubtful, once per charge.
fn record_contradiction(
    connection: &mut AnyConnection,
    id: ChargeId,
    why: &str,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    lock_customer_of(connection, CustomerOf::Charge(id.get()))?;
    // Webhooks have no idempotency key.
    connection.note_preparation();
    let Some(charge) = payments::contradict(connection, id.get(), why, at.naive_utc())? else { return Ok(()) };
    if let ChargePurpose::Order(order) = charge.purpose() {
        orders::apply_doubt(connection, order, why, at)?;
        subscriptions::apply_doubt(connection, charge.id, at)?;
    }
    Ok(())
}

fn store(connection: &mut AnyConnection, new: &NewCharge) -> Result<ChargeStored, Abort<StoreError>> {
    if !customer_data::lock_customer(connection, new.counterparty_id.get())? {
        return Ok(ChargeStored::CustomerDeleted);
    }
    payments::store(connection, new)
}

#[async_trait]
impl ChargeStore for Database {
    async fn store(&self, new: NewCharge) -> Result<ChargeStored, StoreError> {
        self.write(move |connection| store(connection, &new)).await
    }

    async fn find(&self, id: ChargeId) -> Result<Option<Charge>, StoreError> {
        self.read(move |connection| payments::load(connection, &Key::Id(id.get()))).await
    }

    async fn by_provider(&self, id: &ProviderId) -> Result<Option<Charge>, StoreError> {
        let key = Key::Provider(id.to_string());
        self.read(move |connection| payments::load(connection, &key)).await
    }

    async fn by_key(&self, key: Uuid) -> Result<Option<Charge>, StoreError> {
        let key = Key::Idempotence(key.to_string());
        self.read(move |connection| payments::load(connection, &key)).await
    }

    async fn open_for(&self, purpose: ChargePurpose) -> Result<Option<Charge>, StoreError> {
        self.read(move |connection| payments::load(connection, &Key::Open(purpose))).await
    }

    async fn lease(&self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Charge>, StoreError> {
        let leased = payments::lease_charge(self, owner, at, until).await?;
        if leased.as_ref().is_some_and(|charge| charge.request.renewal.is_some()) {
            // The process that stored the charge may have stopped before this call.
            self.store_generation().await?;
        }
        Ok(leased)
    }

    async fn mark_sending(&self, id: ChargeId, until: DateTime<Utc>) -> Result<bool, StoreError> {
        self.write(move |connection| {
            // The result of a request with an idempotency key was stored before.
            connection.note_preparation();
            Ok::<_, Abort<StoreError>>(payments::mark_sending(connection, id.get(), until.naive_utc())?)
        })
        .await
    }

    async fn record(&self, id: ChargeId, change: ChargeChange, at: DateTime<Utc>) -> Result<Change, StoreError> {
        self.write(move |connection| connection.record_charge(id, &change, at)).await
    }

    async fn record_contradiction(&self, id: ChargeId, why: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        let why = why.to_owned();
        self.write(move |connection| record_contradiction(connection, id, &why, at)).await
    }
}

fn record_refund(
    connection: &mut AnyConnection,
    id: RefundId,
    key: Uuid,
    change: &RefundChange,
    at: DateTime<Utc>,
) -> Result<Change, Abort<StoreError>> {
    let at = at.naive_utc();
    if matches!(change, RefundChange::Succeeded { .. }) {
        lock_customer_of(connection, CustomerOf::Refund(id.get()))?;
    }
    let recorded = payments::record_refund(connection, id.get(), key, change, at)?;
    let state = match (recorded, change) {
        (Change::Done, RefundChange::Succeeded { .. }) => OrderRefundState::Succeeded,
        (Change::Done, RefundChange::Failed { .. }) => OrderRefundState::Failed,
        _ => return Ok(recorded),
    };
    let refund = payments::load_refund(connection, id)?;
    if let Some(Refund { purpose: ChargePurpose::Order(order), project_id, .. }) = refund {
        orders::apply_refund_outcome(connection, project_id, order, id, state, at)?;
    }
    Ok(recorded)
}

#[async_trait]
impl RefundStore for Database {
    async fn store(&self, new: NewRefund) -> Result<RefundStored, StoreError> {
        self.write(move |connection| payments::store_refund(connection, &new)).await
    }

    async fn find(&self, id: RefundId) -> Result<Option<Refund>, StoreError> {
        self.read(move |connection| payments::load_refund(connection, id)).await
    }

    async fn of_charge(&self, charge: ChargeId) -> Result<Vec<Refund>, StoreError> {
        self.read(move |connection| payments::refunds_of(connection, charge)).await
    }

    async fn of_payment(&self, payment: &ProviderId) -> Result<Option<Vec<Refund>>, StoreError> {
        let key = Key::Provider(payment.to_string());
        self.read(move |connection| {
            let charge = payments::load(connection, &key)?;
            charge.map(|charge| payments::refunds_of(connection, charge.id)).transpose()
        })
        .await
    }

    async fn record_outside(
        &self,
        key: Uuid,
        refund: GatewayRefund,
        at: DateTime<Utc>,
    ) -> Result<ExternalRefundStored, StoreError> {
        self.write(move |connection| record_outside(connection, key, &refund, at)).await
    }

    async fn claim_comparison(&self, at: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, StoreError> {
        let due = self.read(move |connection| Ok::<_, Abort<StoreError>>(payments::is_comparison_due(connection, at)?));
        if !due.await? {
            return Ok(None);
        }
        let claimed =
            self.write(move |connection| Ok::<_, Abort<StoreError>>(payments::claim_comparison(connection, at)?));
        Ok(claimed.await?.map(decode::moment))
    }

    async fn compared(&self, until: DateTime<Utc>) -> Result<(), StoreError> {
        self.write(move |connection| Ok::<_, Abort<StoreError>>(payments::compared(connection, until)?)).await
    }

    async fn lease(&self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Refund>, StoreError> {
        payments::lease_refund(self, owner, at, until).await
    }

    async fn record(
        &self,
        id: RefundId,
        key: Uuid,
        change: RefundChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError> {
        self.write(move |connection| record_refund(connection, id, key, &change, at)).await
    }
}

/// Records an outside refund. Locks the customer before the charge and the charge before its order, as in every
/// transaction.
fn record_outside(
    connection: &mut AnyConnection,
    key: Uuid,
    refund: &GatewayRefund,
    at: DateTime<Utc>,
) -> Result<ExternalRefundStored, Abort<StoreError>> {
    // No request of this service caused the refund.
    connection.note_preparation();
    let charge = payments::load(connection, &Key::Provider(refund.payment.to_string()))?;
    let Some(charge) = charge else { return Ok(ExternalRefundStored::UnknownCharge) };
    let purpose = charge.purpose();
    lock_customer_of(connection, CustomerOf::Charge(charge.id.get()))?;
    let left = decode::money(payments::lock_refundable(connection, charge.id.get())?)?;
    if payments::is_refund_known(connection, &refund.id)? {
        return Ok(ExternalRefundStored::Known(purpose));
    }
    let Some(intent) = RefundIntent::outside(key, refund, &charge, left) else {
        return record_doubt(connection, &charge, refund, "the refund exceeds the rest of the payment", at);
    };
    let ChargePurpose::Order(id) = purpose else {
        payments::insert_outside(connection, &charge, &intent, refund, at.naive_utc())?;
        return Ok(ExternalRefundStored::Recorded(purpose));
    };
    let Some(order) = orders::locked(connection, id).map_err(to_storage)?.within(charge.project_id) else {
        return record_doubt(connection, &charge, refund, "its order belongs to another project", at);
    };
    match outside_refund(&order, &intent) {
        Err(refused) => record_doubt(connection, &charge, refund, &refused.to_string(), at),
        Ok(made) => {
            let stored = payments::insert_outside(connection, &charge, &intent, refund, at.naive_utc())?;
            orders::add_outside_refund(connection, &charge, id, &made, stored, at)?;
            if !subscriptions::refund_periods(connection, Some(charge.id), false, Author::System, at)? {
                return Err(StoreError::corrupt(OrderRefusal::Refund(RefundRefused::NoPeriod)).into());
            }
            Ok(ExternalRefundStored::Recorded(purpose))
        }
    }
}

fn record_doubt(
    connection: &mut AnyConnection,
    charge: &Charge,
    refund: &GatewayRefund,
    why: &str,
    at: DateTime<Utc>,
) -> Result<ExternalRefundStored, Abort<StoreError>> {
    let (purpose, id, amount) = (charge.purpose(), &refund.id, refund.amount);
    let why = format!("refund {id} of {amount} was made at the acquirer and is not recorded: {why}");
    record_contradiction(connection, charge.id, &why, at)?;
    Ok(ExternalRefundStored::Contradicted { purpose, why })
}
