//! The ends of customers' sessions.

use diesel::prelude::*;
use diesel::result::Error as QueryError;

use crate::database::AnyConnection;
use crate::schema::client_sessions;

/// A session that goes on, as its column spells it.
pub(crate) const ACTIVE: &str = "active";
/// One that ended.
pub(crate) const CLOSED: &str = "closed";

/// A session ended when its customer was last seen.
macro_rules! close {
    ($connection:expr, $which:expr) => {{
        use $crate::people::sessions::{ACTIVE, CLOSED};
        diesel::update(client_sessions::table.filter(client_sessions::status.eq(ACTIVE)).filter($which))
            .set((
                client_sessions::status.eq(CLOSED),
                client_sessions::closed_at.eq(client_sessions::last_seen_at.nullable()),
            ))
            .execute($connection)
    }};
}
pub(crate) use close;

/// Ends the sessions of tokens that are deleted. Those that began while their deletion waited are ended, too.
pub(crate) fn close_of_tokens(connection: &mut AnyConnection, tokens: &[i64]) -> Result<(), QueryError> {
    if tokens.is_empty() {
        return Ok(());
    }
    close!(connection, client_sessions::token_id.eq_any(tokens.to_vec())).map(|_| ())
}

/// Ends the sessions of a customer.
pub(crate) fn close_of_customer(connection: &mut AnyConnection, customer: i64) -> Result<(), QueryError> {
    close!(connection, client_sessions::counterparty_id.eq(customer)).map(|_| ())
}
