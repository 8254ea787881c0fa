//! What becomes known of a verification, with all that follows for its customer, in one commit.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_orders::change::Change;
use kontor_orders::model::{RefundState, RefundStep, VerificationChange, VerificationState};
use uuid::Uuid;

use super::verifications::{refund_state_name, state_name};
use crate::database::AnyConnection;
use crate::schema::{counterparties, verification_payments as table};

/// What is learned; `None` leaves a column as it is.
#[derive(AsChangeset, Default)]
#[diesel(table_name = table)]
struct Learned {
    state: Option<&'static str>,
    provider_payment_id: Option<String>,
    confirmation_url: Option<String>,
    reason: Option<String>,
    refund_state: Option<&'static str>,
    refund_key: Option<String>,
    refund_key_at: Option<NaiveDateTime>,
    provider_refund_id: Option<String>,
    settled_at: Option<NaiveDateTime>,
}

/// Commits the change if it still counts; duplicates, late and reordered news change nothing.
pub(super) fn record(
    connection: &mut AnyConnection,
    id: i64,
    change: &VerificationChange,
    at: NaiveDateTime,
) -> Result<Change, QueryError> {
    let (learned, next_check_at) = match change {
        VerificationChange::Refund { key, step } => return record_refund(connection, id, *key, step, at),
        VerificationChange::Pending { provider_id, confirmation_url, next_check_at } => {
            let learned = Learned {
                state: Some(state_name(VerificationState::Pending)),
                provider_payment_id: Some(provider_id.to_string()),
                confirmation_url: confirmation_url.clone(),
                ..Learned::default()
            };
            (learned, Some(next_check_at.naive_utc()))
        }
        VerificationChange::Verified { provider_id, refund_key } => {
            let learned = Learned {
                state: Some(state_name(VerificationState::Succeeded)),
                provider_payment_id: Some(provider_id.to_string()),
                refund_state: Some(refund_state_name(RefundState::Due)),
                refund_key: Some(refund_key.to_string()),
                refund_key_at: Some(at),
                settled_at: Some(at),
                ..Learned::default()
            };
            (learned, Some(at))
        }
        VerificationChange::Failed { provider_id, state, reason } => {
            let learned = Learned {
                state: Some(state_name(*state)),
                provider_payment_id: provider_id.as_ref().map(ToString::to_string),
                reason: Some(reason.clone()),
                settled_at: Some(at),
                ..Learned::default()
            };
            (learned, None)
        }
        VerificationChange::Postponed { why, next_check_at } => {
            (Learned { reason: Some(why.clone()), ..Learned::default() }, Some(next_check_at.naive_utc()))
        }
    };
    let verified = matches!(change, VerificationChange::Verified { .. });
    let open = table::table.filter(table::id.eq(id)).filter(table::state.eq_any(["prepared", "pending"]));
    let customer: Option<i64> = diesel::update(open)
        .set((learned, returned(next_check_at, at), table::checks.eq(table::checks + 1)))
        .returning(table::counterparty_id)
        .get_result(connection)
        .optional()?;
    let Some(customer) = customer else { return Ok(Change::Stale) };
    if verified {
        // The refund is asked about from the beginning.
        diesel::update(table::table.find(id)).set(table::checks.eq(0)).execute(connection)?;
        let present =
            counterparties::table.filter(counterparties::id.eq(customer)).filter(counterparties::deleted_at.is_null());
        diesel::update(present).set(counterparties::verified_at.eq(at)).execute(connection)?;
    }
    Ok(Change::Done)
}

/// A step counts only for the try it is about, and while its outcome is open.
fn record_refund(
    connection: &mut AnyConnection,
    id: i64,
    key: Uuid,
    step: &RefundStep,
    at: NaiveDateTime,
) -> Result<Change, QueryError> {
    let (state, next): (Option<RefundState>, Option<&DateTime<Utc>>) = match step {
        RefundStep::Pending { next_check_at, .. } => (Some(RefundState::Pending), Some(next_check_at)),
        RefundStep::Done { .. } => (Some(RefundState::Done), None),
        RefundStep::Postponed { next_check_at, .. } | RefundStep::Odd { next_check_at, .. } => {
            (None, Some(next_check_at))
        }
        RefundStep::Again { next_check_at, .. } => (Some(RefundState::Due), Some(next_check_at)),
        RefundStep::GivenUp { .. } => (Some(RefundState::Failed), None),
    };
    let mut learned = Learned { refund_state: state.map(refund_state_name), ..Learned::default() };
    match step {
        RefundStep::Pending { id, .. } | RefundStep::Done { id } => learned.provider_refund_id = Some(id.to_string()),
        RefundStep::Again { key, why, .. } => {
            learned.refund_key = Some(key.to_string());
            learned.refund_key_at = Some(at);
            learned.reason = Some(why.clone());
        }
        RefundStep::Postponed { why, .. } | RefundStep::Odd { why, .. } | RefundStep::GivenUp { why } => {
            learned.reason = Some(why.clone());
        }
    }
    let next_check_at = next.map(DateTime::naive_utc);
    let under_way = table::table
        .filter(table::id.eq(id))
        .filter(table::refund_key.eq(key.to_string()))
        .filter(table::refund_state.eq_any(["due", "pending"]));
    let written = diesel::update(under_way)
        .set((learned, returned(next_check_at, at), table::checks.eq(table::checks + 1)))
        .execute(connection)?;
    if written == 0 {
        return Ok(Change::Stale);
    }
    if matches!(step, RefundStep::Again { .. }) {
        diesel::update(table::table.find(id))
            .set((
                table::provider_refund_id.eq(None::<String>),
                table::refund_tries.eq(table::refund_tries + 1),
                table::checks.eq(0),
            ))
            .execute(connection)?;
    }
    Ok(Change::Done)
}

/// The lease is given back, and the next question has its time.
#[derive(AsChangeset)]
#[diesel(table_name = table, treat_none_as_null = true)]
struct Returned {
    next_check_at: Option<NaiveDateTime>,
    leased_until: Option<NaiveDateTime>,
    lease_owner: Option<String>,
    updated_at: NaiveDateTime,
}

fn returned(next_check_at: Option<NaiveDateTime>, at: NaiveDateTime) -> Returned {
    Returned { next_check_at, leased_until: None, lease_owner: None, updated_at: at }
}
