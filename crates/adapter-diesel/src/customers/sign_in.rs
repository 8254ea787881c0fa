//! What signs a customer in, when staff write it.

use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_kernel::ProjectId;

use crate::database::{AnyConnection, found};
use crate::people::{contacts, take_away};
use crate::schema::login_contacts;

/// Whether a contact signs somebody else in. Who signs nobody in may stand in several records.
pub(super) fn signs_in_another(
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

/// A kind of contact of a record that changes: what it is from now on.
pub(super) struct Changed<'a> {
    /// Whether it is the e-mail address, or else the phone.
    pub is_email: bool,
    /// The new one.
    pub now: Option<&'a str>,
}

/// Ends what a customer signed in with and has no longer: bindings, codes, and, where there were any, tokens. What stays is
/// found by the record.
pub(super) fn end_former(
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
    if former.is_empty() { Ok(()) } else { take_away(connection, project.get(), customer, &former) }
}
