//! Rows of refunds.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::StoreError;
use kontor_payments::model::{ChargeRequest, Receipt, Refund, RefundRequest};

use super::charge_rows::{provider_id, purpose};
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::schema::{charges, refunds};

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
        .inner_join(charges::table.on(charges::id.eq(refunds::charge_id)))
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
