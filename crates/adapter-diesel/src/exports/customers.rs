//! Customers, as in their records. Deleted customers are left out.

use chrono::NaiveDateTime;
use kontor_catalog::bulk::{ExportCursor, ExportRow};
use kontor_kernel::StoreError;

use super::{ExportPage, moment, number, text, zone};
use crate::database::{Abort, AnyConnection};
use crate::statement::{Statement, by_place};

pub(super) const HEADER: [&str; 15] = [
    "id",
    "type",
    "name",
    "inn",
    "kpp",
    "last_name",
    "first_name",
    "middle_name",
    "birthday",
    "address",
    "phone_1",
    "phone_2",
    "email",
    "orders_count",
    "created_at",
];

by_place! {
    struct CustomerRow {
        id: i64,
        kind: Option<String>,
        name: Option<String>,
        inn: Option<String>,
        kpp: Option<String>,
        last_name: Option<String>,
        first_name: Option<String>,
        middle_name: Option<String>,
        birthday: Option<String>,
        address: Option<String>,
        phone_1: Option<String>,
        phone_2: Option<String>,
        email: Option<String>,
        orders: i64,
        created_at: NaiveDateTime,
    }
}

pub(super) fn total(project: i64) -> Statement {
    Statement::new("SELECT count(*) FROM counterparties WHERE deleted_at IS NULL AND project_id = ").value(project)
}

const SELECT: &str = "\
    SELECT c.id, d.name AS kind, c.name, c.inn, c.kpp, c.last_name, c.first_name, c.middle_name, \
    CAST(c.birthday AS TEXT) AS birthday, c.address, c.phone_1, c.phone_2, c.email, \
    (SELECT count(*) FROM orders o WHERE o.project_id = c.project_id AND o.counterparty_id = c.id) AS orders, \
    c.created_at \
    FROM counterparties c LEFT JOIN dictionary_items d ON d.dictionary = 'counterparty_types' \
    AND d.id = CASE WHEN c.is_company THEN 2 ELSE 1 END \
    WHERE c.deleted_at IS NULL AND c.project_id = ";

pub(super) fn rows(connection: &mut AnyConnection, asked: &ExportPage) -> Result<Vec<ExportRow>, Abort<StoreError>> {
    let page = Statement::new(SELECT).value(asked.project).sql(" AND c.id > ").value(asked.after.record);
    let rows: Vec<CustomerRow> = asked.limited(page.sql(" ORDER BY c.id")).rows(connection)?;
    let zone = zone(connection, asked.project)?;
    let row = |row: CustomerRow| {
        let mut cells = vec![number(row.id)];
        let texts =
            [row.kind, row.name, row.inn, row.kpp, row.last_name, row.first_name, row.middle_name, row.birthday];
        cells.extend(texts.into_iter().chain([row.address, row.phone_1, row.phone_2, row.email]).map(text));
        cells.extend([number(row.orders), moment(zone, row.created_at)]);
        ExportRow { at: ExportCursor { record: row.id, line: 0 }, cells }
    };
    Ok(rows.into_iter().map(row).collect())
}
