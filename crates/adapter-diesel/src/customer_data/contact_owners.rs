//! Customers by the contacts that log them in.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_auth::model::ContactOwner;
use kontor_kernel::{Contact, CounterpartyId, ProjectId, StoreError};

use super::lock_customer;
use crate::database::{Abort, AnyConnection, on_each};
use crate::decode;
use crate::read_models::search::index_customer;
use crate::schema::{counterparties, login_contacts};

/// Reason why a customer could not be bound to a contact.
pub(crate) enum BindError {
    /// A concurrent call bound another customer first.
    Lost,
    Store(StoreError),
}

impl From<StoreError> for BindError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Returns the customer that logs in with the contact.
pub(crate) fn bound(
    connection: &mut AnyConnection,
    project: ProjectId,
    contact: &Contact,
) -> Result<Option<i64>, QueryError> {
    let own = login_contacts::table.find((project.get(), contact.as_str())).select(login_contacts::counterparty_id);
    on_each!(connection, concrete => own.first(concrete)).optional()
}

/// Returns the customer that logs in with the contact and prevents its deletion until the transaction ends.
pub(crate) fn lock_bound_customer(
    connection: &mut AnyConnection,
    project: ProjectId,
    contact: &Contact,
) -> Result<Option<i64>, QueryError> {
    let Some(id) = bound(connection, project, contact)? else { return Ok(None) };
    Ok(lock_customer(connection, id)?.then_some(id))
}

/// Returns the customers with this contact entered by staff, oldest first, at most two. Addresses that customers
/// entered themselves and did not verify are ignored.
fn with_contact(connection: &mut AnyConnection, project: ProjectId, contact: &Contact) -> Result<Vec<i64>, QueryError> {
    let of_project = counterparties::table
        .filter(counterparties::project_id.eq(project.get()))
        .order(counterparties::id)
        .select(counterparties::id)
        .limit(2);
    match contact {
        Contact::Phone(phone) => of_project.filter(counterparties::phone_1.eq(phone.as_str())).load(connection),
        Contact::Email(email) => of_project
            .filter(counterparties::email.eq(email.as_str()))
            .filter(counterparties::email_confirmed.eq(true))
            .load(connection),
    }
}

/// Determines the owner of a contact. `signs_in` is the customer already bound to it, if any.
pub(crate) fn owner<R>(
    connection: &mut AnyConnection,
    project: ProjectId,
    contact: &Contact,
    signs_in: Option<i64>,
) -> Result<ContactOwner, Abort<R>> {
    let recorded = if signs_in.is_some() { Vec::new() } else { with_contact(connection, project, contact)? };
    let recorded = recorded.into_iter().map(decode::id).collect::<Result<Vec<_>, _>>()?;
    Ok(ContactOwner::of(decode::optional_id(signs_in)?, &recorded))
}

/// Data of a new customer besides the contact.
#[derive(Insertable, Default)]
#[diesel(table_name = counterparties)]
pub(crate) struct NewCustomerData<'a> {
    #[diesel(column_name = first_name)]
    pub first: Option<&'a str>,
    #[diesel(column_name = last_name)]
    pub last: Option<&'a str>,
    #[diesel(column_name = middle_name)]
    pub middle: Option<&'a str>,
}

pub(crate) fn create<R>(
    connection: &mut AnyConnection,
    project: ProjectId,
    contact: &Contact,
    new_customer: &NewCustomerData<'_>,
    at: NaiveDateTime,
) -> Result<i64, Abort<R>> {
    let (phone, email) = match contact {
        Contact::Phone(phone) => (Some(phone.as_str()), None),
        Contact::Email(email) => (None, Some(email.as_str())),
    };
    let id = diesel::insert_into(counterparties::table)
        .values((
            counterparties::project_id.eq(project.get()),
            counterparties::is_company.eq(false),
            counterparties::phone_1.eq(phone),
            counterparties::email.eq(email),
            new_customer,
            counterparties::created_at.eq(at),
            counterparties::updated_at.eq(at),
        ))
        .returning(counterparties::id)
        .get_result(connection)?;
    index_customer(connection, id)?;
    Ok(id)
}

/// Binds the contact. The unique key of the table lets only one of several concurrent calls succeed.
pub(crate) fn bind(
    connection: &mut AnyConnection,
    project: ProjectId,
    contact: &str,
    id: i64,
) -> Result<bool, QueryError> {
    let binding = (
        login_contacts::project_id.eq(project.get()),
        login_contacts::contact.eq(contact),
        login_contacts::counterparty_id.eq(id),
    );
    let added = on_each!(connection, concrete => {
        diesel::insert_into(login_contacts::table).values(binding).on_conflict_do_nothing().execute(concrete)
    })?;
    Ok(added == 1)
}

/// Returns the customer that logs in with the contact. Binds the contact first if necessary.
pub(crate) fn find_or_bind(
    connection: &mut AnyConnection,
    project: ProjectId,
    contact: &Contact,
    new_customer: &NewCustomerData<'_>,
    at: NaiveDateTime,
) -> Result<CounterpartyId, Abort<BindError>> {
    if let Some(id) = lock_bound_customer(connection, project, contact)? {
        return Ok(decode::id(id)?);
    }
    let id = match owner(connection, project, contact, None)? {
        ContactOwner::One(id) | ContactOwner::Several { oldest: id } if lock_customer(connection, id.get())? => {
            id.get()
        }
        _ => create(connection, project, contact, new_customer, at)?,
    };
    if !bind(connection, project, contact.as_str(), id)? {
        // Rolls back the records created for the binding.
        return Err(Abort::Refused(BindError::Lost));
    }
    Ok(decode::id(id)?)
}
