//! Ends of customer sessions.

use diesel::prelude::*;
use diesel::result::Error as QueryError;

use crate::database::AnyConnection;
use crate::schema::client_sessions;

/// Stored state of an active session.
pub(crate) const ACTIVE: &str = "active";
/// Stored state of a closed session.
pub(crate) const CLOSED: &str = "closed";

/// Closes sessions. A session ends at the time of the customer's last activity.
macro_rules! close {
    ($connection:expr, $which:expr) => {{
        use $crate::customer_data::sessions::{ACTIVE, CLOSED};
        diesel::update(client_sessions::table.filter(client_sessions::status.eq(ACTIVE)).filter($which))
            .set((
                client_sessions::status.eq(CLOSED),
                client_sessions::closed_at.eq(client_sessions::last_seen_at.nullable()),
            ))
            .execute($connection)
    }};
}
pub(crate) use close;

/// Closes the sessions of deleted tokens, including those that started while the deletion waited.
pub(crate) fn close_of_tokens(connection: &mut AnyConnection, tokens: &[i64]) -> Result<(), QueryError> {
    if tokens.is_empty() {
        return Ok(());
    }
    close!(connection, client_sessions::token_id.eq_any(tokens.to_vec())).map(|_| ())
}

/// Closes the sessions of a customer.
pub(crate) fn close_of_customer(connection: &mut AnyConnection, customer: i64) -> Result<(), QueryError> {
    close!(connection, client_sessions::counterparty_id.eq(customer)).map(|_| ())
}
