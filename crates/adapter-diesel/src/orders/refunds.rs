//! Refunds of orders: lines, stock and the state of the money. Refunds requested at the acquirer reserve money on the
//! charge of the order.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::history::Author;
use kontor_kernel::{ChargeId, OrderId, ProjectId, RefundId, StoreError, Word};
use kontor_orders::change::OrderedRefund;
use kontor_orders::model::{Order, OrderRefund, OrderRefundState, OrderStatus, ReservationState};
use kontor_orders::refund::{OutsideRefund, RefundRefused, ReturnEffect, ReturnedLine, SettledRefund};
use kontor_orders::{OrderError, OrderRefusal};
use kontor_payments::model::{Charge, NewRefund, RefundIntent};
use kontor_payments::ports::RefundStored;

use super::history::{add_entry, notify_customer};
use super::{tickets, to_storage};
use crate::database::{Abort, AnyConnection, Topic};
use crate::decode;
use crate::locks::lock_items;
use crate::payments::{self, Key};
use crate::read_models::offers;
use crate::schema::{keyed, order_refunds, orders};
use crate::statement::{Statement, Value, by_place};
use crate::stock::{self, Cause, Movement, Reason};

type Refused = Abort<OrderError>;

by_place! {
    struct RefundRow {
        id: i64,
        order_id: i64,
        amount: i64,
        of_lines: i64,
        state: String,
        reason: String,
        restock: bool,
        created_at: NaiveDateTime,
        settled_at: Option<NaiveDateTime>,
    }
}

/// Loads the refunds of these orders, oldest first.
pub(super) fn of_orders(
    connection: &mut AnyConnection,
    orders: &[i64],
) -> Result<BTreeMap<i64, Vec<OrderRefund>>, Abort<StoreError>> {
    let rows: Vec<RefundRow> = Statement::new(
        "SELECT f.id, f.order_id, f.amount, CAST(COALESCE((SELECT sum(l.amount) FROM order_refund_lines l WHERE \
         l.order_refund_id = f.id), 0) AS BIGINT), f.state, f.reason, f.restock, f.created_at, f.settled_at FROM \
         order_refunds f WHERE f.order_id",
    )
    .among(orders)
    .sql(" ORDER BY f.order_id, f.id")
    .rows(connection)?;
    let mut refunds: BTreeMap<i64, Vec<OrderRefund>> = BTreeMap::new();
    for row in rows {
        let state = OrderRefundState::from_word(&row.state);
        refunds.entry(row.order_id).or_default().push(OrderRefund {
            id: decode::id(row.id)?,
            amount: decode::money(row.amount)?,
            delivery: decode::money(row.amount - row.of_lines)?,
            state: state.ok_or_else(|| decode::unknown("order_refunds", row.id, "state", &row.state))?,
            reason: row.reason,
            restock: row.restock,
            created_at: decode::moment(row.created_at),
            settled_at: row.settled_at.map(decode::moment),
        });
    }
    Ok(refunds)
}

/// Author, project and time of a refund.
#[derive(Clone, Copy)]
pub(super) struct RefundContext {
    pub project: i64,
    pub order: OrderId,
    pub by: Author,
    pub at: NaiveDateTime,
}

/// Way in which the money is refunded.
#[derive(Clone, Copy)]
pub(super) enum RefundChannel {
    /// The acquirer is requested to make this refund.
    Requested(RefundId),
    /// The acquirer has made this refund already.
    AlreadyMade(RefundId),
    /// Refunded manually.
    Manual,
}

impl RefundChannel {
    fn refund(self) -> Option<i64> {
        match self {
            Self::Requested(id) | Self::AlreadyMade(id) => Some(id.get()),
            Self::Manual => None,
        }
    }
}

