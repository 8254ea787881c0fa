//! Deletion of the data of customers.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_orders::audit::without_personal_values;
use serde_json::Value;

use super::{close_sessions_of_customer, close_sessions_of_tokens, guard};
use crate::database::idempotency::{KeyOwner, delete_keys_of_owner};
use crate::database::{Abort, AnyConnection, Topic, found};
use crate::histories;
use crate::schema::{
    access_tokens, callback_attempts, charges, counterparties, login_contacts, one_time_codes, phone_change_codes,
    refunds,
};
use crate::statement::{Statement, by_place};

/// Deletes contacts of a customer: they no longer log the customer in, and codes sent to them become invalid.
pub(crate) fn delete_login_contacts(
    connection: &mut AnyConnection,
    project: i64,
    contacts: &[String],
) -> Result<(), QueryError> {
    let codes = one_time_codes::table
        .filter(one_time_codes::project_id.eq(project))
        .filter(one_time_codes::contact.eq_any(contacts));
    diesel::delete(codes).execute(connection)?;
    let attempts = callback_attempts::table
        .filter(callback_attempts::project_id.eq(project))
        .filter(callback_attempts::phone.eq_any(contacts));
    diesel::delete(attempts).execute(connection)?;
    let bindings = login_contacts::table
        .filter(login_contacts::project_id.eq(project))
        .filter(login_contacts::contact.eq_any(contacts));
    diesel::delete(bindings).execute(connection)?;
    Ok(())
}

/// Returns the login contacts of a customer.
pub(crate) fn contacts(connection: &mut AnyConnection, project: i64, customer: i64) -> Result<Vec<String>, QueryError> {
    login_contacts::table
        .filter(login_contacts::counterparty_id.eq(customer))
        .filter(login_contacts::project_id.eq(project))
        .select(login_contacts::contact)
        .load(connection)
}

/// Removes all login contacts of a customer, and ends the sessions and tokens.
pub(crate) fn delete_logins(connection: &mut AnyConnection, project: i64, customer: i64) -> Result<(), QueryError> {
    let contacts = contacts(connection, project, customer)?;
    remove_logins(connection, project, customer, &contacts)
}

/// Removes login contacts of a customer, and ends the customer's sessions and tokens.
pub(crate) fn remove_logins(
    connection: &mut AnyConnection,
    project: i64,
    customer: i64,
    contacts: &[String],
) -> Result<(), QueryError> {
    close_sessions_of_customer(connection, customer)?;
    delete_login_contacts(connection, project, contacts)?;
    let codes = phone_change_codes::table.find(customer).filter(phone_change_codes::project_id.eq(project));
    diesel::delete(codes).execute(connection)?;
    // Stored responses of the customer's requests contain personal data, and the customer cannot repeat these requests.
    delete_keys_of_owner(connection, KeyOwner { guard: guard::COUNTERPARTY, id: Some(customer) })?;
    let tokens = access_tokens::table
        .filter(access_tokens::project_id.eq(project))
        .filter(access_tokens::guard.eq(guard::COUNTERPARTY))
        .filter(access_tokens::subject_id.eq(customer));
    connection.invalidate(Topic::Access, project);
    let ended: Vec<i64> = diesel::delete(tokens).returning(access_tokens::id).get_results(connection)?;
    // The deletion waited for logins with these codes and for sessions of these tokens that started in the meantime.
    close_sessions_of_tokens(connection, &ended)
}

/// Deletes the names entered in contact forms, and the comments and addresses in history entries.
pub(crate) fn delete_remarks<R>(
    connection: &mut AnyConnection,
    project: i64,
    customer: i64,
    at: NaiveDateTime,
) -> Result<(), Abort<R>> {
    // The service itself creates the order of a form; its comment is the name.
    Statement::new("UPDATE orders SET comment = NULL, version = version + 1, updated_at = ")
        .value(at)
        .sql(" WHERE counterparty_id = ")
        .value(customer)
        .sql(" AND project_id = ")
        .value(project)
        .sql(
            " AND comment IS NOT NULL AND id IN (SELECT e.order_id FROM order_events e \
             WHERE e.event = 'created' AND e.actor = 'system' AND e.order_id = orders.id \
             AND e.project_id = orders.project_id)",
        )
        .run(connection)?;
    let entries = Statement::new(" WHERE project_id = ")
        .value(project)
        .sql(" AND order_id IN (SELECT id FROM orders WHERE counterparty_id = ")
        .value(customer)
        .sql(" AND project_id = ")
        .value(project)
        .sql(") AND (changes LIKE '%\"field\":\"comment\"%' OR changes LIKE '%\"field\":\"address\"%')");
    histories::rewrite_lines(connection, project, "order_events", entries, without_personal_values)
}

