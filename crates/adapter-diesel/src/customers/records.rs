//! Records of customers, and changes by the customer. Also changes of the picture by staff.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_customers::CustomerError;
use kontor_customers::model::{Customer, CustomerKind, DecidedChange, Manager, StaffCustomer};
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::history::Author;
use kontor_kernel::{CounterpartyId, Edit, Email, FileId, Name, Phone, ProjectId, ProjectScoped, Stamp, StoreError};

use super::deletion::{DeleteError, delete_account};
use crate::customer_data::{READY, avatar_key, is_avatar, lock_customer_exclusively};
use crate::database::{Abort, AnyConnection, Database};
use crate::read_models::search::index_customer;
use crate::records::{self, StoredRecord as _};
use crate::schema::{counterparties, dictionary_items, files, login_contacts, referred, users};
use crate::{decode, histories};

/// Persons and companies in the dictionary `counterparty_types`.
pub(super) const PERSON: i64 = 1;
pub(super) const COMPANY: i64 = 2;

#[derive(Queryable, Selectable)]
#[diesel(table_name = counterparties)]
pub(super) struct CustomerRow {
    pub(super) id: i64,
    pub(super) project_id: i64,
    first_name: Option<String>,
    last_name: Option<String>,
    middle_name: Option<String>,
    birthday: Option<NaiveDate>,
    address: Option<String>,
    phone_1: Option<String>,
    phone_2: Option<String>,
    email: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl CustomerRow {
    /// Returns the record without texts that cannot be decoded.
    pub(super) fn readable(self) -> Self {
        Self {
            first_name: decode::readable::<Name>(self.first_name),
            last_name: decode::readable::<Name>(self.last_name),
            middle_name: decode::readable::<Name>(self.middle_name),
            phone_1: decode::readable::<Phone>(self.phone_1),
            phone_2: decode::readable::<Phone>(self.phone_2),
            email: decode::readable::<Email>(self.email),
            ..self
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = dictionary_items)]
pub(super) struct KindRow {
    id: i64,
    name: String,
    created_at: NaiveDateTime,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
pub(super) struct ManagerRow {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
}

impl TryFrom<ManagerRow> for Manager {
    type Error = StoreError;

    fn try_from(row: ManagerRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            first_name: decode::text(&row.first_name)?,
            last_name: decode::text(&row.last_name)?,
            middle_name: decode::optional_text(row.middle_name.as_deref())?,
        })
    }
}

/// Columns of every customer record, as selected by [`customers`].
pub(super) type Row = (CustomerRow, KindRow, Option<ManagerRow>, Option<String>);

/// Customers that are not deleted, with the records they refer to.
macro_rules! customers {
    () => {{
        let person = counterparties::is_company.eq(false).and(dictionary_items::id.eq(PERSON));
        let company = counterparties::is_company.eq(true).and(dictionary_items::id.eq(COMPANY));
        let kind = dictionary_items::dictionary.eq("counterparty_types").and(person.or(company));
        counterparties::table
            .inner_join(dictionary_items::table.on(kind))
            .left_join(referred!(users, counterparties::manager_id))
            .left_join(referred!(files, counterparties::avatar_id, files::state.eq(READY)))
            .filter(counterparties::deleted_at.is_null())
    }};
}
pub(super) use customers;

pub(super) fn customer((row, kind, manager, avatar): Row) -> Result<Customer, StoreError> {
    Ok(Customer {
        id: decode::id(row.id)?,
        kind: CustomerKind {
            id: kind.id,
            name: decode::text(&kind.name)?,
            created_at: decode::moment(kind.created_at),
        },
        manager: manager.map(Manager::try_from).transpose()?,
        avatar: avatar_key(avatar.as_deref())?,
        first_name: decode::optional_text(row.first_name.as_deref())?,
        last_name: decode::optional_text(row.last_name.as_deref())?,
        middle_name: decode::optional_text(row.middle_name.as_deref())?,
        birthday: row.birthday,
        address: row.address,
        phone_1: decode::optional_text(row.phone_1.as_deref())?,
        phone_2: decode::optional_text(row.phone_2.as_deref())?,
        email: decode::optional_text(row.email.as_deref())?,
        created_at: decode::moment(row.created_at),
        updated_at: decode::moment(row.updated_at),
    })
}

#[async_trait]
impl CustomerRepository for Database {
    async fn find(&self, id: CounterpartyId) -> Result<Option<ProjectScoped<Customer>>, StoreError> {
        self.read(move |connection| {
            let row: Option<Row> = customers!()
                .filter(counterparties::id.eq(id.get()))
                .select((
                    CustomerRow::as_select(),
                    KindRow::as_select(),
                    Option::<ManagerRow>::as_select(),
                    files::file_key.nullable(),
                ))
                .first(connection)
                .optional()?;
            Ok(row.map(|row| records::of_project(row.0.project_id, customer(row))).transpose()?)
        })
        .await
    }

    async fn change_profile(&self, change: DecidedChange) -> Result<(), CustomerError> {
        self.write(move |connection| change_profile(connection, &change)).await
    }

    async fn set_avatar(
        &self,
        id: CounterpartyId,
        avatar: Option<FileId>,
        at: DateTime<Utc>,
    ) -> Result<(), CustomerError> {
        self.write(move |connection| set_avatar(connection, id.get(), avatar, at.naive_utc())).await
    }

    async fn delete_account(
        &self,
        project: ProjectId,
        id: CounterpartyId,
        at: DateTime<Utc>,
    ) -> Result<(), CustomerError> {
        self.write(move |connection| {
            let own = Stamp { project_id: project, author: Author::Customer(id), at };
            delete_account(connection, &own, id).map_err(|stays| {
                stays.map(|stays| match stays {
                    DeleteError::NotFound => CustomerError::NotFound,
                    DeleteError::PaymentOpen => CustomerError::PaymentOpen,
                })
            })
        })
        .await
    }
}

fn change_profile(connection: &mut AnyConnection, change: &DecidedChange) -> Result<(), Abort<CustomerError>> {
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
fn set_avatar(
    connection: &mut AnyConnection,
    customer: i64,
    avatar: Option<FileId>,
    at: NaiveDateTime,
) -> Result<(), Abort<CustomerError>> {
    let present = counterparties::table.find(customer).filter(counterparties::deleted_at.is_null());
    let project: Option<i64> = present.select(counterparties::project_id).first(connection).optional()?;
    let project = project.ok_or(Abort::Refused(CustomerError::NotFound))?;
    if let Some(file) = avatar
        && !is_avatar(connection, project, file)?
    {
        return Err(Abort::Refused(CustomerError::UnknownAvatar));
    }
    let changed = diesel::update(present.filter(counterparties::project_id.eq(project)))
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