/// Stores a refund of lines and counts its money as pending or refunded. The caller has locked the order.
fn store_line_refund(
    connection: &mut AnyConnection,
    context: RefundContext,
    refund: &OrderedRefund,
    way: RefundChannel,
) -> Result<(), Refused> {
    let (order, at) = (context.order.get(), context.at);
    return_lines(connection, context, &refund.decided.lines)?;
    tickets::recount(connection, context.project, order)?;
    let amount = refund.decided.amount.minor();
    let (state, settled_at, refunding, refunded) = match way {
        RefundChannel::Requested(_) => (OrderRefundState::Pending, None, amount, 0),
        RefundChannel::AlreadyMade(_) | RefundChannel::Manual => (OrderRefundState::Succeeded, Some(at), 0, amount),
    };
    let enough = orders::table
        .find(order)
        .filter(orders::project_id.eq(context.project))
        .filter((orders::refunded + orders::refunding + refunding + refunded).le(orders::captured));
    let set_aside = diesel::update(enough)
        .set((
            orders::refunding.eq(orders::refunding + refunding),
            orders::refunded.eq(orders::refunded + refunded),
            orders::version.eq(orders::version + 1),
            orders::updated_at.eq(at),
        ))
        .execute(connection)?;
    if set_aside == 0 {
        return Err(StoreError::corrupt(format!("order {order} has less money than its lines")).into());
    }
    let (actor, actor_id) = decode::actor(context.by);
    let id: i64 = diesel::insert_into(order_refunds::table)
        .values((
            order_refunds::project_id.eq(context.project),
            order_refunds::order_id.eq(order),
            order_refunds::refund_id.eq(way.refund()),
            order_refunds::state.eq(state.word()),
            order_refunds::amount.eq(amount),
            order_refunds::reason.eq(&refund.reason),
            order_refunds::restock.eq(refund.restock),
            order_refunds::actor.eq(actor),
            order_refunds::actor_id.eq(actor_id),
            order_refunds::created_at.eq(at),
            order_refunds::settled_at.eq(settled_at),
        ))
        .returning(order_refunds::id)
        .get_result(connection)?;
    let lines = refund.decided.lines.iter().map(|line| -> Vec<Value> {
        vec![
            context.project.into(),
            id.into(),
            line.line.get().into(),
            i64::from(line.quantity).into(),
            line.amount.minor().into(),
        ]
    });
    // The delivery price may be refunded alone.
    if !refund.decided.lines.is_empty() {
        let insert =
            "INSERT INTO order_refund_lines (project_id, order_refund_id, reservation_id, quantity, amount) VALUES ";
        Statement::new(insert).tuples(lines).once().run(connection)?;
    }
    if let Some(notice) = refund.notice(matches!(way, RefundChannel::Requested(_))) {
        notify_customer(connection, context.order, notice, Some(refund.decided.amount), at)?;
    }
    Ok(())
}

/// Stores a refund that was made at the acquirer, outside the service. The caller has locked the order.
pub(crate) fn add_outside_refund(
    connection: &mut AnyConnection,
    charge: &Charge,
    order: OrderId,
    made: &OutsideRefund,
    stored: RefundId,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let (project, at) = (charge.project_id.get(), at.naive_utc());
    let context = RefundContext { project, order, by: Author::System, at };
    store_line_refund(connection, context, &made.refund, RefundChannel::AlreadyMade(stored)).map_err(to_storage)?;
    add_entry(connection, project, order, &made.entry, at)
}

by_place! {
    struct LineRow {
        inventory: Option<i64>,
        item: i64,
    }
}

fn return_lines(connection: &mut AnyConnection, context: RefundContext, lines: &[ReturnedLine]) -> Result<(), Refused> {
    let mut moving = Vec::new();
    for line in lines {
        let (state, quantity) = (ReservationState::Released.word(), i64::from(line.quantity));
        let statement = Statement::new("UPDATE reservations SET refunded_quantity = refunded_quantity + ")
            .value(quantity)
            .sql(", refunded_amount = refunded_amount + ")
            .value(line.amount.minor())
            .sql(", state = CASE WHEN state = 'held' AND refunded_quantity + ")
            .value(quantity)
            .sql(" = quantity THEN ")
            .value(state)
            .sql(" ELSE state END, updated_at = ")
            .value(context.at)
            .sql(" WHERE id = ")
            .value(line.line.get())
            .sql(" AND order_id = ")
            .value(context.order.get())
            .sql(" AND project_id = ")
            .value(context.project)
            .sql(" RETURNING inventory_id, nomenclature_id");
        let LineRow { inventory, item } = statement.row(connection)?;
        if let Some(inventory) = inventory.filter(|_| line.effect != ReturnEffect::None) {
            moving.push((inventory, item, *line));
        }
    }
    if moving.is_empty() {
        return Ok(());
    }
    connection.invalidate(Topic::Storefront, context.project);
    moving.sort_by_key(|(inventory, ..)| *inventory);
    lock_items(connection, &moving.iter().map(|(_, item, _)| *item).collect::<Vec<_>>())?;
    let mut moved: BTreeMap<&str, (Reason, Vec<Movement>)> = BTreeMap::new();
    for (inventory, _, line) in moving {
        let (reason, movement) = move_goods(connection, (context.project, inventory), &line, context.at)?;
        moved.entry(reason.word()).or_insert_with(|| (reason, Vec::new())).1.push(movement);
    }
    let mut returned = Vec::new();
    for (reason, movements) in moved.values() {
        let cause = Cause::of_order(*reason, context.order.get(), context.by, context.at);
        stock::write_movements(connection, movements, &cause)?;
        let free = movements.iter().filter(|movement| movement.left() == movement.quantity - movement.reserved);
        returned.extend(free.map(|movement| movement.item));
    }
    offers::refresh_locked(connection, &returned)?;
    Ok(())
}

