//! Tickets of a customer who has left.

use diesel::QueryResult;

use crate::database::AnyConnection;
use crate::statement::Statement;

/// Forgets what opens doors for a customer. What was redeemed stays counted.
pub(crate) fn forget_tickets(connection: &mut AnyConnection, customer: i64) -> QueryResult<()> {
    Statement::new(
        "UPDATE order_tickets SET reference = NULL WHERE order_id IN (SELECT id FROM orders WHERE counterparty_id = ",
    )
    .value(customer)
    .sql(")")
    .run(connection)?;
    Ok(())
}
