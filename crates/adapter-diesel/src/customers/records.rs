use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_customers::CustomerError;
use kontor_customers::model::{Customer, CustomerKind, DecidedChange, Manager};
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::history::Author;
use kontor_kernel::{CounterpartyId, Email, FileId, Name, Phone, ProjectId, ProjectScoped, Stamp, StoreError};

use super::deletion::{DeleteError, delete_account};
use super::profile;
use crate::customer_data::{READY, avatar_key};
use crate::database::Database;
use crate::schema::{counterparties, dictionary_items, files, users};
use crate::{decode, records};

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
        let shown = files::id.nullable().eq(counterparties::avatar_id).and(files::state.eq(READY));
        counterparties::table
            .inner_join(dictionary_items::table.on(kind))
            .left_join(users::table.on(users::id.nullable().eq(counterparties::manager_id)))
            .left_join(files::table.on(shown))
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
        self.write(move |connection| profile::change(connection, &change)).await
    }

    async fn set_avatar(
        &self,
        id: CounterpartyId,
        avatar: Option<FileId>,
        at: DateTime<Utc>,
    ) -> Result<(), CustomerError> {
        self.write(move |connection| profile::set_avatar(connection, id.get(), avatar, at.naive_utc())).await
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
