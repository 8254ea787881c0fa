//! Outcomes of charges applied to orders. The domain decides the status; the statement that changes the order has the
//! guard.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::history::Author;
use kontor_kernel::{Money, OrderId, StoreError};
use kontor_orders::model::{AfterCharge, ChargeOutcome, OrderEvent, OrderStatus, PaidEvent, StockEffect, Transition};
use uuid::Uuid;

use super::history::{self, Entry, figure};
use super::{notices, reserved_stock};
use crate::database::invalidation::{Topic, invalidate};
use crate::database::{Abort, AnyConnection, Driver};
use crate::decode;
use crate::schema::orders;

/// Outcome or state of a charge.
pub(crate) enum ChargeNews<'a> {
    /// Payment page for the customer.
    Link(&'a str),
    /// The money was captured.
    Succeeded {
        /// Identifier of the event that follows.
        event_id: Uuid,
        /// Captured amount.
        amount: Money,
        /// Currency code, three letters.
        currency: &'a str,
    },
    /// The charge failed for good.
    Failed {
        /// Reason for the failure.
        reason: &'a str,
    },
    /// The service withdrew the charge because another amount has to be paid.
    Withdrawn,
    /// The acquirer reports a payment that differs from the requested one, for the first time.
    Suspicious {
        /// The differing fields.
        why: &'a str,
    },
}

/// An order whose row is locked.
pub(super) struct Locked {
    pub id: OrderId,
    project: i64,
    application: Option<i64>,
    pub status: OrderStatus,
}

#[diesel::dsl::auto_type]
fn one(order: i64) -> _ {
    orders::table.filter(orders::id.eq(order)).select((orders::project_id, orders::application_id, orders::status_id))
}

pub(super) fn lock(connection: &mut AnyConnection, id: OrderId) -> Result<Locked, Abort<StoreError>> {
    let (project, application, status): (i64, Option<i64>, i64) = match connection.driver() {
        Driver::Postgres(pg) => one(id.get()).for_no_key_update().get_result(pg)?,
        // SQLite has one writer.
        Driver::Sqlite(sqlite) => one(id.get()).get_result(sqlite)?,
    };
    let status =
        OrderStatus::from_id(status).ok_or_else(|| StoreError::corrupt(format!("order {id} has status {status}")))?;
    Ok(Locked { id, project, application, status })
}

/// Locks an order until the transaction ends. Returns `true` if it waits for its payment.
pub(crate) fn waits_for_payment(connection: &mut AnyConnection, order: OrderId) -> Result<bool, Abort<StoreError>> {
    Ok(lock(connection, order)?.status == OrderStatus::WaitingForPayment)
}

/// Action required beyond the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "money may be kept that belongs to the customer"]
pub(crate) enum FollowUp {
    /// No action.
    Nothing,
    /// Refund the money: the order is canceled.
    Refund,
    /// Employees check the payment: the order did not wait for it.
    People,
}

