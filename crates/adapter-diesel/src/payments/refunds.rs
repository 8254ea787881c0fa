//! Refunds: reserved money, leases and outcomes.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::prelude::*;
use kontor_kernel::{ChargeId, RefundId, StoreError, Word};
use kontor_payments::change::{Change, RefundChange};
use kontor_payments::model::{
    Charge, ChargeRequest, GatewayRefund, NewRefund, ProviderId, Receipt, Refund, RefundIntent, RefundRequest,
    RefundState,
};
use kontor_payments::ports::RefundStored;
use uuid::Uuid;

use super::charges::{provider_id, purpose};
use super::receipts::{self, About};
use crate::database::{Abort, AnyConnection, on_each};
use crate::decode;
use crate::schema::{charges, keyed, referred, refunds};
use crate::statement::Statement;

#[derive(Queryable, Selectable)]
#[diesel(table_name = refunds)]
pub(super) struct RefundRow {
    id: i64,
    project_id: i64,
    charge_id: i64,
    state: String,
    amount: i64,
    description: String,
    receipt: Option<String>,
    idempotence_key: String,
    key_made_at: NaiveDateTime,
    asked_at: NaiveDateTime,
    tries: i32,
    provider_refund_id: Option<String>,
    checks: i32,
    settled_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
}

/// Columns of the charge that a refund needs.
#[derive(Queryable, Selectable)]
#[diesel(table_name = charges)]
pub(super) struct PaidRow {
    purpose: String,
    purpose_id: i64,
    provider_payment_id: Option<String>,
    captured: i64,
    request: String,
}

fn count(number: i32) -> Result<u32, StoreError> {
    u32::try_from(number).map_err(StoreError::corrupt)
}

/// Decodes the receipt of a refund.
pub(super) fn receipt(text: Option<&str>) -> Result<Option<Receipt>, StoreError> {
    text.map(serde_json::from_str).transpose().map_err(StoreError::corrupt)
}

/// A refund with the columns of its charge.
pub(super) type RefundWithCharge = (RefundRow, PaidRow);

pub(super) fn read((row, paid): RefundWithCharge) -> Result<Refund, StoreError> {
    let payment = provider_id(paid.provider_payment_id.as_deref())?;
    let asked: ChargeRequest = serde_json::from_str(&paid.request).map_err(StoreError::corrupt)?;
    Ok(Refund {
        id: decode::id(row.id)?,
        project_id: decode::id(row.project_id)?,
        charge_id: decode::id(row.charge_id)?,
        purpose: purpose(&paid.purpose, paid.purpose_id)?,
        state: decode::word("refunds", row.id, "state", &row.state)?,
        request: RefundRequest {
            payment: payment
                .ok_or_else(|| StoreError::corrupt(format!("refund {} has no payment to refund", row.id)))?,
            key: decode::text(&row.idempotence_key)?,
            amount: decode::money(row.amount)?,
            whole: row.amount == paid.captured,
            currency: asked.currency,
            description: row.description,
            receipt: receipt(row.receipt.as_deref())?,
        },
        key_made_at: decode::moment(row.key_made_at),
        asked_at: decode::moment(row.asked_at),
        tries: count(row.tries)?,
        provider_id: provider_id(row.provider_refund_id.as_deref())?,
        checks: count(row.checks)?,
        settled_at: row.settled_at.map(decode::moment),
        created_at: decode::moment(row.created_at),
    })
}

/// Keys by which refunds are found.
pub(super) enum Key {
    Ids(Vec<i64>),
    Request(String),
    Charge(i64),
}

/// Returns the rows, oldest first.
fn rows(connection: &mut AnyConnection, key: &Key) -> QueryResult<Vec<RefundWithCharge>> {
    let all = refunds::table
        .inner_join(referred!(charges, refunds::charge_id))
        .select((RefundRow::as_select(), PaidRow::as_select()))
        .order(refunds::id);
    match key {
        Key::Ids(ids) => all.filter(refunds::id.eq_any(ids)).load(connection),
        Key::Request(key) => all.filter(refunds::request_key.eq(key)).load(connection),
        Key::Charge(id) => all.filter(refunds::charge_id.eq(id)).load(connection),
    }
}

