//! Receipts: settings, rows, creation, leases and outcomes, and receipts that require an operator.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{ChargeId, ProjectId, ReceiptId, StoreError, Word};
use kontor_payments::change::{Change, ReceiptChange};
use kontor_payments::model::{
    Charge, ChargeRequest, FiscalReceipt, HandOverRequest, PaymentMode, ProviderId, Receipt, ReceiptKind,
    ReceiptProblem, ReceiptProblemReport, ReceiptState, ReceiptTask, ReceiptTerms, RefundRequest, RefundState,
    Registration, TaxSystem, VatCode,
};
use kontor_payments::ports::{ReceiptSettings, ReceiptStore};
use uuid::Uuid;

use super::charges::{Key, load as load_charge, provider_id, purpose};
use super::refunds::{of_charge, receipt};
use super::{LEASED_RECEIPTS, RECEIPTS};
use crate::customer_data::delete_receipts_if_deleted;
use crate::database::{Abort, AnyConnection, Database, found, on_each};
use crate::decode;
use crate::schema::{charges, projects, receipt_settings, receipts, referred, refunds};
use crate::statement::Statement;

fn code(stored: i32) -> Result<u8, StoreError> {
    u8::try_from(stored).map_err(StoreError::corrupt)
}

/// Reads a `vat_code`.
pub(crate) fn vat(stored: i32) -> Result<VatCode, StoreError> {
    VatCode::new(code(stored)?).map_err(StoreError::corrupt)
}

/// Reads `tax_system_code` and `default_vat_code`.
pub(crate) fn terms(tax_system: Option<i32>, default_vat: i32) -> Result<ReceiptTerms, StoreError> {
    let system = |system: i32| TaxSystem::new(code(system)?).map_err(StoreError::corrupt);
    Ok(ReceiptTerms { tax_system: tax_system.map(system).transpose()?, default_vat: vat(default_vat)? })
}

fn load(connection: &mut AnyConnection, project: i64) -> Result<Option<ReceiptTerms>, Abort<StoreError>> {
    let row: Option<(Option<i32>, i32)> = receipt_settings::table
        .find(project)
        .select((receipt_settings::tax_system_code, receipt_settings::default_vat_code))
        .first(connection)
        .optional()?;
    Ok(row.map(|(tax_system, vat)| terms(tax_system, vat)).transpose()?)
}

#[async_trait]
impl ReceiptSettings for Database {
    async fn receipt_terms(&self, project: ProjectId) -> Result<Option<ReceiptTerms>, StoreError> {
        self.read(move |connection| load(connection, project.get())).await
    }

    async fn set_receipt_terms(&self, project: ProjectId, terms: Option<ReceiptTerms>) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let project = project.get();
            if !found!(connection, projects::table.find(project))? {
                return Ok(false);
            }
            diesel::delete(receipt_settings::table.find(project)).execute(connection)?;
            if let Some(terms) = terms {
                diesel::insert_into(receipt_settings::table)
                    .values((
                        receipt_settings::project_id.eq(project),
                        receipt_settings::tax_system_code.eq(terms.tax_system.map(|system| i32::from(system.get()))),
                        receipt_settings::default_vat_code.eq(i32::from(terms.default_vat.get())),
                    ))
                    .execute(connection)?;
            }
            Ok::<_, Abort<StoreError>>(true)
        })
        .await
    }
}

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
        .inner_join(referred!(charges, receipts::charge_id))
        .left_join(referred!(refunds, receipts::refund_id))
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
        .inner_join(referred!(charges, receipts::charge_id))
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
    registration: Registration,
    at: NaiveDateTime,
) -> QueryResult<()> {
    let kind = if about.refund.is_some() { ReceiptKind::Refund } else { ReceiptKind::Payment };
    let new = match registration {
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
    match load_charge(connection, &Key::Id(charge.get()))? {
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
    Ok(delete_receipts_if_deleted(connection, about.project, charge.counterparty_id.get())?)
}

/// Returns the prepaid lines that are handed over, without refunded and pending amounts.
fn left(
    connection: &mut AnyConnection,
    charge: &Charge,
    paid: &Receipt,
) -> Result<Result<Option<Receipt>, ReceiptProblem>, Abort<StoreError>> {
    let refunds = of_charge(connection, charge.id)?;
    let gone = refunds.into_iter().filter(|refund| refund.state != RefundState::Failed).map(|refund| refund.request);
    let part = |refund: RefundRequest| match refund.receipt {
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
    let project: Option<i64> = diesel::update(under_way)
        .set((LearnedColumns::of(change, at), returned, receipts::checks.eq(receipts::checks + 1)))
        .returning(receipts::project_id)
        .get_result(connection)
        .optional()?;
    let Some(project) = project else { return Ok(Change::Stale) };
    let row = receipts::table.find(id).filter(receipts::project_id.eq(project));
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
    ) -> Result<Option<FiscalReceipt>, StoreError> {
        self.lease_row(&RECEIPTS, owner, at, until, Statement::new(""), LEASED_RECEIPTS).await
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
    let found: Option<(i64, String, Option<String>, i32, String)> = receipts::table
        .inner_join(referred!(charges, receipts::charge_id))
        .filter(receipts::id.eq(id))
        .filter(receipts::state.eq(ReceiptState::Canceled.word()))
        .select((receipts::project_id, receipts::kind, receipts::body, receipts::tries, charges::idempotence_key))
        .first(connection)
        .optional()?;
    let Some((project, kind, body, tries, charge)) = found else { return Ok(false) };
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
        .filter(receipts::project_id.eq(project))
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