/// Deletes the ticket codes of a customer. Redeemed tickets stay counted.
pub(crate) fn delete_ticket_codes(connection: &mut AnyConnection, project: i64, customer: i64) -> QueryResult<()> {
    Statement::new("UPDATE order_tickets SET reference = NULL WHERE project_id = ")
        .value(project)
        .sql(" AND order_id IN (SELECT id FROM orders WHERE counterparty_id = ")
        .value(customer)
        .sql(" AND project_id = ")
        .value(project)
        .sql(")")
        .run(connection)?;
    Ok(())
}

/// Ends the subscriptions of a deleted customer: nothing is charged any more, and the addresses of consents are
/// removed.
pub(crate) fn end_subscriptions(
    connection: &mut AnyConnection,
    project: i64,
    customer: i64,
    at: NaiveDateTime,
) -> QueryResult<()> {
    // With the project too, SQLite may walk all subscriptions of the project.
    Statement::new(
        "UPDATE subscriptions SET version = version + 1, status = 'canceled', wake_at = NULL, next_charge_at = NULL, \
         canceled_at = coalesce(canceled_at, ",
    )
    .value(at)
    .sql("), updated_at = ")
    .value(at)
    .sql(" WHERE counterparty_id = ")
    .value(customer)
    .run(connection)?;
    for table in ["subscription_consents", "method_bindings"] {
        Statement::new("UPDATE ")
            .sql(table)
            .sql(" SET address = NULL WHERE project_id = ")
            .value(project)
            .sql(" AND subscription_id IN (SELECT id FROM subscriptions WHERE counterparty_id = ")
            .value(customer)
            .sql(")")
            .run(connection)?;
    }
    Ok(())
}

by_place! {
    struct RequestRow {
        id: i64,
        request: String,
    }
}

/// Removes receipts of a customer that are no longer needed. These are receipts of charges that failed, were refunded,
/// or whose goods were handed over. The register keeps them.
pub(crate) fn delete_receipts(connection: &mut AnyConnection, project: i64, customer: i64) -> QueryResult<()> {
    let over: Vec<RequestRow> = Statement::new("SELECT c.id, c.request FROM charges c WHERE c.counterparty_id = ")
        .value(customer)
        .sql(
            " AND c.state NOT IN ('prepared', 'pending') AND c.request LIKE '%\"receipt\":%' AND (c.refunded = c.captured \
             OR EXISTS (SELECT 1 FROM receipts r WHERE r.charge_id = c.id AND r.project_id = c.project_id \
             AND r.kind = 'hand_over' AND r.refund_id IS NULL))",
        )
        .rows(connection)?;
    for RequestRow { id, request } in over {
        // Rows that cannot be decoded are parked or reported elsewhere.
        let Ok(Value::Object(mut request)) = serde_json::from_str(&request) else { continue };
        request.remove("receipt");
        let request = Value::Object(request).to_string();
        let charge = charges::table.find(id).filter(charges::project_id.eq(project));
        diesel::update(charge).set(charges::request.eq(request)).execute(connection)?;
        let settled = refunds::table
            .filter(refunds::project_id.eq(project))
            .filter(refunds::charge_id.eq(id))
            .filter(refunds::settled_at.is_not_null())
            .filter(refunds::receipt.is_not_null());
        diesel::update(settled).set(refunds::receipt.eq(None::<String>)).execute(connection)?;
    }
    Ok(())
}

/// Applies [`delete_receipts`] to a customer who was deleted before the goods were handed over.
pub(crate) fn delete_receipts_if_deleted(
    connection: &mut AnyConnection,
    project: i64,
    customer: i64,
) -> QueryResult<()> {
    let left =
        counterparties::table.filter(counterparties::id.eq(customer)).filter(counterparties::deleted_at.is_not_null());
    if found!(connection, left)? { delete_receipts(connection, project, customer) } else { Ok(()) }
}
