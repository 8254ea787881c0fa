//! Receipts that require an operator, and the operator's decisions.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{ProjectId, ReceiptId, StoreError, Word};
use kontor_payments::model::{HandOverRequest, ReceiptKind, ReceiptProblemReport, ReceiptState};
use uuid::Uuid;

use super::receipt_rows::concerns;
use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::schema::{charges, receipts};

impl Database {
    /// Returns the receipts that require an operator: canceled or overdue. Of one project or of all, up to the given
    /// number.
    pub async fn receipt_concerns(
        &self,
        project: Option<ProjectId>,
        most: u32,
    ) -> Result<Vec<ReceiptProblemReport>, StoreError> {
        self.read(move |connection| concerns(connection, project.map(ProjectId::get), most.into())).await
    }

    /// Returns the number of receipts that require an operator.
    pub async fn count_receipts_to_review(&self) -> Result<u64, StoreError> {
        self.read(|connection| {
            let counted: i64 =
                receipts::table.filter(receipts::concern_at.is_not_null()).count().get_result(connection)?;
            Ok::<_, Abort<StoreError>>(counted.unsigned_abs())
        })
        .await
    }

    /// Schedules another check of a canceled receipt; a hand-over receipt is requested again with a new key. Returns
    /// `false` if there is no such receipt, or none that could be requested.
    pub async fn retry_receipt(&self, id: ReceiptId, at: DateTime<Utc>) -> Result<bool, StoreError> {
        self.write(move |connection| retry_review(connection, id.get(), at.naive_utc())).await
    }

    /// Marks a receipt that required an operator as done. Returns `false` if there is none.
    pub async fn close_receipt_review(&self, id: ReceiptId, at: DateTime<Utc>) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let at = at.naive_utc();
            let concern = receipts::table.filter(receipts::id.eq(id.get())).filter(receipts::concern_at.is_not_null());
            let settled = diesel::update(concern)
                .set((
                    receipts::state.eq(ReceiptState::Succeeded.word()),
                    receipts::body.eq(None::<String>),
                    receipts::next_check_at.eq(None::<NaiveDateTime>),
                    receipts::concern_at.eq(None::<NaiveDateTime>),
                    receipts::settled_at.eq(at),
                    receipts::updated_at.eq(at),
                ))
                .execute(connection)?;
            Ok::<_, Abort<StoreError>>(settled == 1)
        })
        .await
    }
}

fn retry_review(connection: &mut AnyConnection, id: i64, at: NaiveDateTime) -> Result<bool, Abort<StoreError>> {
    let found: Option<(String, Option<String>, i32, String)> = receipts::table
        .inner_join(charges::table.on(charges::id.eq(receipts::charge_id)))
        .filter(receipts::id.eq(id))
        .filter(receipts::state.eq(ReceiptState::Canceled.word()))
        .select((receipts::kind, receipts::body, receipts::tries, charges::idempotence_key))
        .first(connection)
        .optional()?;
    let Some((kind, body, tries, charge)) = found else { return Ok(false) };
    let kind: ReceiptKind = decode::word("receipts", id, "kind", &kind)?;
    let (state, key) = match kind {
        ReceiptKind::Payment | ReceiptKind::Refund => (ReceiptState::Pending, None),
        ReceiptKind::HandOver if body.is_none() => return Ok(false),
        ReceiptKind::HandOver => {
            let (charge, next): (Uuid, _) = (decode::text(&charge)?, u32::try_from(tries + 1));
            (ReceiptState::Due, Some(HandOverRequest::key(charge, next.map_err(StoreError::corrupt)?)))
        }
    };
    let canceled = receipts::table
        .filter(receipts::id.eq(id))
        .filter(receipts::tries.eq(tries))
        .filter(receipts::state.eq(ReceiptState::Canceled.word()));
    let asked = diesel::update(canceled)
        .set((
            receipts::state.eq(state.word()),
            receipts::idempotence_key.eq(key),
            receipts::tries.eq(tries + 1),
            receipts::provider_receipt_id.eq(None::<String>),
            receipts::checks.eq(0),
            receipts::key_made_at.eq(at),
            receipts::asked_at.eq(at),
            receipts::next_check_at.eq(at),
            receipts::concern_at.eq(None::<NaiveDateTime>),
            receipts::settled_at.eq(None::<NaiveDateTime>),
            receipts::updated_at.eq(at),
        ))
        .execute(connection)?;
    Ok(asked == 1)
}
