//! What is changed about the record of a customer: by himself, and his picture.

use std::ops::Deref;

use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_customers::CustomerError;
use kontor_customers::model::ProfileChange;
use kontor_kernel::FileId;

use crate::database::{Abort, AnyConnection};
use crate::people::is_avatar;
use crate::schema::{counterparties, login_contacts};

/// The outer `None` leaves a column as it is, the inner one empties it.
#[expect(clippy::option_option, reason = "keep, clear and set, as the changeset takes them")]
#[derive(AsChangeset)]
#[diesel(table_name = counterparties)]
struct Columns {
    first_name: Option<Option<String>>,
    last_name: Option<Option<String>>,
    middle_name: Option<Option<String>>,
    birthday: Option<Option<chrono::NaiveDate>>,
    address: Option<Option<String>>,
    email: Option<Option<String>>,
    email_confirmed: Option<bool>,
    phone_2: Option<Option<String>>,
    updated_at: chrono::NaiveDateTime,
}

pub(super) fn change(connection: &mut AnyConnection, change: &ProfileChange) -> Result<(), Abort<CustomerError>> {
    let (project, customer, data) = (change.project_id.get(), change.customer.get(), &change.data);
    let email_confirmed = match &data.email {
        None => None,
        Some(None) => Some(true),
        Some(Some(email)) => {
            let owner = owner(connection, project, email)?;
            let taken = match owner {
                Some(owner) => owner != customer,
                None => noted_for_another(connection, project, customer, email)?,
            };
            if taken {
                return Err(Abort::Refused(CustomerError::EmailTaken));
            }
            Some(owner.is_some())
        }
    };
    let columns = Columns {
        first_name: owned(data.first_name.as_ref()),
        last_name: owned(data.last_name.as_ref()),
        middle_name: owned(data.middle_name.as_ref()),
        birthday: data.birthday,
        address: owned(data.address.as_ref()),
        email: owned(data.email.as_ref()),
        email_confirmed,
        phone_2: owned(data.phone_2.as_ref()),
        updated_at: change.at.naive_utc(),
    };
    let present = counterparties::table
        .filter(counterparties::id.eq(customer))
        .filter(counterparties::project_id.eq(project))
        .filter(counterparties::deleted_at.is_null());
    let changed = diesel::update(present).set(columns).execute(connection)?;
    if changed == 1 { Ok(()) } else { Err(Abort::Refused(CustomerError::NotFound)) }
}

#[expect(clippy::option_option, reason = "keep, clear and set, as the changeset takes them")]
fn owned<T: Deref<Target = str>>(edit: Option<&Option<T>>) -> Option<Option<String>> {
    edit.map(|value| value.as_deref().map(str::to_owned))
}

/// His picture, which staff give him.
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
        .set((counterparties::avatar_id.eq(avatar.map(FileId::get)), counterparties::updated_at.eq(at)))
        .execute(connection)?;
    if changed == 1 { Ok(()) } else { Err(Abort::Refused(CustomerError::NotFound)) }
}

/// Whom the address signs in.
fn owner(connection: &mut AnyConnection, project: i64, email: &str) -> Result<Option<i64>, QueryError> {
    login_contacts::table.find((project, email)).select(login_contacts::counterparty_id).first(connection).optional()
}

/// Whether the address would sign another customer in.
fn noted_for_another(
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
