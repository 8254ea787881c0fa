//! Customer records for staff.

use std::collections::HashMap;

use diesel::dsl::count_star;
use diesel::prelude::*;
use kontor_customers::model::StaffCustomer;
use kontor_kernel::{Inn, Kpp, Name, ProjectScoped, StoreError};

use super::records::{COMPANY, CustomerRow, KindRow, ManagerRow, PERSON, Row, customer, customers};
use crate::customer_data::READY;
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::records::{StoredRecord, of_project};
use crate::schema::{counterparties, dictionary_items, files, orders, users};

#[derive(Queryable, Selectable)]
#[diesel(table_name = counterparties)]
struct CompanyRow {
    is_company: bool,
    name: Option<String>,
    inn: Option<String>,
    kpp: Option<String>,
    version: i64,
}

impl CompanyRow {
    fn readable(self) -> Self {
        Self {
            name: decode::readable::<Name>(self.name),
            inn: decode::readable::<Inn>(self.inn),
            kpp: decode::readable::<Kpp>(self.kpp),
            ..self
        }
    }
}

type StaffRow = (CustomerRow, KindRow, Option<ManagerRow>, Option<String>, CompanyRow);

fn record((row, kind, manager, avatar, company): StaffRow, orders: i64) -> Result<StaffCustomer, StoreError> {
    let common: Row = (row, kind, manager, avatar);
    Ok(StaffCustomer {
        record: customer(common)?,
        is_company: company.is_company,
        name: decode::optional_text(company.name.as_deref())?,
        inn: decode::optional_text(company.inn.as_deref())?,
        kpp: decode::optional_text(company.kpp.as_deref())?,
        orders: decode::count(orders)?,
        version: decode::count(company.version)?,
    })
}

/// Loads these customers, except deleted ones, in no particular order, with two statements for any number of them.
pub(super) fn load<R>(
    connection: &mut AnyConnection,
    ids: &[i64],
) -> Result<Vec<ProjectScoped<StaffCustomer>>, Abort<R>> {
    let rows = rows(connection, ids)?;
    records(connection, ids, rows)
}

fn rows(connection: &mut AnyConnection, ids: &[i64]) -> QueryResult<Vec<StaffRow>> {
    customers!()
        .filter(counterparties::id.eq_any(ids.to_vec()))
        .select((
            CustomerRow::as_select(),
            KindRow::as_select(),
            Option::<ManagerRow>::as_select(),
            files::file_key.nullable(),
            CompanyRow::as_select(),
        ))
        .load(connection)
}

fn records<R>(
    connection: &mut AnyConnection,
    ids: &[i64],
    rows: Vec<StaffRow>,
) -> Result<Vec<ProjectScoped<StaffCustomer>>, Abort<R>> {
    let orders: Vec<(i64, i64)> = orders::table
        .filter(orders::counterparty_id.eq_any(ids.to_vec()))
        .group_by(orders::counterparty_id)
        .select((orders::counterparty_id, count_star()))
        .load(connection)?;
    let orders: HashMap<i64, i64> = orders.into_iter().collect();
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let (id, project) = (row.0.id, row.0.project_id);
        found.push(of_project(project, record(row, orders.get(&id).copied().unwrap_or_default()))?);
    }
    Ok(found)
}

impl StoredRecord for StaffCustomer {
    const TABLE: &'static str = "counterparties";

    /// Loads a customer without texts that cannot be decoded, so that staff see the customer and can enter other texts.
    /// Lists leave the whole row out, and `kontor doctor` reports it.
    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let readable = |(customer, kind, manager, avatar, company): StaffRow| {
            (customer.readable(), kind, manager, avatar, company.readable())
        };
        let rows = rows(connection, &[id])?.into_iter().map(readable).collect();
        Ok(records(connection, &[id], rows)?.pop())
    }

    fn try_to_read(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<()>, Abort<StoreError>> {
        load(connection, ids).map(|_| Vec::new())
    }
}
