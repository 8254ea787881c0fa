//! Changes of a customer's record: by the customer, and of the picture by staff.

use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_customers::CustomerError;
use kontor_customers::model::{DecidedChange, StaffCustomer};
use kontor_kernel::history::Author;
use kontor_kernel::{Edit, FileId, Stamp};

use crate::customer_data::{is_avatar, lock_customer_exclusively};
use crate::database::{Abort, AnyConnection};
use crate::histories;
use crate::read_models::search::index_customer;
use crate::records::StoredRecord as _;
use crate::schema::{counterparties, login_contacts};

pub(super) fn change(connection: &mut AnyConnection, change: &DecidedChange) -> Result<(), Abort<CustomerError>> {
    let (project, customer, data) = (change.project_id.get(), change.customer.get(), &change.data);
    let email_confirmed = match &data.email {
        Edit::Keep => None,
        Edit::Set(None) => Some(true),
        Edit::Set(Some(email)) => {
            let owner = owner(connection, project, email)?;
            let taken = match owner {
                Some(owner) => owner != customer,
                None => is_login_email_of_another(connection, project, customer, email)?,
            };
            if taken {
                return Err(Abort::Refused(CustomerError::EmailTaken));
            }
            Some(owner.is_some())
        }
    };
    let columns = (
        data.first_name.as_set().map(|name| counterparties::first_name.eq(name.as_deref())),
        data.last_name.as_set().map(|name| counterparties::last_name.eq(name.as_deref())),
        data.middle_name.as_set().map(|name| counterparties::middle_name.eq(name.as_deref())),
        data.birthday.as_set().map(|day| counterparties::birthday.eq(*day)),
        data.address.as_set().map(|address| counterparties::address.eq(address.as_deref())),
        data.email.as_set().map(|email| counterparties::email.eq(email.as_deref())),
        email_confirmed.map(|confirmed| counterparties::email_confirmed.eq(confirmed)),
        data.phone_2.as_set().map(|phone| counterparties::phone_2.eq(phone.as_deref())),
        counterparties::version.eq(counterparties::version + 1),
        counterparties::updated_at.eq(change.at.naive_utc()),
    );
    let present = counterparties::table
        .filter(counterparties::id.eq(customer))
        .filter(counterparties::project_id.eq(project))
        .filter(counterparties::deleted_at.is_null());
    if !lock_customer_exclusively(connection, customer)? {
        return Err(Abort::Refused(CustomerError::NotFound));
    }
    let before = record(connection, change)?;
    diesel::update(present).set(columns).execute(connection)?;
    index_customer(connection, customer)?;
    let after = record(connection, change)?;
    let own = Stamp { project_id: change.project_id, author: Author::Customer(change.customer), at: change.at };
    histories::changed(connection, &own, &before, &after)
}

fn record(connection: &mut AnyConnection, change: &DecidedChange) -> Result<StaffCustomer, Abort<CustomerError>> {
    let found = StaffCustomer::load(connection, change.customer.get())?;
    found.and_then(|record| record.within(change.project_id)).ok_or(Abort::Refused(CustomerError::NotFound))
}

/// Sets the customer's picture, which staff assign.
pub(super) fn set_avatar(
    connection: &mut AnyConnection,
    customer: i64,
    avatar: Option<FileId>,
    at: chrono::NaiveDateTime,
) -> Result<(), Abort<CustomerError>> {
    let present = counterparties::table.find(customer).filter(counterparties::deleted_at.is_null());
    let project: Option<i64> = present.select(counterparties::project_id).first(connection).optional()?;
    let project = project.ok_or(Abort::Refused(CustomerError::NotFound))?;
    if let Some(file) = avatar
        && !is_avatar(connection, project, file)?
    {
        return Err(Abort::Refused(CustomerError::UnknownAvatar));
    }
    let changed = diesel::update(present)
        .set((
            counterparties::avatar_id.eq(avatar.map(FileId::get)),
            counterparties::version.eq(counterparties::version + 1),
            counterparties::updated_at.eq(at),
        ))
        .execute(connection)?;
    if changed == 1 { Ok(()) } else { Err(Abort::Refused(CustomerError::NotFound)) }
}

/// Returns the customer that logs in with the address.
fn owner(connection: &mut AnyConnection, project: i64, email: &str) -> Result<Option<i64>, QueryError> {
    login_contacts::table.find((project, email)).select(login_contacts::counterparty_id).first(connection).optional()
}

/// Returns `true` if another customer would log in with the address.
fn is_login_email_of_another(
    connection: &mut AnyConnection,
    project: i64,
    customer: i64,
    email: &str,
) -> Result<bool, QueryError> {
    let other: Option<i64> = counterparties::table
        .filter(counterparties::project_id.eq(project))
        .filter(counterparties::email.eq(email))
        .filter(counterparties::email_confirmed.eq(true))
        .filter(counterparties::id.ne(customer))
        .select(counterparties::id)
        .first(connection)
        .optional()?;
    Ok(other.is_some())
}
