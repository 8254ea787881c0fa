//! Customers who are being written for do not leave.
//!
//! Whatever writes something for a customer holds him first, before it locks any other row.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;

use crate::database::{AnyConnection, Driver};
use crate::schema::counterparties;
use crate::statement::{IdRow, Statement};

#[diesel::dsl::auto_type]
fn present(customer: i64) -> _ {
    counterparties::table
        .filter(counterparties::id.eq(customer))
        .filter(counterparties::deleted_at.is_null())
        .select(counterparties::id)
}

/// Keeps a customer from leaving until the transaction ends. `false` when he has left, or never was.
pub(crate) fn lock_customer(connection: &mut AnyConnection, customer: i64) -> Result<bool, QueryError> {
    let found: Option<i64> = match connection.driver() {
        Driver::Postgres(pg) => present(customer).for_share().get_result(pg).optional()?,
        // SQLite has one writer: nobody leaves while this transaction writes.
        Driver::Sqlite(sqlite) => present(customer).get_result(sqlite).optional()?,
    };
    Ok(found.is_some())
}

/// The same for those who will change his record: one after the other.
pub(crate) fn lock_customer_exclusively(connection: &mut AnyConnection, customer: i64) -> Result<bool, QueryError> {
    let found: Option<i64> = match connection.driver() {
        Driver::Postgres(pg) => present(customer).for_no_key_update().get_result(pg).optional()?,
        Driver::Sqlite(sqlite) => present(customer).get_result(sqlite).optional()?,
    };
    Ok(found.is_some())
}

/// By what a customer is held whose number is not known yet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CustomerOf {
    /// Whose order it is.
    Order(i64),
    /// Whose order this charge pays for; of a charge for something else nobody is held.
    Charge(i64),
    /// Whose charge this refund gives back.
    Refund(i64),
}

/// As [`lock_customer`], where what is written does not depend on whether he has left.
pub(crate) fn hold_customer(connection: &mut AnyConnection, of: CustomerOf) -> Result<(), QueryError> {
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
    // Whose it is never changes.
    let customer: Option<IdRow> = whose.row(connection).optional()?;
    if let Some(IdRow { id }) = customer {
        let held = Statement::new("SELECT id FROM counterparties WHERE id = ").value(id);
        held.sql(" FOR SHARE").run(connection)?;
    }
    Ok(())
}

/// Notes that a customer has proved who they are, unless they have left.
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
