//! Login contacts of a customer, as changed by staff.

use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_kernel::ProjectId;

use crate::customer_data::{contacts, remove_logins};
use crate::database::{AnyConnection, found};
use crate::schema::login_contacts;

/// Returns `true` if another customer logs in with the contact. A contact that is no login may be part of several
/// records.
pub(super) fn is_login_of_another(
    connection: &mut AnyConnection,
    project: ProjectId,
    customer: Option<i64>,
    contact: &str,
) -> Result<bool, QueryError> {
    let others = login_contacts::table
        .filter(login_contacts::project_id.eq(project.get()))
        .filter(login_contacts::contact.eq(contact))
        .filter(login_contacts::counterparty_id.ne(customer.unwrap_or_default()));
    found!(connection, others)
}

/// A changed contact of a record.
pub(super) struct Changed<'a> {
    /// `true` for the e-mail address, `false` for the phone.
    pub is_email: bool,
    /// New value.
    pub now: Option<&'a str>,
}

/// Ends the former login contacts of a customer: bindings, codes and, if there were bindings, tokens. Contacts that
/// remain are found by the record.
pub(super) fn remove_former_logins(
    connection: &mut AnyConnection,
    project: ProjectId,
    customer: i64,
    changes: &[Changed<'_>],
) -> Result<(), QueryError> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut former = contacts(connection, project.get(), customer)?;
    former.retain(|contact| {
        let is_email = contact.contains('@');
        changes.iter().any(|change| change.is_email == is_email && change.now != Some(contact.as_str()))
    });
    if former.is_empty() { Ok(()) } else { remove_logins(connection, project.get(), customer, &former) }
}
