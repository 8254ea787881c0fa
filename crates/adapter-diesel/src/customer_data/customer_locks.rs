//! Locks that prevent the deletion of a customer during writes.
//!
//! Every write for a customer locks the customer first, before any other row.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;

use crate::database::AnyConnection;
use crate::schema::counterparties;
use crate::statement::Statement;

/// SQLite has one writer: no deletion runs while a transaction writes.
fn lock(connection: &mut AnyConnection, customer: i64, clause: &'static str) -> QueryResult<bool> {
    let existing = Statement::new("SELECT id FROM counterparties WHERE deleted_at IS NULL AND id = ").value(customer);
    existing.locked(connection, clause).finds(connection)
}

/// Prevents the deletion of a customer until the transaction ends. Returns `false` if the customer is deleted or does
/// not exist.
pub(crate) fn lock_customer(connection: &mut AnyConnection, customer: i64) -> Result<bool, QueryError> {
    lock(connection, customer, " FOR SHARE")
}

/// The same for changes of the customer's record: they run one after the other.
pub(crate) fn lock_customer_exclusively(connection: &mut AnyConnection, customer: i64) -> Result<bool, QueryError> {
    lock(connection, customer, " FOR NO KEY UPDATE")
}

/// Record that identifies the customer to lock.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CustomerOf {
    /// Customer of the order.
    Order(i64),
    /// Customer of the order that the charge pays. A charge for another purpose locks no customer.
    Charge(i64),
    /// Customer of the refunded charge.
    Refund(i64),
}

/// Locks as [`lock_customer`] does, for writes that also apply to deleted customers.
pub(crate) fn lock_customer_of(connection: &mut AnyConnection, of: CustomerOf) -> Result<(), QueryError> {
    // SQLite has one writer.
    if !connection.is_postgres() {
        return Ok(());
    }
    let whose = match of {
        CustomerOf::Order(id) => Statement::new("SELECT counterparty_id FROM orders WHERE id = ").value(id),
        CustomerOf::Charge(id) => {
            let of_order = "SELECT counterparty_id FROM charges WHERE purpose = 'order' AND id = ";
            Statement::new(of_order).value(id)
        }
        CustomerOf::Refund(id) => {
            let joined = "SELECT c.counterparty_id FROM refunds r JOIN charges c ON c.id = r.charge_id WHERE r.id = ";
            Statement::new(joined).value(id)
        }
    };
    // The customer of a record never changes.
    let customer: Option<i64> = whose.scalar(connection).optional()?;
    if let Some(id) = customer {
        let held = Statement::new("SELECT id FROM counterparties WHERE id = ").value(id);
        held.hold(connection, " FOR SHARE")?;
    }
    Ok(())
}

/// Stores that a customer has proved their identity, unless they are deleted.
pub(crate) fn mark_verified(
    connection: &mut AnyConnection,
    customer: i64,
    at: NaiveDateTime,
) -> Result<(), QueryError> {
    let present =
        counterparties::table.filter(counterparties::id.eq(customer)).filter(counterparties::deleted_at.is_null());
    diesel::update(present).set(counterparties::verified_at.eq(at)).execute(connection)?;
    Ok(())
}
