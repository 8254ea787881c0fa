//! Rows of receipts.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::StoreError;
use kontor_payments::model::{
    ChargeRequest, FiscalReceipt, HandOverRequest, ProviderId, ReceiptKind, ReceiptProblemReport, ReceiptTask,
};

use super::charge_rows::{provider_id, purpose};
use super::refund_rows::receipt;
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::schema::{charges, receipts, refunds};

#[derive(Queryable, Selectable)]
#[diesel(table_name = receipts)]
pub(super) struct ReceiptRow {
    id: i64,
    project_id: i64,
    kind: String,
    state: String,
    body: Option<String>,
    idempotence_key: Option<String>,
    key_made_at: NaiveDateTime,
    asked_at: NaiveDateTime,
    tries: i32,
    provider_receipt_id: Option<String>,
    checks: i32,
    concern_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
}

/// Columns of the charge that a receipt needs.
#[derive(Queryable, Selectable)]
#[diesel(table_name = charges)]
pub(super) struct PaidRow {
    purpose: String,
    purpose_id: i64,
    idempotence_key: String,
    provider_payment_id: Option<String>,
    request: String,
}

/// A receipt with its charge and the acquirer's identifier of its refund.
pub(super) type ReceiptWithOrigin = (ReceiptRow, PaidRow, Option<String>);

/// Returns the rows with these ids, each with its id.
pub(super) fn with_numbers(connection: &mut AnyConnection, ids: &[i64]) -> QueryResult<Vec<(i64, ReceiptWithOrigin)>> {
    let rows: Vec<ReceiptWithOrigin> = receipts::table
        .inner_join(charges::table.on(charges::id.eq(receipts::charge_id)))
        .left_join(refunds::table.on(refunds::id.nullable().eq(receipts::refund_id)))
        .filter(receipts::id.eq_any(ids))
        .order(receipts::id)
        .select((ReceiptRow::as_select(), PaidRow::as_select(), refunds::provider_refund_id.nullable()))
        .load(connection)?;
    Ok(rows.into_iter().map(|row| (row.0.id, row)).collect())
}

pub(super) fn read((row, paid, refund): ReceiptWithOrigin) -> Result<FiscalReceipt, StoreError> {
    let count = |number: i32| u32::try_from(number).map_err(StoreError::corrupt);
    let kind: ReceiptKind = decode::word("receipts", row.id, "kind", &row.kind)?;
    Ok(FiscalReceipt {
        id: decode::id(row.id)?,
        project_id: decode::id(row.project_id)?,
        purpose: purpose(&paid.purpose, paid.purpose_id)?,
        state: decode::word("receipts", row.id, "state", &row.state)?,
        charge_key: decode::text(&paid.idempotence_key)?,
        tries: count(row.tries)?,
        key_made_at: decode::moment(row.key_made_at),
        asked_at: decode::moment(row.asked_at),
        provider_id: provider_id(row.provider_receipt_id.as_deref())?,
        checks: count(row.checks)?,
        overdue_at: row.concern_at.map(decode::moment),
        created_at: decode::moment(row.created_at),
        task: task(kind, &row, &paid, refund.as_deref())?,
    })
}

fn task(kind: ReceiptKind, row: &ReceiptRow, paid: &PaidRow, refund: Option<&str>) -> Result<ReceiptTask, StoreError> {
    let lacks = |what: &str| StoreError::corrupt(format!("receipt {} has no {what}", row.id));
    let known = |id: Option<ProviderId>, what: &str| id.ok_or_else(|| lacks(what));
    let payment = || known(provider_id(paid.provider_payment_id.as_deref())?, "payment");
    Ok(match kind {
        ReceiptKind::Payment => ReceiptTask::Payment(payment()?),
        ReceiptKind::Refund => ReceiptTask::Refund(known(provider_id(refund)?, "refund")?),
        ReceiptKind::HandOver => {
            let asked: ChargeRequest = serde_json::from_str(&paid.request).map_err(StoreError::corrupt)?;
            ReceiptTask::HandOver(HandOverRequest {
                payment: payment()?,
                key: row.idempotence_key.clone().ok_or_else(|| lacks("key"))?,
                currency: asked.currency,
                receipt: receipt(row.body.as_deref())?.ok_or_else(|| lacks("body"))?,
            })
        }
    })
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = receipts)]
struct ConcernRow {
    id: i64,
    project_id: i64,
    kind: String,
    state: String,
    reason: Option<String>,
    created_at: NaiveDateTime,
}

/// Returns the receipts that require an operator, by project.
pub(super) fn concerns(
    connection: &mut AnyConnection,
    project: Option<i64>,
    most: i64,
) -> Result<Vec<ReceiptProblemReport>, Abort<StoreError>> {
    let all = receipts::table
        .inner_join(charges::table.on(charges::id.eq(receipts::charge_id)))
        .filter(receipts::concern_at.is_not_null())
        .order((receipts::project_id, receipts::id))
        .limit(most)
        .select((ConcernRow::as_select(), charges::purpose, charges::purpose_id));
    let rows: Vec<(ConcernRow, String, i64)> = match project {
        Some(project) => all.filter(receipts::project_id.eq(project)).load(connection)?,
        None => all.load(connection)?,
    };
    let concern = |(row, kind, number): (ConcernRow, String, i64)| {
        Ok(ReceiptProblemReport {
            id: decode::id(row.id)?,
            project_id: decode::id(row.project_id)?,
            purpose: purpose(&kind, number)?,
            kind: decode::word("receipts", row.id, "kind", &row.kind)?,
            state: decode::word("receipts", row.id, "state", &row.state)?,
            since: decode::moment(row.created_at),
            reason: row.reason,
        })
    };
    Ok(rows.into_iter().map(concern).collect::<Result<_, StoreError>>()?)
}
