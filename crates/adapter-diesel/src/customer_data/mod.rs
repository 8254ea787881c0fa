//! Functions on customers for every domain: locks during writes, ends of sessions, and anonymization on deletion. Also
//! the pictures of persons.
//!
//! Every write for a customer locks the customer first, before any other row. So it never overlaps with deletion.

mod contact_owners;
mod deletion;

pub(crate) use contact_owners::{
    BindError, NewCustomerData, bind, bound, create, find_or_bind, lock_bound_customer, owner,
};
pub(crate) use deletion::{
    contacts, delete_login_contacts, delete_logins, delete_receipts, delete_receipts_if_deleted, delete_remarks,
    delete_ticket_codes, end_subscriptions, remove_logins,
};

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_content::model::FileType;
use kontor_kernel::{FileId, FileKey, ProjectId, StoreError, UserId};

use crate::database::{AnyConnection, found};
use crate::schema::{client_sessions, counterparties, files, keyed, users};
use crate::statement::Statement;

/// Values of the column `guard` for the two kinds of tokens.
pub(crate) mod guard {
    pub(crate) const USER: &str = "user";
    pub(crate) const COUNTERPARTY: &str = "counterparty";
}

/// SQLite has one writer: no deletion runs while a transaction writes.
fn lock(connection: &mut AnyConnection, customer: i64, clause: &'static str) -> QueryResult<bool> {
    let existing = Statement::new("SELECT id FROM counterparties WHERE deleted_at IS NULL AND id = ").value(customer);
    existing.locked(connection, clause).finds(connection)
}

/// Prevents the deletion of a customer until the transaction ends. Returns `false` if the customer is deleted or does
/// not exist.
pub(crate) fn lock_customer(connection: &mut AnyConnection, customer: i64) -> Result<bool, QueryError> {
    lock(connection, customer, " FOR SHARE")
}

/// The same for changes of the customer's record: they run one after the other.
pub(crate) fn lock_customer_exclusively(connection: &mut AnyConnection, customer: i64) -> Result<bool, QueryError> {
    lock(connection, customer, " FOR NO KEY UPDATE")
}

/// Record that identifies the customer to lock.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CustomerOf {
    /// Customer of the order.
    Order(i64),
    /// Customer of the order that the charge pays. A charge for another purpose locks no customer.
    Charge(i64),
    /// Customer of the refunded charge.
    Refund(i64),
}

/// Locks as [`lock_customer`] does, for writes that also apply to deleted customers.
pub(crate) fn lock_customer_of(connection: &mut AnyConnection, of: CustomerOf) -> Result<(), QueryError> {
    // SQLite has one writer.
    if !connection.is_postgres() {
        return Ok(());
    }
    let customer_id = match of {
        CustomerOf::Order(id) => Statement::new("SELECT counterparty_id FROM orders WHERE id = ").value(id),
        CustomerOf::Charge(id) => {
            let of_order = "SELECT counterparty_id FROM charges WHERE purpose = 'order' AND id = ";
            Statement::new(of_order).value(id)
        }
        CustomerOf::Refund(id) => {
            let joined = "SELECT c.counterparty_id FROM refunds r JOIN charges c ON c.id = r.charge_id \
                AND c.project_id = r.project_id WHERE r.id = ";
            Statement::new(joined).value(id)
        }
    };
    // The customer of a record never changes.
    let customer: Option<i64> = customer_id.scalar(connection).optional()?;
    if let Some(id) = customer {
        let held = Statement::new("SELECT id FROM counterparties WHERE id = ").value(id);
        held.hold(connection, " FOR SHARE")?;
    }
    Ok(())
}

/// Stores that a customer has proved their identity, unless they are deleted.
pub(crate) fn mark_verified(
    connection: &mut AnyConnection,
    project: ProjectId,
    customer: i64,
    at: NaiveDateTime,
) -> Result<(), QueryError> {
    let present = keyed!(counterparties, customer, project).filter(counterparties::deleted_at.is_null());
    diesel::update(present).set(counterparties::verified_at.eq(at)).execute(connection)?;
    Ok(())
}

/// Stored state of an active session.
pub(crate) const ACTIVE_SESSION: &str = "active";
/// Stored state of a closed session.
pub(crate) const CLOSED_SESSION: &str = "closed";

/// Closes sessions. A session ends at the time of the customer's last activity.
macro_rules! close_sessions {
    ($connection:expr, $which:expr) => {{
        use $crate::customer_data::{ACTIVE_SESSION, CLOSED_SESSION};
        diesel::update(client_sessions::table.filter(client_sessions::status.eq(ACTIVE_SESSION)).filter($which))
            .set((
                client_sessions::status.eq(CLOSED_SESSION),
                client_sessions::closed_at.eq(client_sessions::last_seen_at.nullable()),
            ))
            .execute($connection)
    }};
}
pub(crate) use close_sessions;

/// Closes the sessions of deleted tokens, including those that started while the deletion waited.
pub(crate) fn close_sessions_of_tokens(connection: &mut AnyConnection, tokens: &[i64]) -> Result<(), QueryError> {
    if tokens.is_empty() {
        return Ok(());
    }
    close_sessions!(connection, client_sessions::token_id.eq_any(tokens.to_vec())).map(|_| ())
}

/// Closes the sessions of a customer.
pub(crate) fn close_sessions_of_customer(connection: &mut AnyConnection, customer: i64) -> Result<(), QueryError> {
    close_sessions!(connection, client_sessions::counterparty_id.eq(customer)).map(|_| ())
}

/// Kind of the users who are employees, not agents.
pub(crate) const EMPLOYEE: &str = "employee";

/// Returns `true` if the user is an employee of the project.
pub(crate) fn is_employee(connection: &mut AnyConnection, project: ProjectId, id: UserId) -> QueryResult<bool> {
    let own = users::table
        .filter(users::id.eq(id.get()))
        .filter(users::project_id.eq(project.get()))
        .filter(users::kind.eq(EMPLOYEE));
    found!(connection, own)
}

/// State of a file that can be shown.
pub(crate) const READY: &str = "ready";

/// Returns `true` if a file may be the picture of a person of this project.
pub(crate) fn is_avatar(connection: &mut AnyConnection, project: i64, file: FileId) -> Result<bool, QueryError> {
    let avatar = files::table
        .find(file.get())
        .filter(files::project_id.eq(project))
        .filter(files::file_type_id.eq(FileType::Avatar.id()))
        .filter(files::state.eq(READY));
    found!(connection, avatar)
}

/// Decodes the stored key of a picture.
pub(crate) fn avatar_key(key: Option<&str>) -> Result<Option<FileKey>, StoreError> {
    key.map(FileKey::parse).transpose().map_err(StoreError::corrupt)
}
