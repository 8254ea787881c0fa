//! Personal data in orders of deleted customers, besides their phone and address.

use chrono::NaiveDateTime;
use kontor_orders::audit::without_personal_values;

use crate::database::{Abort, AnyConnection};
use crate::histories;
use crate::statement::Statement;

/// Deletes the names entered in contact forms, and the comments and addresses in history entries.
pub(crate) fn delete_remarks<R>(
    connection: &mut AnyConnection,
    customer: i64,
    at: NaiveDateTime,
) -> Result<(), Abort<R>> {
    // The service itself creates the order of a form; its comment is the name.
    Statement::new("UPDATE orders SET comment = NULL, version = version + 1, updated_at = ")
        .value(at)
        .sql(" WHERE counterparty_id = ")
        .value(customer)
        .sql(
            " AND comment IS NOT NULL AND id IN (SELECT e.order_id FROM order_events e \
             WHERE e.event = 'created' AND e.actor = 'system' AND e.order_id = orders.id)",
        )
        .run(connection)?;
    let told = Statement::new(" WHERE order_id IN (SELECT id FROM orders WHERE counterparty_id = ")
        .value(customer)
        .sql(") AND (changes LIKE '%\"field\":\"comment\"%' OR changes LIKE '%\"field\":\"address\"%')");
    histories::rewrite_lines(connection, "order_events", told, without_personal_values)
}
