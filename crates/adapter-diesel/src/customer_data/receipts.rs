//! Receipts with data of deleted customers.

use diesel::prelude::*;
use serde_json::Value;

use crate::database::{AnyConnection, found};
use crate::schema::{charges, counterparties, refunds};
use crate::statement::{Statement, by_place};

by_place! {
    struct RequestRow {
        id: i64,
        request: String,
    }
}

/// Removes receipts of a customer that are no longer needed. These are receipts of charges that failed, were refunded,
/// or whose goods were handed over. The register keeps them.
pub(crate) fn delete_receipts(connection: &mut AnyConnection, customer: i64) -> QueryResult<()> {
    let over: Vec<RequestRow> = Statement::new("SELECT c.id, c.request FROM charges c WHERE c.counterparty_id = ")
        .value(customer)
        .sql(
            " AND c.state NOT IN ('prepared', 'pending') AND c.request LIKE '%\"receipt\":%' AND (c.refunded = c.captured \
             OR EXISTS (SELECT 1 FROM receipts r WHERE r.charge_id = c.id AND r.kind = 'hand_over'))",
        )
        .rows(connection)?;
    for RequestRow { id, request } in over {
        // Rows that cannot be decoded are parked or reported elsewhere.
        let Ok(Value::Object(mut request)) = serde_json::from_str(&request) else { continue };
        request.remove("receipt");
        let request = Value::Object(request).to_string();
        diesel::update(charges::table.find(id)).set(charges::request.eq(request)).execute(connection)?;
        let settled = refunds::table
            .filter(refunds::charge_id.eq(id))
            .filter(refunds::settled_at.is_not_null())
            .filter(refunds::receipt.is_not_null());
        diesel::update(settled).set(refunds::receipt.eq(None::<String>)).execute(connection)?;
    }
    Ok(())
}

/// Applies [`delete_receipts`] to a customer who was deleted before the goods were handed over.
pub(crate) fn delete_receipts_if_deleted(connection: &mut AnyConnection, customer: i64) -> QueryResult<()> {
    let left =
        counterparties::table.filter(counterparties::id.eq(customer)).filter(counterparties::deleted_at.is_not_null());
    if found!(connection, left)? { delete_receipts(connection, customer) } else { Ok(()) }
}
