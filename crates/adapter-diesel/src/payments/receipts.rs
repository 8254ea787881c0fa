//! Receipts: creation, leases and outcomes.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{ChargeId, ReceiptId, StoreError, Word};
use kontor_payments::change::{Change, ReceiptChange};
use kontor_payments::model::{
    Charge, HandOverRequest, PaymentMode, Receipt, ReceiptKind, ReceiptProblem, ReceiptState, RefundState, Registration,
};
use kontor_payments::ports::ReceiptStore;

use super::charge_rows;
use super::queues::lease_receipt;
use super::refund_rows;
use crate::customer_data::delete_receipts_if_deleted;
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::schema::receipts;

/// Charge or refund that a receipt belongs to.
pub(super) struct About {
    pub project: i64,
    pub charge: i64,
    /// Refund; `None` for the receipt of the payment.
    pub refund: Option<i64>,
}

#[derive(Insertable)]
#[diesel(table_name = receipts, treat_none_as_default_value = false)]
struct NewReceipt {
    project_id: i64,
    charge_id: i64,
    refund_id: Option<i64>,
    kind: &'static str,
    state: &'static str,
    body: Option<String>,
    idempotence_key: Option<String>,
    key_made_at: NaiveDateTime,
    asked_at: NaiveDateTime,
    tries: i32,
    reason: Option<String>,
    checks: i32,
    next_check_at: Option<NaiveDateTime>,
    concern_at: Option<NaiveDateTime>,
    settled_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl NewReceipt {
    /// Creates a receipt that is due at once.
    fn new(about: &About, kind: ReceiptKind, state: ReceiptState, at: NaiveDateTime) -> Self {
        Self {
            project_id: about.project,
            charge_id: about.charge,
            refund_id: about.refund,
            kind: kind.word(),
            state: state.word(),
            body: None,
            idempotence_key: None,
            key_made_at: at,
            asked_at: at,
            tries: 0,
            reason: None,
            checks: 0,
            next_check_at: Some(at),
            concern_at: None,
            settled_at: None,
            created_at: at,
            updated_at: at,
        }
    }

    /// Inserts the receipt. Returns `true` if there was none before.
    fn insert(self, connection: &mut AnyConnection) -> QueryResult<bool> {
        let inserted = on_each!(connection, concrete => {
            diesel::insert_into(receipts::table).values(self).on_conflict_do_nothing().execute(concrete)
        })?;
        Ok(inserted == 1)
    }
}

/// Stores the receipt that was sent with a payment or a refund. A receipt that is not registered yet is checked later;
/// a worker reports canceled ones to operators.
pub(super) fn store_sent_receipt(
    connection: &mut AnyConnection,
    about: &About,
    told: Registration,
    at: NaiveDateTime,
) -> QueryResult<()> {
    let kind = if about.refund.is_some() { ReceiptKind::Refund } else { ReceiptKind::Payment };
    let new = match told {
        Registration::Succeeded => NewReceipt {
            next_check_at: None,
            settled_at: Some(at),
            ..NewReceipt::new(about, kind, ReceiptState::Succeeded, at)
        },
        Registration::Pending | Registration::Canceled => NewReceipt::new(about, kind, ReceiptState::Pending, at),
    };
    new.insert(connection).map(|_| ())
}

/// Stores the second receipt when the paid goods are handed over, once. It covers the prepaid amount that was not
/// refunded. Without a receipt of the payment there is none. The caller has locked the charge, and then its purpose.
pub(crate) fn hand_over(
    connection: &mut AnyConnection,
    charge: ChargeId,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    match charge_rows::load(connection, &charge_rows::Key::Id(charge.get()))? {
        Some(charge) => apply_charge_outcome(connection, &charge, at.naive_utc()),
        None => Ok(()),
    }
}

fn apply_charge_outcome(
    connection: &mut AnyConnection,
    charge: &Charge,
    at: NaiveDateTime,
) -> Result<(), Abort<StoreError>> {
    let Some(paid) = &charge.request.receipt else { return Ok(()) };
    let about = About { project: charge.project_id.get(), charge: charge.id.get(), refund: None };
    let new = NewReceipt {
        idempotence_key: Some(HandOverRequest::key(charge.request.key, 0)),
        ..NewReceipt::new(&about, ReceiptKind::HandOver, ReceiptState::Due, at)
    };
    let new = match left(connection, charge, paid)? {
        Ok(None) => return Ok(()),
        Ok(Some(left)) => NewReceipt { body: Some(serde_json::to_string(&left).map_err(StoreError::corrupt)?), ..new },
        // The goods are handed over all the same; an operator must issue the receipt.
        Err(problem) => NewReceipt {
            state: ReceiptState::Canceled.word(),
            reason: Some(problem.to_string()),
            next_check_at: None,
            concern_at: Some(at),
            settled_at: Some(at),
            ..new
        },
    };
    new.insert(connection)?;
    Ok(delete_receipts_if_deleted(connection, charge.counterparty_id.get())?)
}

/// Returns the prepaid lines that are handed over, without refunded and pending amounts.
fn left(
    connection: &mut AnyConnection,
    charge: &Charge,
    paid: &Receipt,
) -> Result<Result<Option<Receipt>, ReceiptProblem>, Abort<StoreError>> {
    let refunds = refund_rows::load(connection, &refund_rows::Key::Charge(charge.id.get()))?;
    let gone = refunds.into_iter().filter(|refund| refund.state != RefundState::Failed).map(|refund| refund.request);
    let part = |refund: kontor_payments::model::RefundRequest| match refund.receipt {
        Some(part) => Ok(part),
        None => paid.of_amount(refund.amount, PaymentMode::FullPrepayment),
    };
    let rest = gone.map(part).collect::<Result<Vec<_>, _>>().and_then(|parts| {
        let parts: Vec<&Receipt> = parts.iter().collect();
        Ok(paid.without(&parts)?.and_then(|rest| rest.handed_over()))
    });
    Ok(rest)
}

/// Columns learned from the acquirer; `None` leaves a column as it is.
#[derive(AsChangeset, Default)]
#[diesel(table_name = receipts)]
struct LearnedColumns {
    state: Option<&'static str>,
    idempotence_key: Option<String>,
    key_made_at: Option<NaiveDateTime>,
    asked_at: Option<NaiveDateTime>,
    provider_receipt_id: Option<String>,
    reason: Option<String>,
    concern_at: Option<NaiveDateTime>,
    settled_at: Option<NaiveDateTime>,
}

impl LearnedColumns {
    fn of(change: &ReceiptChange, at: NaiveDateTime) -> Self {
        let state = change.state();
        let settled_at = state.filter(|state| !ReceiptState::OPEN.contains(state)).map(|_| at);
        let concern_at = change.is_overdue().then_some(at);
        let learned = Self { state: state.map(ReceiptState::word), settled_at, concern_at, ..Self::default() };
        match change {
            ReceiptChange::Pending { provider_id, .. } | ReceiptChange::Succeeded { provider_id } => {
                Self { provider_receipt_id: provider_id.as_ref().map(ToString::to_string), ..learned }
            }
            ReceiptChange::Canceled { why } => Self { reason: Some(why.clone()), concern_at: Some(at), ..learned },
            ReceiptChange::Postponed { why, unanswered, .. } => {
                Self { reason: Some(why.clone()), asked_at: unanswered.then_some(at), ..learned }
            }
            ReceiptChange::Retry { key, why, .. } => Self {
                idempotence_key: Some(key.clone()),
                key_made_at: Some(at),
                asked_at: Some(at),
                reason: Some(why.clone()),
                ..learned
            },
        }
    }
}

/// Records a change. It applies only to its own attempt, and while the outcome is open.
fn record(
    connection: &mut AnyConnection,
    id: i64,
    tries: u32,
    change: &ReceiptChange,
    at: NaiveDateTime,
) -> Result<Change, Abort<StoreError>> {
    let under_way = receipts::table
        .filter(receipts::id.eq(id))
        .filter(receipts::tries.eq(i32::try_from(tries).map_err(StoreError::corrupt)?))
        .filter(receipts::state.eq_any(ReceiptState::OPEN.map(ReceiptState::word)));
    let returned = (
        receipts::next_check_at.eq(change.next_check_at().map(|next| next.naive_utc())),
        receipts::leased_until.eq(None::<NaiveDateTime>),
        receipts::lease_owner.eq(None::<String>),
        receipts::updated_at.eq(at),
    );
    let written = diesel::update(under_way)
        .set((LearnedColumns::of(change, at), returned, receipts::checks.eq(receipts::checks + 1)))
        .execute(connection)?;
    if written == 0 {
        return Ok(Change::Stale);
    }
    let row = receipts::table.find(id);
    match change {
        // No operator needs to check it any more, and its content is no longer needed.
        ReceiptChange::Succeeded { .. } => {
            diesel::update(row)
                .set((receipts::concern_at.eq(None::<NaiveDateTime>), receipts::body.eq(None::<String>)))
                .execute(connection)?;
        }
        ReceiptChange::Retry { .. } => {
            diesel::update(row)
                .set((receipts::tries.eq(receipts::tries + 1), receipts::checks.eq(0)))
                .execute(connection)?;
        }
        ReceiptChange::Pending { .. } | ReceiptChange::Canceled { .. } | ReceiptChange::Postponed { .. } => {}
    }
    Ok(Change::Done)
}

#[async_trait]
impl ReceiptStore for Database {
    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<kontor_payments::model::FiscalReceipt>, StoreError> {
        lease_receipt(self, owner, at, until).await
    }

    async fn record(
        &self,
        id: ReceiptId,
        tries: u32,
        change: ReceiptChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError> {
        self.write(move |connection| record(connection, id.get(), tries, &change, at.naive_utc())).await
    }
}
