use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_customers::CustomerError;
use kontor_customers::model::{Customer, CustomerKind, DecidedChange, Manager};
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{CounterpartyId, FileId, OfProject, ProjectId, StoreError};

use super::{leave, profile};
use crate::database::Database;
use crate::people::{READY, avatar_key};
use crate::schema::{counterparties, dictionary_items, files, users};
use crate::{records, stored};

/// Persons and companies in the dictionary `counterparty_types`.
const PERSON: i64 = 1;
const COMPANY: i64 = 2;

#[derive(Queryable, Selectable)]
#[diesel(table_name = counterparties)]
struct CustomerRow {
    id: i64,
    project_id: i64,
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

#[derive(Queryable, Selectable)]
#[diesel(table_name = dictionary_items)]
struct KindRow {
    id: i64,
    name: String,
    created_at: NaiveDateTime,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct ManagerRow {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
}

impl TryFrom<ManagerRow> for Manager {
    type Error = StoreError;

    fn try_from(row: ManagerRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored::id(row.id)?,
            first_name: stored::text(&row.first_name)?,
            last_name: stored::text(&row.last_name)?,
            middle_name: stored::optional_text(row.middle_name.as_deref())?,
        })
    }
}

type Row = (CustomerRow, KindRow, Option<ManagerRow>, Option<String>);

fn customer((row, kind, manager, avatar): Row) -> Result<Customer, StoreError> {
    Ok(Customer {
        id: stored::id(row.id)?,
        kind: CustomerKind {
            id: kind.id,
            name: stored::text(&kind.name)?,
            created_at: stored::moment(kind.created_at),
        },
        manager: manager.map(Manager::try_from).transpose()?,
        avatar: avatar_key(avatar.as_deref())?,
        first_name: stored::optional_text(row.first_name.as_deref())?,
        last_name: stored::optional_text(row.last_name.as_deref())?,
        middle_name: stored::optional_text(row.middle_name.as_deref())?,
        birthday: row.birthday,
        address: row.address,
        phone_1: stored::optional_text(row.phone_1.as_deref())?,
        phone_2: stored::optional_text(row.phone_2.as_deref())?,
        email: stored::optional_text(row.email.as_deref())?,
        created_at: stored::moment(row.created_at),
        updated_at: stored::moment(row.updated_at),
    })
}

#[async_trait]
impl CustomerRepository for Database {
    async fn find(&self, id: CounterpartyId) -> Result<Option<OfProject<Customer>>, StoreError> {
        self.read(move |connection| {
            let person = counterparties::is_company.eq(false).and(dictionary_items::id.eq(PERSON));
            let company = counterparties::is_company.eq(true).and(dictionary_items::id.eq(COMPANY));
            let kind = dictionary_items::dictionary.eq("counterparty_types").and(person.or(company));
            let shown = files::id.nullable().eq(counterparties::avatar_id).and(files::state.eq(READY));
            let row: Option<Row> = counterparties::table
                .inner_join(dictionary_items::table.on(kind))
                .left_join(users::table.on(users::id.nullable().eq(counterparties::manager_id)))
                .left_join(files::table.on(shown))
                .filter(counterparties::id.eq(id.get()))
                .filter(counterparties::deleted_at.is_null())
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

    async fn leave(&self, project: ProjectId, id: CounterpartyId, at: DateTime<Utc>) -> Result<(), CustomerError> {
        self.write(move |connection| leave::leave(connection, project.get(), id.get(), at.naive_utc())).await
    }
}