fn move_goods(
    connection: &mut AnyConnection,
    (project, inventory): (i64, i64),
    line: &ReturnedLine,
    at: NaiveDateTime,
) -> Result<(Reason, Movement), Refused> {
    let (pieces, stocked) = (i64::from(line.quantity), (project, inventory));
    Ok(match line.effect {
        ReturnEffect::Release => (Reason::Release, stock::release_reserved(connection, stocked, pieces, at)?),
        ReturnEffect::WriteOff => (Reason::WriteOff, stock::remove_reserved(connection, stocked, pieces, at)?),
        ReturnEffect::Restock | ReturnEffect::None => {
            let gone = RefundRefused::WarehouseDeleted { line: line.line };
            let back = stock::put_back(connection, stocked, pieces, at)?;
            (Reason::Return, back.ok_or(Abort::Refused(OrderRefusal::Refund(gone).into()))?)
        }
    })
}

/// Applies the outcome of a refund: succeeded or failed. Returned lines stay returned; money that was not refunded can
/// be refunded again.
pub(crate) fn apply_refund_outcome(
    connection: &mut AnyConnection,
    project: ProjectId,
    order: OrderId,
    refund: RefundId,
    state: OrderRefundState,
    at: NaiveDateTime,
) -> Result<(), Abort<StoreError>> {
    let known: Option<(i64, i64)> = diesel::update(
        order_refunds::table
            .filter(order_refunds::refund_id.eq(refund.get()))
            .filter(order_refunds::project_id.eq(project.get()))
            .filter(order_refunds::state.eq(OrderRefundState::Pending.word())),
    )
    .set((order_refunds::state.eq(state.word()), order_refunds::settled_at.eq(at)))
    .returning((order_refunds::id, order_refunds::amount))
    .get_result(connection)
    .optional()?;
    let Some((id, amount)) = known else { return Ok(()) };
    let gone = if state == OrderRefundState::Succeeded { amount } else { 0 };
    let (status, refunding, refunded): (i64, i64, i64) = diesel::update(keyed!(orders, order.get(), project))
        .set((
            orders::refunding.eq(orders::refunding - amount),
            orders::refunded.eq(orders::refunded + gone),
            orders::version.eq(orders::version + 1),
            orders::updated_at.eq(at),
        ))
        .returning((orders::status_id, orders::refunding, orders::refunded))
        .get_result(connection)?;
    if state == OrderRefundState::Failed {
        Statement::new(
            "UPDATE reservations SET refunded_amount = refunded_amount - (SELECT l.amount FROM order_refund_lines l \
             WHERE l.order_refund_id = ",
        )
        .value(id)
        .sql(
            " AND l.reservation_id = reservations.id) WHERE id IN (SELECT reservation_id FROM order_refund_lines \
              WHERE order_refund_id = ",
        )
        .value(id)
        .sql(") AND project_id = ")
        .value(project.get())
        .run(connection)?;
    }
    let status =
        OrderStatus::from_id(status).ok_or_else(|| decode::unknown("orders", order.get(), "status_id", status))?;
    let settled = SettledRefund {
        amount: decode::money(amount)?,
        state,
        status,
        refunding: decode::money(refunding)?,
        refunded: decode::money(refunded)?,
    };
    if let Some(notice) = settled.notice() {
        notify_customer(connection, order, notice, Some(settled.amount), at)?;
    }
    add_entry(connection, project.get(), order, &settled.entry(), at)
}

fn refuse(refused: RefundRefused) -> Refused {
    Abort::Refused(OrderRefusal::Refund(refused).into())
}

/// Returns the request of a refund. Orders that were paid manually are refunded manually.
pub(super) fn request_of(
    connection: &mut AnyConnection,
    order: &Order,
    refund: &OrderedRefund,
    charge: Option<ChargeId>,
) -> Result<Option<(ChargeId, RefundIntent)>, Refused> {
    let Some(id) = charge.filter(|_| !refund.decided.amount.is_zero()) else { return Ok(None) };
    let charge = payments::load(connection, &Key::Id(id.get())).map_err(Abort::into_store)?;
    let paid = charge.and_then(|charge| charge.request.receipt);
    Ok(refund.request(order, paid.as_ref()).map_err(refuse)?.map(|request| (id, request)))
}

/// Stores a refund, and its request with the money reserved on the charge.
pub(super) fn request_refund(
    connection: &mut AnyConnection,
    context: RefundContext,
    refund: &OrderedRefund,
    request: Option<(ChargeId, RefundIntent)>,
    at: DateTime<Utc>,
) -> Result<(), Refused> {
    let way = match request {
        None => RefundChannel::Manual,
        Some((charge_id, order)) => {
            let new = NewRefund { charge_id, order, next_check_at: at, at };
            match payments::store_refund(connection, &new).map_err(Abort::into_store)? {
                RefundStored::New(stored) | RefundStored::Existing(stored) => RefundChannel::Requested(stored.id),
                RefundStored::ExceedsCharge { left } => return Err(refuse(RefundRefused::ExceedsPaid { left })),
                RefundStored::UnknownCharge => return Err(StoreError::corrupt("a charge was not found").into()),
            }
        }
    };
    store_line_refund(connection, context, refund, way)
}
