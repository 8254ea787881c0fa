//! A change of an order by staff.

use diesel::prelude::*;
use kontor_kernel::{Edit, OfProject, OrderId};
use kontor_orders::change::OrderUpdate;
use kontor_orders::model::{Notice, Order, OrderStatus, StockEffect};
use kontor_orders::{OrderError, OrderRefusal};

use super::history::{self, Entry};
use super::{assemble, notices, reserved_stock, rework};
use crate::database::invalidation::{Topic, invalidate};
use crate::database::{Abort, AnyConnection};
use crate::people::is_employee;
use crate::schema::orders;
use crate::statement::Statement;
use crate::stored;

type Refused = Abort<OrderError>;

/// The order, which nobody else changes until the transaction ends.
pub(crate) fn locked(connection: &mut AnyConnection, order: OrderId) -> Result<OfProject<Order>, Refused> {
    let row = || Statement::new(" WHERE o.id = ").value(order.get());
    if connection.is_postgres() {
        Statement::new("SELECT o.id FROM orders o").then(row()).sql(" FOR NO KEY UPDATE").run(connection)?;
    }
    let found = assemble::orders(connection, row()).map_err(Abort::in_step)?;
    found.into_iter().next().ok_or(Abort::Refused(OrderError::NotFound))
}

/// `None` leaves a column as it is.
#[derive(AsChangeset)]
#[diesel(table_name = orders)]
struct Columns {
    status_id: Option<i64>,
    paid_at: Option<chrono::NaiveDateTime>,
    captured: Option<i64>,
    updated_at: chrono::NaiveDateTime,
}

/// Writes a change of an order that is locked. What goes back is written before: its goods are not released twice.
pub(crate) fn apply(connection: &mut AnyConnection, order: OrderId, change: &OrderUpdate) -> Result<(), Refused> {
    let (id, project, at) = (order.get(), change.stamp.project_id.get(), change.stamp.at.naive_utc());
    if let Some(manager) = change.manager.as_filled()
        && !is_employee(connection, change.stamp.project_id, *manager)?
    {
        return Err(Abort::Refused(OrderRefusal::UnknownManager.into()));
    }
    let columns = Columns {
        status_id: change.transition.map(|step| step.to.id()),
        paid_at: change.captured.as_ref().map(|_| at),
        captured: change.captured.as_ref().map(|captured| captured.amount.minor()),
        updated_at: at,
    };
    let status: i64 = diesel::update(orders::table.find(id))
        .set((columns, orders::version.eq(orders::version + 1)))
        .returning(orders::status_id)
        .get_result(connection)?;
    write_details(connection, order, change)?;
    if let Some(rework) = &change.rework {
        rework::apply(connection, order, rework, &change.stamp)?;
        notices::tell(connection, order, Notice::OrderChanged, None, at)?;
    }
    if change.transition.is_some() {
        invalidate(Topic::Storefront, project);
    }
    match change.transition.map(|step| step.stock) {
        Some(StockEffect::Release) => {
            diesel::update(orders::table.find(id))
                .set((orders::payment_link.eq(None::<String>), orders::version.eq(orders::version + 1)))
                .execute(connection)?;
            reserved_stock::release(connection, id, change.stamp.author, at)?;
        }
        Some(StockEffect::Sell) => reserved_stock::sell(connection, id, change.stamp.author, at)?,
        Some(StockEffect::Keep) | None => {}
    }
    if let Some(event) = change.captured.as_ref().and_then(|captured| captured.event.as_ref()) {
        history::announce_paid(connection, event)?;
    }
    if let Some(step) = change.transition {
        let amount = change.captured.as_ref().map(|captured| captured.amount);
        notices::tell(connection, order, step.notice, amount, at)?;
    }
    let returned = change.refund.as_ref().map(|refund| refund.decided.amount.to_string());
    let detail = change.rework.as_ref().map(|rework| rework.detail.clone()).or(returned);
    let entry = Entry {
        project,
        order: id,
        actor: change.stamp.author,
        event: event(change),
        status: OrderStatus::from_id(status).ok_or_else(|| stored::unknown("orders", id, "status_id", status))?,
        detail: detail.as_deref(),
    };
    Ok(history::write(connection, &entry, at)?)
}

fn event(change: &OrderUpdate) -> &'static str {
    match change {
        OrderUpdate { refund: Some(_), .. } => "refund_requested",
        OrderUpdate { rework: Some(_), .. } => "lines_changed",
        OrderUpdate { payment: Some(_), .. } => "payment_renewed",
        OrderUpdate { transition: Some(_), .. } => "status_changed",
        _ => "changed",
    }
}

/// Each detail may also be emptied.
fn write_details(
    connection: &mut AnyConnection,
    order: OrderId,
    change: &OrderUpdate,
) -> Result<(), diesel::result::Error> {
    let order = orders::table.find(order.get());
    if let Edit::Set(manager) = change.manager {
        diesel::update(order)
            .set((orders::manager_id.eq(manager.map(i64::from)), orders::version.eq(orders::version + 1)))
            .execute(connection)?;
    }
    if let Edit::Set(comment) = &change.comment {
        diesel::update(order)
            .set((orders::comment.eq(comment.as_deref()), orders::version.eq(orders::version + 1)))
            .execute(connection)?;
    }
    if let Edit::Set(address) = &change.address {
        diesel::update(order)
            .set((orders::address.eq(address.as_deref()), orders::version.eq(orders::version + 1)))
            .execute(connection)?;
    }
    Ok(())
}
