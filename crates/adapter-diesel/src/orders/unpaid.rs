//! Orders that wait for a payment although none is requested any more. It was canceled for a change of lines that never
//! followed, or by the merchant at the acquirer.

use chrono::{DateTime, Utc};
use kontor_kernel::{OrderId, StoreError};
use kontor_orders::charge_outcome::{PAYMENT_PATIENCE, payment_missing};
use kontor_payments::model::ChargePurpose;

use super::charge_outcome::{lock, write};
use crate::customer_data::{CustomerOf, lock_customer_of};
use crate::database::{Abort, AnyConnection, Database};
use crate::payments::{self, Key};
use crate::statement::Statement;

/// Orders per batch.
const BATCH: i64 = 100;

/// Returns orders that have waited since before this time, without an open charge. Uses the index `orders_waiting`.
fn waiting(connection: &mut AnyConnection, since: DateTime<Utc>) -> Result<Vec<i64>, Abort<StoreError>> {
    Ok(Statement::new("SELECT o.id FROM orders o WHERE o.status_id = 2 AND o.updated_at <= ")
        .value(since.naive_utc())
        .sql(
            " AND NOT EXISTS (SELECT 1 FROM charges c WHERE c.purpose = 'order' AND c.purpose_id = o.id \
             AND c.state IN ('prepared', 'pending', 'succeeded')) ORDER BY o.updated_at LIMIT ",
        )
        .value(BATCH)
        .scalars(connection)?)
}

/// Cancels an order if it still waits for a payment. Locks the customer before the order, as in every transaction.
fn cancel_waiting(connection: &mut AnyConnection, id: OrderId, at: DateTime<Utc>) -> Result<bool, Abort<StoreError>> {
    lock_customer_of(connection, CustomerOf::Order(id.get()))?;
    let order = lock(connection, id)?;
    let payment_open = payments::load(connection, &Key::Open(ChargePurpose::Order(id)))?.is_some();
    let effects = payment_missing(&order, payment_open);
    write(connection, &order, &effects, at)?;
    Ok(!effects.is_empty())
}

impl Database {
    /// Cancels orders that have waited for [`PAYMENT_PATIENCE`] without a requested payment, and releases their stock.
    /// Each order is one transaction. Returns the number of canceled orders.
    pub async fn cancel_unpaid_orders(&self, at: DateTime<Utc>) -> Result<usize, StoreError> {
        let found = self.read(move |connection| waiting(connection, at - PAYMENT_PATIENCE)).await?;
        self.cancel_each(found, move |connection, order| cancel_waiting(connection, order, at)).await
    }
}
