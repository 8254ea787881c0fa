//! Orders that wait for a payment although none is requested any more. It was canceled for a change of lines that never
//! followed, or by the merchant at the acquirer.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{OrderId, StoreError};
use kontor_payments::model::ChargePurpose;

use crate::customer_data::{self, CustomerOf};
use crate::database::{Abort, AnyConnection, Database};
use crate::orders::{self, ChargeNews};
use crate::payments::{self, Key};
use crate::statement::{IdRow, Statement};

/// Time in which staff may still request another payment.
const PATIENCE: TimeDelta = TimeDelta::minutes(15);

/// Orders per batch.
const BATCH: i64 = 100;

/// Returns orders that have waited since before this time, without an open charge. Uses the index `orders_waiting`.
fn waiting(connection: &mut AnyConnection, since: DateTime<Utc>) -> Result<Vec<i64>, Abort<StoreError>> {
    let rows: Vec<IdRow> = Statement::new("SELECT o.id FROM orders o WHERE o.status_id = 2 AND o.updated_at <= ")
        .value(since.naive_utc())
        .sql(
            " AND NOT EXISTS (SELECT 1 FROM charges c WHERE c.purpose = 'order' AND c.purpose_id = o.id \
             AND c.state IN ('prepared', 'pending', 'succeeded')) ORDER BY o.updated_at LIMIT ",
        )
        .value(BATCH)
        .rows(connection)?;
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// Cancels an order as if its payment had failed, unless another payment has been requested. Locks the customer before
/// the order, as in every transaction.
fn give_up(connection: &mut AnyConnection, order: OrderId, at: DateTime<Utc>) -> Result<bool, Abort<StoreError>> {
    customer_data::lock_customer_of(connection, CustomerOf::Order(order.get()))?;
    if !orders::waits_for_payment(connection, order)?
        || payments::load(connection, &Key::Open(ChargePurpose::Order(order)))?.is_some()
    {
        return Ok(false);
    }
    let news = ChargeNews::Failed { reason: "the payment was canceled and no new payment was requested" };
    Ok(orders::hear(connection, order, &news, at)? == orders::FollowUp::Nothing)
}

impl Database {
    /// Cancels orders that have waited for 15 minutes without a requested payment, and releases their stock. Each order
    /// is one transaction. Returns the number of canceled orders.
    pub async fn cancel_unpaid_orders(&self, at: DateTime<Utc>) -> Result<usize, StoreError> {
        let found = self.read(move |connection| waiting(connection, at - PATIENCE)).await?;
        self.cancel_each(found, move |connection, order| give_up(connection, order, at)).await
    }
}