/// Returns the rows with these ids, each with its id.
pub(super) fn with_numbers(connection: &mut AnyConnection, ids: &[i64]) -> QueryResult<Vec<(i64, RefundWithCharge)>> {
    let rows = rows(connection, &Key::Ids(ids.to_vec()))?;
    Ok(rows.into_iter().map(|row| (row.0.id, row)).collect())
}

pub(super) fn load(connection: &mut AnyConnection, key: &Key) -> Result<Vec<Refund>, Abort<StoreError>> {
    Ok(rows(connection, key)?.into_iter().map(read).collect::<Result<_, StoreError>>()?)
}

/// Stores a refund whose money is reserved. Returns `None` if there is one with this key.
pub(super) fn insert_refund(
    connection: &mut AnyConnection,
    project: i64,
    charge: i64,
    order: &RefundIntent,
    next_check_at: NaiveDateTime,
    at: NaiveDateTime,
) -> Result<Option<i64>, Abort<StoreError>> {
    let key = order.key().to_string();
    let receipt = order.receipt().map(serde_json::to_string).transpose().map_err(StoreError::corrupt)?;
    let values = (
        refunds::project_id.eq(project),
        refunds::charge_id.eq(charge),
        refunds::state.eq(RefundState::Due.word()),
        refunds::amount.eq(order.amount().minor()),
        refunds::description.eq(order.description()),
        refunds::receipt.eq(receipt),
        refunds::request_key.eq(key.clone()),
        refunds::idempotence_key.eq(key),
        refunds::key_made_at.eq(at),
        refunds::asked_at.eq(at),
        refunds::tries.eq(0),
        refunds::checks.eq(0),
        refunds::next_check_at.eq(next_check_at),
        refunds::created_at.eq(at),
        refunds::updated_at.eq(at),
    );
    Ok(on_each!(connection, concrete => {
        diesel::insert_into(refunds::table)
            .values(values)
            .on_conflict_do_nothing()
            .returning(refunds::id)
            .get_result(concrete)
            .optional()
    })?)
}

fn by_request(connection: &mut AnyConnection, order: &RefundIntent) -> Result<Option<Refund>, Abort<StoreError>> {
    Ok(load(connection, &Key::Request(order.key().to_string()))?.pop())
}

/// Reserves the money if the charge has enough left, which locks its row. Returns its project.
fn reserve_money(
    connection: &mut AnyConnection,
    charge: i64,
    amount: i64,
    at: NaiveDateTime,
) -> QueryResult<Option<i64>> {
    let enough = charges::table
        .filter(charges::id.eq(charge))
        .filter((charges::refunded + charges::refunding + amount).le(charges::captured));
    diesel::update(enough)
        .set((charges::refunding.eq(charges::refunding + amount), charges::updated_at.eq(at)))
        .returning(charges::project_id)
        .get_result(connection)
        .optional()
}

/// Ends the reservation of the money: it was refunded or not.
fn release_money(
    connection: &mut AnyConnection,
    project: i64,
    charge: i64,
    amount: i64,
    refunded: bool,
    at: NaiveDateTime,
) -> QueryResult<()> {
    let gone = if refunded { amount } else { 0 };
    diesel::update(charges::table.find(charge).filter(charges::project_id.eq(project)))
        .set((
            charges::refunding.eq(charges::refunding - amount),
            charges::refunded.eq(charges::refunded + gone),
            charges::updated_at.eq(at),
        ))
        .execute(connection)?;
    Ok(())
}

/// Stores a refund and reserves its money on the charge.
pub(crate) fn store(connection: &mut AnyConnection, new: &NewRefund) -> Result<RefundStored, Abort<StoreError>> {
    let (charge, order, at) = (new.charge_id.get(), &new.order, new.at.naive_utc());
    if let Some(known) = by_request(connection, order)? {
        return Ok(RefundStored::Existing(known));
    }
    let amount = order.amount().minor();
    let Some(project) = reserve_money(connection, charge, amount, at)? else {
        // The concurrent transaction may have been the same request.
        if let Some(known) = by_request(connection, order)? {
            return Ok(RefundStored::Existing(known));
        }
        let left: Option<i64> = charges::table
            .find(charge)
            .select(charges::captured - charges::refunded - charges::refunding)
            .first(connection)
            .optional()?;
        let left = left.map(decode::money).transpose()?;
        return Ok(left.map_or(RefundStored::UnknownCharge, |left| RefundStored::ExceedsCharge { left }));
    };
    let next_check_at = new.next_check_at.naive_utc();
    if let Some(id) = insert_refund(connection, project, charge, order, next_check_at, at)? {
        let stored = load(connection, &Key::Ids(vec![id]))?.pop();
        return stored.map(RefundStored::New).ok_or_else(|| StoreError::corrupt("a refund was not found").into());
    }
    release_money(connection, project, charge, amount, false, at)?;
    let known = by_request(connection, order)?;
    known
        .map(RefundStored::Existing)
        .ok_or_else(|| StoreError::corrupt("the key of a refund belongs to another refund").into())
}

