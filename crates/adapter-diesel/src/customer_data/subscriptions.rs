//! Subscriptions of deleted customers.

use chrono::NaiveDateTime;
use diesel::result::QueryResult;

use crate::database::AnyConnection;
use crate::statement::Statement;

/// Ends the subscriptions of a deleted customer: nothing is charged any more, and the addresses of consents are
/// removed.
pub(crate) fn end_subscriptions(connection: &mut AnyConnection, customer: i64, at: NaiveDateTime) -> QueryResult<()> {
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
            .sql(" SET address = NULL WHERE subscription_id IN (SELECT id FROM subscriptions WHERE counterparty_id = ")
            .value(customer)
            .sql(")")
            .run(connection)?;
    }
    Ok(())
}
