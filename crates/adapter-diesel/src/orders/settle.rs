//! What becomes known of a payment attempt, with all that follows for its order, in one commit.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_kernel::StoreError;
use kontor_kernel::history::Author;
use kontor_orders::change::{AttemptChange, Change};
use kontor_orders::model::{AttemptState, OrderStatus, PaidEvent};

use super::attempts::state_name;
use super::history::{self, Entry};
use super::stock;
use crate::database::marks::{Topic, note as mark};
use crate::database::{Abort, AnyConnection};
use crate::schema::{orders, payment_attempts};

/// What is learned; `None` leaves a column as it is.
#[derive(AsChangeset, Default)]
#[diesel(table_name = payment_attempts)]
struct Learned {
    state: Option<&'static str>,
    provider_payment_id: Option<String>,
    confirmation_url: Option<String>,
    reason: Option<String>,
}

/// An order and its project.
#[derive(Clone, Copy)]
struct Target {
    order: i64,
    project: i64,
}

/// Commits the change if the outcome is still open; duplicates, late and reordered news change nothing.
pub(super) fn record(
    connection: &mut AnyConnection,
    attempt: i64,
    change: &AttemptChange,
    at: NaiveDateTime,
) -> Result<Change, Abort<StoreError>> {
    let (learned, next_check_at) = columns(change);
    let next_check_at = next_check_at.map(|next| next.naive_utc());
    let noted_before = noted_before(connection, attempt, change)?;
    let open = payment_attempts::table
        .filter(payment_attempts::id.eq(attempt))
        .filter(payment_attempts::state.eq_any(["prepared", "pending"]));
    let target: Option<(i64, i64)> = diesel::update(open)
        .set((
            learned,
            payment_attempts::checks.eq(payment_attempts::checks + 1),
            payment_attempts::next_check_at.eq(next_check_at),
            payment_attempts::leased_until.eq(None::<NaiveDateTime>),
            payment_attempts::lease_owner.eq(None::<String>),
            payment_attempts::updated_at.eq(at),
        ))
        .returning((payment_attempts::order_id, payment_attempts::project_id))
        .get_result(connection)
        .optional()?;
    let Some((order, project)) = target else { return Ok(Change::Stale) };
    let target = Target { order, project };
    match change {
        AttemptChange::Pending { confirmation_url: Some(url), .. } => {
            diesel::update(waiting(order))
                .set((orders::payment_link.eq(url), orders::updated_at.eq(at)))
                .execute(connection)?;
        }
        AttemptChange::Paid { event, .. } => pay(connection, target, event, at)?,
        AttemptChange::Failed { reason, .. } => give_up(connection, target, reason, at)?,
        AttemptChange::Suspicious { why, .. } => {
            tracing::error!(order, %why, "a payment does not fit its order");
            if !noted_before {
                note(connection, target, "payment_suspicious", OrderStatus::WaitingForPayment, why, at)?;
            }
        }
        AttemptChange::Pending { .. } | AttemptChange::Postponed { .. } => {}
    }
    Ok(Change::Done)
}

/// What is learned, and when to ask again.
fn columns(change: &AttemptChange) -> (Learned, Option<DateTime<Utc>>) {
    match change {
        AttemptChange::Pending { provider_id, confirmation_url, next_check_at } => {
            let learned = Learned {
                state: Some(state_name(AttemptState::Pending)),
                provider_payment_id: Some(provider_id.to_string()),
                confirmation_url: confirmation_url.clone(),
                reason: None,
            };
            (learned, Some(*next_check_at))
        }
        AttemptChange::Paid { provider_id, .. } => {
            let state = Some(state_name(AttemptState::Succeeded));
            (Learned { state, provider_payment_id: Some(provider_id.to_string()), ..Learned::default() }, None)
        }
        AttemptChange::Failed { provider_id, refused, reason } => {
            let state = if *refused { AttemptState::Refused } else { AttemptState::Canceled };
            let learned = Learned {
                state: Some(state_name(state)),
                provider_payment_id: provider_id.as_ref().map(ToString::to_string),
                confirmation_url: None,
                reason: Some(reason.clone()),
            };
            (learned, None)
        }
        AttemptChange::Postponed { why, next_check_at } | AttemptChange::Suspicious { why, next_check_at } => {
            (Learned { reason: Some(why.clone()), ..Learned::default() }, Some(*next_check_at))
        }
    }
}

/// Whether the same suspicion is already in the history.
fn noted_before(connection: &mut AnyConnection, attempt: i64, change: &AttemptChange) -> Result<bool, QueryError> {
    let AttemptChange::Suspicious { why, .. } = change else { return Ok(false) };
    let reason: Option<Option<String>> =
        payment_attempts::table.find(attempt).select(payment_attempts::reason).first(connection).optional()?;
    Ok(reason.flatten().as_ref() == Some(why))
}

#[diesel::dsl::auto_type]
fn waiting(order: i64) -> _ {
    let status: i64 = WAITING;
    orders::table.filter(orders::id.eq(order)).filter(orders::status_id.eq(status))
}

const WAITING: i64 = 2;

fn pay(connection: &mut AnyConnection, target: Target, event: &PaidEvent, at: NaiveDateTime) -> Result<(), QueryError> {
    let paid = diesel::update(waiting(target.order))
        .set((
            orders::status_id.eq(OrderStatus::Paid.id()),
            orders::paid_at.eq(event.paid_at.naive_utc()),
            orders::payment_link.eq(None::<String>),
            orders::version.eq(orders::version + 1),
            orders::updated_at.eq(at),
        ))
        .execute(connection)?;
    if paid == 1 {
        history::announce_paid(connection, event)?;
        return note(connection, target, "paid", OrderStatus::Paid, "", at);
    }
    // Nothing moves an order away while its attempt is open; should it ever happen, the money must be seen.
    tracing::error!(order = target.order, "money arrived for an order that does not wait for it");
    note(connection, target, "paid_out_of_turn", OrderStatus::Canceled, "money arrived out of turn", at)
}

fn give_up(connection: &mut AnyConnection, target: Target, reason: &str, at: NaiveDateTime) -> Result<(), QueryError> {
    let canceled = diesel::update(waiting(target.order))
        .set((
            orders::status_id.eq(OrderStatus::Canceled.id()),
            orders::payment_link.eq(None::<String>),
            orders::version.eq(orders::version + 1),
            orders::updated_at.eq(at),
        ))
        .execute(connection)?;
    if canceled == 1 {
        mark(Topic::Shelves, target.project);
        stock::release(connection, target.order, Author::System, at)?;
        note(connection, target, "payment_failed", OrderStatus::Canceled, reason, at)?;
    }
    Ok(())
}

fn note(
    connection: &mut AnyConnection,
    target: Target,
    event: &str,
    status: OrderStatus,
    detail: &str,
    at: NaiveDateTime,
) -> Result<(), QueryError> {
    let detail = Some(detail).filter(|text| !text.is_empty());
    let entry = Entry { project: target.project, order: target.order, actor: Author::System, event, status, detail };
    history::write(connection, &entry, at)
}
