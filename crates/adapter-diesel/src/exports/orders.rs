//! Orders, one row per line, as in their records.

use chrono::{Days, NaiveDateTime};
use kontor_catalog::bulk::{ExportCursor, ExportRow, ExportScope};
use kontor_catalog::spreadsheet::Content;
use kontor_kernel::{StoreError, Word as _, Zone};
use kontor_orders::model::PaymentState;

use super::{ExportPage, moment, money, number, text, zone};
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::statement::{Statement, by_place};

/// Column names. From `final_price` on, the values are totals of the whole order.
pub(super) const HEADER: [&str; 22] = [
    "order_id",
    "created_at",
    "status",
    "payment_state",
    "paid_at",
    "counterparty_id",
    "counterparty_name",
    "phone",
    "email",
    "nomenclature_id",
    "article",
    "name",
    "quantity",
    "price",
    "product_discount_amount",
    "promo_discount_amount",
    "total",
    "refunded_quantity",
    "refunded_amount",
    "final_price",
    "delivery_price",
    "amount_due",
];

by_place! {
    struct LineRow {
        order_id: i64,
        line_id: i64,
        created_at: NaiveDateTime,
        status: Option<String>,
        paid_at: Option<NaiveDateTime>,
        payment_open: bool,
        captured: i64,
        refunded: i64,
        counterparty_id: i64,
        company: Option<String>,
        last_name: Option<String>,
        first_name: Option<String>,
        middle_name: Option<String>,
        phone: Option<String>,
        email: Option<String>,
        nomenclature_id: i64,
        article: Option<String>,
        name: String,
        quantity: i64,
        unit_price: i64,
        product_discount: i64,
        promo_discount: i64,
        total: i64,
        refunded_quantity: i64,
        refunded_amount: i64,
        final_price: i64,
        delivery_price: i64,
    }
}

const SELECT: &str = "\
    SELECT o.id AS order_id, r.id AS line_id, o.created_at, s.name AS status, o.paid_at, EXISTS (SELECT 1 FROM charges t \
    WHERE t.purpose = 'order' AND t.purpose_id = o.id AND t.project_id = o.project_id \
    AND t.state IN ('prepared', 'pending')) AS payment_open, \
    o.captured, o.refunded, o.counterparty_id, CASE WHEN c.is_company THEN c.name END AS company, c.last_name, \
    c.first_name, c.middle_name, o.phone, c.email, r.nomenclature_id, n.article, r.name, r.quantity, r.unit_price, \
    r.product_discount, r.promo_discount, r.total, r.refunded_quantity, r.refunded_amount, o.final_price, \
    o.delivery_price \
    FROM orders o JOIN reservations r ON r.order_id = o.id AND r.project_id = o.project_id \
    JOIN counterparties c ON c.id = o.counterparty_id AND c.project_id = o.project_id \
    JOIN nomenclatures n ON n.id = r.nomenclature_id AND n.project_id = r.project_id \
    LEFT JOIN dictionary_items s ON s.dictionary = 'order_statuses' AND s.id = o.status_id \
    WHERE o.project_id = ";

/// Adds the condition on the day on which an order was created.
fn created(orders: Statement, scope: ExportScope, zone: Zone) -> Statement {
    let from = match scope.created_from {
        Some(day) => orders.sql(" AND o.created_at >= ").value(zone.start_of(day).naive_utc()),
        None => orders,
    };
    match scope.created_to.and_then(|day| day.checked_add_days(Days::new(1))) {
        Some(day) => from.sql(" AND o.created_at < ").value(zone.start_of(day).naive_utc()),
        None => from,
    }
}

pub(super) fn total(project: i64, scope: ExportScope, zone: Zone) -> Statement {
    let lines = Statement::new(
        "SELECT count(*) FROM orders o JOIN reservations r ON r.order_id = o.id \
         AND r.project_id = o.project_id WHERE o.project_id = ",
    );
    created(lines.value(project), scope, zone)
}

pub(super) fn rows(connection: &mut AnyConnection, asked: &ExportPage) -> Result<Vec<ExportRow>, Abort<StoreError>> {
    let zone = zone(connection, asked.project)?;
    let ExportCursor { record, line } = asked.after;
    // The first condition finds the position in the index, the second one the line.
    let page = Statement::new(SELECT)
        .value(asked.project)
        .sql(" AND o.id >= ")
        .value(record)
        .sql(" AND (o.id > ")
        .value(record)
        .sql(" OR r.id > ")
        .value(line)
        .sql(")");
    let page = created(page, asked.scope, zone).sql(" ORDER BY o.id, r.id");
    let rows: Vec<LineRow> = asked.limited(page).rows(connection)?;
    rows.into_iter().map(|row| Ok(cells(row, zone)?)).collect()
}

fn cells(row: LineRow, zone: Zone) -> Result<ExportRow, StoreError> {
    let (captured, refunded) = (decode::money(row.captured)?, decode::money(row.refunded)?);
    let payment = PaymentState::of(row.paid_at.is_some(), row.payment_open, captured, refunded);
    let parts = [row.last_name, row.first_name, row.middle_name].into_iter().flatten();
    let person = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let cells = vec![
        number(row.order_id),
        moment(zone, row.created_at),
        text(row.status),
        text(Some(payment.word().to_owned())),
        row.paid_at.map_or(Content::Empty, |at| moment(zone, at)),
        number(row.counterparty_id),
        text(Some(row.company.unwrap_or(person))),
        text(row.phone),
        text(row.email),
        number(row.nomenclature_id),
        text(row.article),
        text(Some(row.name)),
        number(row.quantity),
        money(row.unit_price)?,
        money(row.product_discount)?,
        money(row.promo_discount)?,
        money(row.total)?,
        number(row.refunded_quantity),
        money(row.refunded_amount)?,
        money(row.final_price)?,
        money(row.delivery_price)?,
        money(row.final_price.saturating_add(row.delivery_price))?,
    ];
    Ok(ExportRow { at: ExportCursor { record: row.order_id, line: row.line_id }, cells })
}