pub(crate) fn hear(
    connection: &mut AnyConnection,
    order: OrderId,
    news: &ChargeNews<'_>,
    at: DateTime<Utc>,
) -> Result<FollowUp, Abort<StoreError>> {
    let order = lock(connection, order)?;
    match news {
        ChargeNews::Link(url) => {
            let waits = orders::table
                .filter(orders::id.eq(order.id.get()))
                .filter(orders::status_id.eq(OrderStatus::WaitingForPayment.id()));
            diesel::update(waits)
                .set((
                    orders::payment_link.eq(url),
                    orders::version.eq(orders::version + 1),
                    orders::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
        }
        ChargeNews::Suspicious { why } => {
            enter(connection, &order, Heard::of(OrderEvent::PaymentSuspicious, &order).with(why), at)?;
        }
        ChargeNews::Succeeded { event_id, amount, currency } => {
            match order.status.after_charge(ChargeOutcome::Succeeded) {
                AfterCharge::Moves(step) => {
                    follow(connection, &order, step, at)?;
                    capture(connection, &order, *amount, at)?;
                    if let Some(application) = order.application {
                        let event = PaidEvent {
                            event_id: *event_id,
                            order_id: order.id,
                            application_id: decode::id(application)?,
                            project_id: decode::id(order.project)?,
                            amount: *amount,
                            currency: (*currency).to_owned(),
                            paid_at: at,
                        };
                        history::announce_paid(connection, &event)?;
                    }
                    notices::tell(connection, order.id, step.notice, Some(*amount), at.naive_utc())?;
                    let paid = Heard::of(OrderEvent::Paid, &order);
                    enter(connection, &order, Heard { to: step.to, captured: Some(*amount), ..paid }, at)?;
                }
                AfterCharge::Returns => {
                    capture(connection, &order, *amount, at)?;
                    let late = Heard::of(OrderEvent::PaidAfterCancellation, &order);
                    let amount_text = amount.to_string();
                    enter(connection, &order, Heard { captured: Some(*amount), ..late.with(&amount_text) }, at)?;
                    return Ok(FollowUp::Refund);
                }
                AfterCharge::Unexpected => {
                    // No transition moves an order away while its charge is open. Should it ever happen, the money must
                    // be visible.
                    tracing::error!(order = %order.id, "a payment arrived for an order that expects no payment");
                    capture(connection, &order, *amount, at)?;
                    let odd = Heard::of(OrderEvent::PaidOutOfTurn, &order).with("the payment was not expected");
                    enter(connection, &order, Heard { captured: Some(*amount), ..odd }, at)?;
                    return Ok(FollowUp::People);
                }
                AfterCharge::Stays => {}
            }
        }
        ChargeNews::Withdrawn => {
            let row = orders::table.find(order.id.get());
            diesel::update(row)
                .set((
                    orders::payment_link.eq(None::<String>),
                    orders::version.eq(orders::version + 1),
                    orders::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
            enter(connection, &order, Heard::of(OrderEvent::PaymentWithdrawn, &order), at)?;
        }
        ChargeNews::Failed { reason } => match order.status.after_charge(ChargeOutcome::Failed) {
            AfterCharge::Moves(step) => {
                follow(connection, &order, step, at)?;
                notices::tell(connection, order.id, step.notice, None, at.naive_utc())?;
                let failed = Heard::of(OrderEvent::PaymentFailed, &order).with(reason);
                enter(connection, &order, Heard { to: step.to, ..failed }, at)?;
            }
            AfterCharge::Stays | AfterCharge::Returns | AfterCharge::Unexpected => {}
        },
    }
    Ok(FollowUp::Nothing)
}

fn capture(
    connection: &mut AnyConnection,
    order: &Locked,
    amount: Money,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    diesel::update(orders::table.find(order.id.get()))
        .set((
            orders::captured.eq(amount.minor()),
            orders::paid_at.eq(at.naive_utc()),
            orders::version.eq(orders::version + 1),
            orders::updated_at.eq(at.naive_utc()),
        ))
        .execute(connection)?;
    Ok(())
}

/// Changes the status of the order and its stock.
pub(super) fn follow(
    connection: &mut AnyConnection,
    order: &Locked,
    step: Transition,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let (id, moment) = (order.id.get(), at.naive_utc());
    let moved = diesel::update(orders::table.filter(orders::id.eq(id)).filter(orders::status_id.eq(step.from.id())))
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
            invalidate(Topic::Storefront, order.project);
            reserved_stock::release(connection, id, Author::System, moment)?;
        }
        StockEffect::Sell => {
            invalidate(Topic::Storefront, order.project);
            reserved_stock::sell(connection, id, Author::System, moment)?;
        }
    }
    Ok(())
}

/// Details of an outcome for the history entry.
pub(super) struct Heard<'a> {
    pub event: OrderEvent,
    /// Status that the outcome leads to.
    pub to: OrderStatus,
    pub detail: Option<&'a str>,
    pub captured: Option<Money>,
}

impl<'a> Heard<'a> {
    pub fn of(event: OrderEvent, order: &Locked) -> Self {
        Self { event, to: order.status, detail: None, captured: None }
    }

    fn with(self, detail: &'a str) -> Self {
        Self { detail: Some(detail), ..self }
    }
}

pub(super) fn enter(
    connection: &mut AnyConnection,
    order: &Locked,
    heard: Heard<'_>,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let moved = (heard.to != order.status).then(|| figure("status_id", order.status.id(), heard.to.id()));
    let captured = heard.captured.map(|amount| figure("captured_amount", Money::ZERO, amount));
    let entry = Entry {
        project: order.project,
        order: order.id.get().into(),
        actor: Author::System,
        event: heard.event,
        status: heard.to,
        detail: heard.detail,
        changes: moved.into_iter().chain(captured).collect(),
    };
    history::write(connection, &entry, at.naive_utc())
}
