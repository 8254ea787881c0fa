use diesel::prelude::*;
use diesel::result::Error as QueryError;

use super::{guard, sessions};
use crate::database::idempotency::{KeyOwner, delete_keys_of_owner};
use crate::database::{AnyConnection, Topic};
use crate::schema::{access_tokens, callback_attempts, login_contacts, one_time_codes, phone_change_codes};

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
    sessions::close_of_customer(connection, customer)?;
    delete_login_contacts(connection, project, contacts)?;
    diesel::delete(phone_change_codes::table.find(customer)).execute(connection)?;
    // Stored responses of the customer's requests contain personal data, and the customer cannot repeat these requests.
    delete_keys_of_owner(connection, KeyOwner { guard: guard::COUNTERPARTY, id: Some(customer) })?;
    let tokens = access_tokens::table
        .filter(access_tokens::guard.eq(guard::COUNTERPARTY))
        .filter(access_tokens::subject_id.eq(customer));
    connection.invalidate(Topic::Access, project);
    let ended: Vec<i64> = diesel::delete(tokens).returning(access_tokens::id).get_results(connection)?;
    // The deletion waited for logins with these codes and for sessions of these tokens that started in the meantime.
    sessions::close_of_tokens(connection, &ended)
}
