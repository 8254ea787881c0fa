//! Tickets of deleted customers.

use diesel::QueryResult;

use crate::database::AnyConnection;
use crate::statement::Statement;

/// Deletes the ticket codes of a customer. Redeemed tickets stay counted.
pub(crate) fn delete_ticket_codes(connection: &mut AnyConnection, customer: i64) -> QueryResult<()> {
    Statement::new(
        "UPDATE order_tickets SET reference = NULL WHERE order_id IN (SELECT id FROM orders WHERE counterparty_id = ",
    )
    .value(customer)
    .sql(")")
    .run(connection)?;
    Ok(())
}
