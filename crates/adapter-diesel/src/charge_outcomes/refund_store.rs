//! Port of refunds: the outcome of a refund is committed with its effect on the order.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{ChargeId, RefundId, StoreError};
use kontor_orders::model::OrderRefundState;
use kontor_payments::change::{Change, RefundChange};
use kontor_payments::model::{ChargePurpose, GatewayRefund, NewRefund, ProviderId, Refund};
use kontor_payments::ports::{ExternalRefundStored, RefundStore, RefundStored};
use uuid::Uuid;

use super::external_refunds;
use crate::customer_data::{CustomerOf, lock_customer_of};
use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::orders;
use crate::payments::{self, Key};

fn record(
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
    if let Some(Refund { purpose: ChargePurpose::Order(order), .. }) = refund {
        orders::apply_refund_outcome(connection, order, id, state, at)?;
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
        self.write(move |connection| external_refunds::record(connection, key, &refund, at)).await
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
        self.write(move |connection| record(connection, id, key, &change, at)).await
    }
}
