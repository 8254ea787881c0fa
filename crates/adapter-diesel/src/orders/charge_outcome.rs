//! Effects of charges on orders: `kontor_orders::charge_outcome` decides them under the lock of the order.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::history::Author;
use kontor_kernel::{OrderId, StoreError};
use kontor_orders::change::Captured;
use kontor_orders::charge_outcome::{self, LateRefund, LockedOrder, OrderEffects, not_refunded};
use kontor_orders::model::{OrderStatus, StockEffect, Transition};
use kontor_orders::refund::RefundRefused;
use kontor_orders::{OrderError, OrderRefusal};
use kontor_payments::change::{ChargeChange, RecordedChange};
use kontor_payments::model::Charge;

use super::refunds::{RefundContext, request_refund};
use super::store::locked;
use super::{history, reservations, to_storage};
use crate::database::{Abort, AnyConnection, Driver, Topic};
use crate::decode;
use crate::schema::{keyed, orders};

type Failed = Abort<StoreError>;

#[diesel::dsl::auto_type]
fn one(order: i64) -> _ {
    orders::table.filter(orders::id.eq(order)).select((orders::project_id, orders::application_id, orders::status_id))
}

/// Locks an order until the transaction ends.
pub(super) fn lock(connection: &mut AnyConnection, id: OrderId) -> Result<LockedOrder, Failed> {
    let (project, application, status): (i64, Option<i64>, i64) = match connection.driver() {
        Driver::Postgres(pg) => one(id.get()).for_no_key_update().get_result(pg)?,
        // SQLite has one writer.
        Driver::Sqlite(sqlite) => one(id.get()).get_result(sqlite)?,
    };
    let status =
        OrderStatus::from_id(status).ok_or_else(|| StoreError::corrupt(format!("order {id} has status {status}")))?;
    let (project_id, application_id) = (decode::id(project)?, decode::optional_id(application)?);
    Ok(LockedOrder { id, project_id, application_id, status })
}

/// Effect of a charge on an order, for the other records that depend on the charge.
#[derive(Default)]
#[must_use = "staff must check the money"]
pub(crate) struct ChargeEffect {
    /// `true` if the money does not pay the order.
    pub returns_money: bool,
    /// Reason why staff must check the charge.
    pub review: Option<String>,
}

/// Applies an update of a charge to its order.
pub(crate) fn apply_charge(
    connection: &mut AnyConnection,
    id: OrderId,
    recorded: &RecordedChange<'_>,
    at: DateTime<Utc>,
) -> Result<ChargeEffect, Failed> {
    if !charge_outcome::is_relevant(recorded) {
        return Ok(ChargeEffect::default());
    }
    let order = lock(connection, id)?;
    let whole = || locked(connection, id).map_err(to_storage);
    let effects = charge_outcome::decide(&order, recorded, at, whole)?;
    write(connection, &order, &effects, at)?;
    let unpaid = match &effects.refund {
        Some(late) => refund(connection, id, &recorded.charge, late, at)?,
        None => None,
    };
    Ok(ChargeEffect { returns_money: effects.returns_money, review: effects.review.or(unpaid) })
}

/// Applies a doubt about a charge to its order.
pub(crate) fn apply_doubt(
    connection: &mut AnyConnection,
    id: OrderId,
    why: &str,
    at: DateTime<Utc>,
) -> Result<(), Failed> {
    let order = lock(connection, id)?;
    write(connection, &order, &charge_outcome::decide_contradiction(&order, why), at)
}

/// Refunds the money of a charge because the subscription that its order pays is canceled. Returns the reason for a
/// review if it cannot be refunded. The caller has locked the order.
pub(crate) fn refund_late_money(
    connection: &mut AnyConnection,
    id: OrderId,
    recorded: &RecordedChange<'_>,
    at: DateTime<Utc>,
) -> Result<Option<String>, Failed> {
    let ChargeChange::Succeeded { event_id, .. } = recorded.change else { return Ok(None) };
    let order = locked(connection, id).map_err(to_storage)?;
    match charge_outcome::late_refund(order, &recorded.charge, *event_id, at) {
        Ok(Some(late)) => refund(connection, id, &recorded.charge, &late, at),
        Ok(None) => Ok(None),
        Err(why) => Ok(Some(why)),
    }
}

