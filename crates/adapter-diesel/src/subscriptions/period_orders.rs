//! Orders of subscription payments: they have no delivery and never change.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::history::Author;
use kontor_kernel::{Money, NomenclatureId, OrderId, StoreError, SubscriptionId, Word as _};
use kontor_orders::model::{OrderEvent, OrderStatus, PaymentMethod, ReservationState};
use kontor_payments::model::VatCode;

use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::order_history::{self, Entry};
use crate::statement::{Statement, Value};

/// Delivery type of orders without delivery: pickup.
const NOTHING_DELIVERED: i64 = 1;

/// A plan that is paid for one period.
#[derive(Debug, Clone)]
pub(super) struct PeriodLine {
    pub item: NomenclatureId,
    pub name: String,
    pub amount: Money,
    /// VAT code; `None` when the project issues no receipts.
    pub vat: Option<VatCode>,
}

/// Order that waits for the payment of a period.
pub(super) struct PeriodOrder<'a> {
    pub project: i64,
    pub application: Option<i64>,
    pub customer: i64,
    pub subscription: SubscriptionId,
    pub lines: &'a [PeriodLine],
    pub total: Money,
    pub method: PaymentMethod,
    pub author: Author,
    pub at: DateTime<Utc>,
}

pub(super) fn place(connection: &mut AnyConnection, order: &PeriodOrder<'_>) -> Result<OrderId, Abort<StoreError>> {
    let (at, status) = (order.at.naive_utc(), OrderStatus::WaitingForPayment);
    let row: [Value; 12] = [
        order.project.into(),
        order.application.into(),
        order.customer.into(),
        status.id().into(),
        order.total.minor().into(),
        order.total.minor().into(),
        NOTHING_DELIVERED.into(),
        order.method.word().into(),
        order.subscription.get().into(),
        at.into(),
        at.into(),
        1_i64.into(),
    ];
    let insert = Statement::new(
        "INSERT INTO orders (product_discount, promo_discount, project_id, application_id, counterparty_id, status_id, \
         original_price, final_price, delivery_type_id, payment_method_type, subscription_id, created_at, updated_at, \
         version) VALUES (0, 0",
    );
    let insert = row.into_iter().fold(insert, |insert, value| insert.sql(", ").value(value));
    let id: i64 = insert.sql(") RETURNING id").scalar(connection)?;
    for line in order.lines {
        insert_line(connection, order, id, line)?;
    }
    let entry = Entry {
        project: order.project,
        order: id.into(),
        actor: order.author,
        event: OrderEvent::Created,
        status,
        detail: None,
        changes: order_history::created(status, order.total, Money::ZERO),
    };
    order_history::write(connection, &entry, at)?;
    Ok(decode::id(id)?)
}

fn insert_line(
    connection: &mut AnyConnection,
    order: &PeriodOrder<'_>,
    id: i64,
    line: &PeriodLine,
) -> QueryResult<usize> {
    let at = order.at.naive_utc();
    let row: [Value; 10] = [
        order.project.into(),
        id.into(),
        line.item.get().into(),
        line.name.as_str().into(),
        line.amount.minor().into(),
        line.amount.minor().into(),
        line.vat.map(|vat| i64::from(vat.get())).into(),
        ReservationState::Held.word().into(),
        at.into(),
        at.into(),
    ];
    let insert = Statement::new(
        "INSERT INTO reservations (quantity, product_discount, promo_discount, is_ticket, project_id, order_id, \
         nomenclature_id, name, unit_price, total, vat_code, state, created_at, updated_at) VALUES (1, 0, 0, FALSE",
    );
    row.into_iter().fold(insert, |insert, value| insert.sql(", ").value(value)).sql(")").run(connection)
}