/// Columns learned from the acquirer; `None` leaves a column as it is.
#[derive(AsChangeset, Default)]
#[diesel(table_name = refunds)]
struct LearnedColumns {
    state: Option<&'static str>,
    idempotence_key: Option<String>,
    key_made_at: Option<NaiveDateTime>,
    asked_at: Option<NaiveDateTime>,
    reason: Option<String>,
    settled_at: Option<NaiveDateTime>,
}

impl LearnedColumns {
    fn of(change: &RefundChange, at: NaiveDateTime) -> Self {
        let state = change.state();
        let settled_at = state.filter(|state| !state.is_open()).map(|_| at);
        let learned = Self { state: state.map(RefundState::word), settled_at, ..Self::default() };
        match change {
            RefundChange::Pending { .. } | RefundChange::Succeeded { .. } => learned,
            RefundChange::Postponed { why, unanswered, .. } => {
                Self { reason: Some(why.clone()), asked_at: unanswered.then_some(at), ..learned }
            }
            RefundChange::Suspicious { why, .. } | RefundChange::Failed { why } => {
                Self { reason: Some(why.clone()), ..learned }
            }
            RefundChange::Retry { key, why, .. } => Self {
                idempotence_key: Some(key.to_string()),
                key_made_at: Some(at),
                asked_at: Some(at),
                reason: Some(why.clone()),
                ..learned
            },
        }
    }
}

/// Records a change. It applies only to its own attempt, and while the outcome is open.
pub(crate) fn record(
    connection: &mut AnyConnection,
    id: i64,
    key: Uuid,
    change: &RefundChange,
    at: NaiveDateTime,
) -> Result<Change, Abort<StoreError>> {
    let under_way = refunds::table
        .filter(refunds::id.eq(id))
        .filter(refunds::idempotence_key.eq(key.to_string()))
        .filter(refunds::state.eq_any(RefundState::OPEN.map(RefundState::word)));
    let returned = (
        refunds::next_check_at.eq(change.next_check_at().map(|next| next.naive_utc())),
        refunds::leased_until.eq(None::<NaiveDateTime>),
        refunds::lease_owner.eq(None::<String>),
        refunds::updated_at.eq(at),
    );
    let written: Option<(i64, i64, i64)> = diesel::update(under_way)
        .set((LearnedColumns::of(change, at), returned, refunds::checks.eq(refunds::checks + 1)))
        .returning((refunds::project_id, refunds::charge_id, refunds::amount))
        .get_result(connection)
        .optional()?;
    let Some((project, charge_id, amount)) = written else { return Ok(Change::Stale) };
    let row = refunds::table.find(id).filter(refunds::project_id.eq(project));
    match change {
        RefundChange::Pending { provider_id, .. } | RefundChange::Succeeded { provider_id, .. } => {
            diesel::update(row).set(refunds::provider_refund_id.eq(provider_id.as_str())).execute(connection)?;
        }
        RefundChange::Retry { .. } => {
            diesel::update(row)
                .set((
                    refunds::provider_refund_id.eq(None::<String>),
                    refunds::tries.eq(refunds::tries + 1),
                    refunds::checks.eq(0),
                ))
                .execute(connection)?;
        }
        RefundChange::Postponed { .. } | RefundChange::Suspicious { .. } | RefundChange::Failed { .. } => {}
    }
    match change {
        RefundChange::Succeeded { receipt, .. } => {
            release_money(connection, project, charge_id, amount, true, at)?;
            if let Some(registration) = receipt {
                let about = About { project, charge: charge_id, refund: Some(id) };
                receipts::store_sent_receipt(connection, &about, *registration, at)?;
            }
        }
        RefundChange::Failed { .. } => release_money(connection, project, charge_id, amount, false, at)?,
        _ => {}
    }
    Ok(Change::Done)
}

