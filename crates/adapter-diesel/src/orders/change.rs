//! Changes of an order by staff.

use diesel::prelude::*;
use kontor_kernel::{OrderId, ProjectScoped};
use kontor_orders::change::OrderUpdate;
use kontor_orders::model::{Order, StockEffect};
use kontor_orders::{OrderError, OrderRefusal};

use super::{assemble, history, notices, replace_lines, reserved_stock};
use crate::customer_data::is_employee;
use crate::database::{Abort, AnyConnection, Topic};
use crate::order_history::{self, Entry};
use crate::schema::orders;
use crate::statement::Statement;

type Refused = Abort<OrderError>;

/// Loads the order and locks it until the transaction ends.
pub(crate) fn locked(connection: &mut AnyConnection, order: OrderId) -> Result<ProjectScoped<Order>, Refused> {
    let row = || Statement::new(" WHERE o.id = ").value(order.get());
    Statement::new("SELECT o.id FROM orders o").then(row()).hold(connection, " FOR NO KEY UPDATE")?;
    let found = assemble::orders(connection, row()).map_err(Abort::into_store)?;
    found.into_iter().next().ok_or(Abort::Refused(OrderError::NotFound))
}

/// Writes a change of a locked order; `before` is its state before the change. Refunded lines are written first, so
/// that their stock is not released twice.
pub(super) fn apply(connection: &mut AnyConnection, before: &Order, change: &OrderUpdate) -> Result<(), Refused> {
    let (order, project, at) = (before.id, change.stamp.project_id.get(), change.stamp.at.naive_utc());
    if let Some(manager) = change.manager.set_value()
        && !is_employee(connection, change.stamp.project_id, *manager)?
    {
        return Err(Abort::Refused(OrderRefusal::UnknownManager.into()));
    }
    let released = change.transition.is_some_and(|step| step.stock == StockEffect::Release);
    let captured = change.captured.as_ref();
    diesel::update(orders::table.find(order.get()))
        .set((
            change.transition.map(|step| orders::status_id.eq(step.to.id())),
            captured.map(|captured| (orders::paid_at.eq(at), orders::captured.eq(captured.amount.minor()))),
            orders::updated_at.eq(at),
            // Each of these columns may also be cleared.
            released.then_some(orders::payment_link.eq(None::<String>)),
            change.manager.as_set().map(|manager| orders::manager_id.eq(manager.map(i64::from))),
            change.comment.as_set().map(|comment| orders::comment.eq(comment.as_deref())),
            change.address.as_set().map(|address| orders::address.eq(address.as_deref())),
            // Any change by an employee confirms an order from the contact form.
            orders::reserved_until.eq(None::<chrono::NaiveDateTime>),
            orders::version.eq(orders::version + 1),
        ))
        .execute(connection)?;
    if let Some(rework) = &change.rework {
        replace_lines::apply(connection, order, rework, &change.stamp)?;
    }
    if change.transition.is_some() {
        connection.invalidate(Topic::Storefront, project);
    }
    match change.transition.map(|step| step.stock) {
        Some(StockEffect::Release) => reserved_stock::release(connection, order.get(), change.stamp.author, at)?,
        Some(StockEffect::Sell) => reserved_stock::sell(connection, order.get(), change.stamp.author, at)?,
        Some(StockEffect::Keep) | None => {}
    }
    if let Some(event) = change.captured.as_ref().and_then(|captured| captured.event.as_ref()) {
        history::announce_paid(connection, event)?;
    }
    for (notice, amount) in change.notices() {
        notices::notify_customer(connection, order, notice, amount, at)?;
    }
    let detail = change.detail();
    let entry = Entry {
        project,
        order: order.get().into(),
        actor: change.stamp.author,
        event: change.event(),
        status: change.status(before),
        detail: detail.as_deref(),
        changes: change.changes(before),
    };
    order_history::write(connection, &entry, at)
}