/// Stores the refund of late money. Returns the reason for a review if the charge has less money left.
fn refund(
    connection: &mut AnyConnection,
    id: OrderId,
    charge: &Charge,
    late: &LateRefund,
    at: DateTime<Utc>,
) -> Result<Option<String>, Failed> {
    let project = charge.project_id.get();
    let context = RefundContext { project, order: id, by: Author::System, at: at.naive_utc() };
    match request_refund(connection, context, &late.refund, Some((charge.id, late.request.clone())), at) {
        // It is refused before any write.
        Err(Abort::Refused(OrderError::Refused(OrderRefusal::Refund(refused @ RefundRefused::ExceedsPaid { .. })))) => {
            Ok(Some(not_refunded(refused)))
        }
        stored => stored.map(|()| None).map_err(to_storage),
    }
}

/// Writes the effects on a locked order, except the refund and the review.
pub(super) fn write(
    connection: &mut AnyConnection,
    order: &LockedOrder,
    effects: &OrderEffects,
    at: DateTime<Utc>,
) -> Result<(), Failed> {
    let moment = at.naive_utc();
    if let Some(step) = effects.transition {
        apply_transition(connection, order, step, at)?;
    }
    if let Some(link) = effects.payment_link.as_set() {
        diesel::update(keyed!(orders, order.id.get(), order.project_id))
            .set((
                orders::payment_link.eq(link.as_deref()),
                orders::version.eq(orders::version + 1),
                orders::updated_at.eq(moment),
            ))
            .execute(connection)?;
    }
    if let Some(captured) = &effects.captured {
        capture(connection, order, captured, at)?;
    }
    if let Some(notice) = effects.notice {
        let amount = effects.captured.as_ref().map(|captured| captured.amount);
        history::notify_customer(connection, order.id, notice, amount, moment)?;
    }
    match &effects.entry {
        Some(entry) => history::add_entry(connection, order.project_id.get(), order.id, entry, moment),
        None => Ok(()),
    }
}

fn capture(
    connection: &mut AnyConnection,
    order: &LockedOrder,
    captured: &Captured,
    at: DateTime<Utc>,
) -> Result<(), Failed> {
    diesel::update(keyed!(orders, order.id.get(), order.project_id))
        .set((
            orders::captured.eq(captured.amount.minor()),
            orders::paid_at.eq(at.naive_utc()),
            orders::version.eq(orders::version + 1),
            orders::updated_at.eq(at.naive_utc()),
        ))
        .execute(connection)?;
    if let Some(event) = &captured.event {
        history::announce_paid(connection, event)?;
    }
    Ok(())
}

/// Changes the status of the order and its stock.
fn apply_transition(
    connection: &mut AnyConnection,
    order: &LockedOrder,
    step: Transition,
    at: DateTime<Utc>,
) -> Result<(), Failed> {
    let (id, project, moment) = (order.id.get(), order.project_id.get(), at.naive_utc());
    let moved = diesel::update(keyed!(orders, id, order.project_id).filter(orders::status_id.eq(step.from.id())))
        .set((
            orders::status_id.eq(step.to.id()),
            orders::payment_link.eq(None::<String>),
            orders::reserved_until.eq(None::<chrono::NaiveDateTime>),
            orders::version.eq(orders::version + 1),
            orders::updated_at.eq(moment),
        ))
        .execute(connection)?;
    if moved != 1 {
        return Err(StoreError::Failed(format!("order {id} changed although its row was locked")).into());
    }
    match step.stock {
        StockEffect::Keep => {}
        StockEffect::Release => {
            connection.invalidate(Topic::Storefront, project);
            reservations::release(connection, project, id, Author::System, moment)?;
        }
        StockEffect::Sell => {
            connection.invalidate(Topic::Storefront, project);
            reservations::sell(connection, project, id, Author::System, moment)?;
        }
    }
    Ok(())
}