/// Stores a refund that was made outside the service, and counts its money as refunded. The caller has locked the
/// charge and checked that enough is left.
pub(crate) fn insert_outside(
    connection: &mut AnyConnection,
    charge: &Charge,
    intent: &RefundIntent,
    known: &GatewayRefund,
    at: NaiveDateTime,
) -> Result<RefundId, Abort<StoreError>> {
    let (project, charge_id, amount) = (charge.project_id.get(), charge.id.get(), intent.amount().minor());
    if reserve_money(connection, charge_id, amount, at)?.is_none() {
        return Err(StoreError::corrupt(format!("charge {charge_id} has less money than was locked")).into());
    }
    let id = insert_refund(connection, project, charge_id, intent, at, at)?;
    let id = id.ok_or_else(|| StoreError::corrupt("the key of a refund is already in use"))?;
    diesel::update(keyed!(refunds, id, charge.project_id))
        .set((
            refunds::state.eq(RefundState::Succeeded.word()),
            refunds::provider_refund_id.eq(known.id.as_str()),
            refunds::next_check_at.eq(None::<NaiveDateTime>),
            refunds::settled_at.eq(at),
        ))
        .execute(connection)?;
    release_money(connection, project, charge_id, amount, true, at)?;
    if let Some(registration) = known.receipt {
        receipts::store_sent_receipt(
            connection,
            &About { project, charge: charge_id, refund: Some(id) },
            registration,
            at,
        )?;
    }
    Ok(decode::id(id)?)
}

/// Returns `true` if a refund with this identifier of the acquirer is stored.
pub(crate) fn is_known(connection: &mut AnyConnection, id: &ProviderId) -> QueryResult<bool> {
    let found: Option<i64> = refunds::table
        .filter(refunds::provider_refund_id.eq(id.as_str()))
        .select(refunds::id)
        .first(connection)
        .optional()?;
    Ok(found.is_some())
}

/// Interval between comparisons.
const COMPARE_AFTER: TimeDelta = TimeDelta::hours(1);
/// Time for which a comparing worker excludes others.
const COMPARISON_LEASE: TimeDelta = TimeDelta::minutes(10);

fn due_comparison(at: DateTime<Utc>) -> Statement {
    Statement::new("id = 1 AND compared_until <= ")
        .value((at - COMPARE_AFTER).naive_utc())
        .sql(" AND (claimed_until IS NULL OR claimed_until <= ")
        .value(at.naive_utc())
        .sql(")")
}

/// Returns `true` if the next comparison is due. An idle worker takes no write lock.
pub(crate) fn is_comparison_due(connection: &mut AnyConnection, at: DateTime<Utc>) -> QueryResult<bool> {
    Statement::new("SELECT id FROM refund_comparisons WHERE ").then(due_comparison(at)).finds(connection)
}

/// Claims the next comparison if it is due.
pub(crate) fn claim_comparison(
    connection: &mut AnyConnection,
    at: DateTime<Utc>,
) -> QueryResult<Option<NaiveDateTime>> {
    Statement::new("UPDATE refund_comparisons SET claimed_until = ")
        .value((at + COMPARISON_LEASE).naive_utc())
        .sql(" WHERE ")
        .then(due_comparison(at))
        .sql(" RETURNING compared_until")
        .scalar(connection)
        .optional()
}

/// Stores the end of the compared time range.
pub(crate) fn compared(connection: &mut AnyConnection, until: DateTime<Utc>) -> QueryResult<()> {
    Statement::new("UPDATE refund_comparisons SET claimed_until = NULL, compared_until = ")
        .value(until.naive_utc())
        .sql(" WHERE id = 1 AND compared_until < ")
        .value(until.naive_utc())
        .run(connection)
        .map(|_| ())
}

/// Returns a refund of any project.
pub(crate) fn find(connection: &mut AnyConnection, id: RefundId) -> Result<Option<Refund>, Abort<StoreError>> {
    Ok(load(connection, &Key::Ids(vec![id.get()]))?.pop())
}

/// Returns the refunds of a charge, oldest first.
pub(crate) fn of_charge(connection: &mut AnyConnection, charge: ChargeId) -> Result<Vec<Refund>, Abort<StoreError>> {
    load(connection, &Key::Charge(charge.get()))
}
