use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_auth::ports::CustomerAccounts;
use kontor_kernel::{Contact, CounterpartyId, ProjectId, StoreError};

use crate::customers::hold;
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::schema::{counterparties, login_contacts};
use crate::stored;

/// Why a customer could not be bound to a contact.
enum Unbound {
    /// A racing call bound another customer first.
    Lost,
    Store(StoreError),
}

impl From<StoreError> for Unbound {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// The customer a contact logs in.
pub(super) fn bound(
    connection: &mut AnyConnection,
    project: ProjectId,
    contact: &Contact,
) -> Result<Option<i64>, QueryError> {
    login_contacts::table
        .find((project.get(), contact.as_str()))
        .select(login_contacts::counterparty_id)
        .first(connection)
        .optional()
}

/// The oldest customer that staff noted the contact for. An address a customer only claims to have counts for nobody.
pub(super) fn noted(
    connection: &mut AnyConnection,
    project: ProjectId,
    contact: &Contact,
) -> Result<Option<i64>, QueryError> {
    let of_project = counterparties::table
        .filter(counterparties::project_id.eq(project.get()))
        .order(counterparties::id)
        .select(counterparties::id);
    match contact {
        Contact::Phone(phone) => of_project.filter(counterparties::phone_1.eq(phone.as_str())).first(connection),
        Contact::Email(email) => of_project
            .filter(counterparties::email.eq(email.as_str()))
            .filter(counterparties::email_confirmed.eq(true))
            .first(connection),
    }
    .optional()
}

fn create(
    connection: &mut AnyConnection,
    project: ProjectId,
    contact: &Contact,
    at: NaiveDateTime,
) -> Result<i64, QueryError> {
    let (phone, email) = match contact {
        Contact::Phone(phone) => (Some(phone.as_str()), None),
        Contact::Email(email) => (None, Some(email.as_str())),
    };
    diesel::insert_into(counterparties::table)
        .values((
            counterparties::project_id.eq(project.get()),
            counterparties::is_company.eq(false),
            counterparties::phone_1.eq(phone),
            counterparties::email.eq(email),
            counterparties::created_at.eq(at),
            counterparties::updated_at.eq(at),
        ))
        .returning(counterparties::id)
        .get_result(connection)
}

/// Binds a contact that signs nobody in; the key of the table lets one of several racing calls win. `false` for the
/// others.
pub(super) fn bind(
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

#[async_trait]
impl CustomerAccounts for Database {
    async fn find_or_create(
        &self,
        project: ProjectId,
        contact: &Contact,
        at: DateTime<Utc>,
    ) -> Result<CounterpartyId, StoreError> {
        let (known, wanted) = (contact.clone(), contact.clone());
        let find = move |connection: &mut AnyConnection| {
            let id = bound(connection, project, &known)?;
            Ok::<_, Abort<StoreError>>(id.map(stored::id::<CounterpartyId>).transpose()?)
        };
        if let Some(customer) = self.read(find.clone()).await? {
            return Ok(customer);
        }
        let made = self
            .write(move |connection| {
                if let Some(id) = bound(connection, project, &wanted)? {
                    return Ok(stored::id(id)?);
                }
                let id = match noted(connection, project, &wanted)? {
                    Some(id) if hold(connection, id)? => id,
                    _ => create(connection, project, &wanted, at.naive_utc())?,
                };
                if !bind(connection, project, wanted.as_str(), id)? {
                    return Err(Abort::Refused(Unbound::Lost));
                }
                Ok(stored::id(id)?)
            })
            .await;
        match made {
            Ok(customer) => Ok(customer),
            Err(Unbound::Store(error)) => Err(error),
            Err(Unbound::Lost) => self
                .read(find)
                .await?
                .ok_or_else(|| StoreError::Unavailable("a contact was bound and unbound meanwhile".to_owned())),
        }
    }
}
