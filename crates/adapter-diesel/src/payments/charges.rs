//! Charges: their rows, their state changes, and those that require an operator.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::history::Author;
use kontor_kernel::{ChargeId, ProjectId, StoreError, Word};
use kontor_payments::change::{Change, ChargeChange, RecordedChange};
use kontor_payments::model::{Charge, ChargeProblem, ChargePurpose, ChargeState, NewCharge, ProviderId};
use kontor_payments::ports::ChargeStored;
use uuid::Uuid;

use super::receipts::{self, About};
use super::refunds::insert_refund;
use super::saved_methods;
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::decode;
use crate::schema::{charges, keyed};
use crate::statement::{Statement, by_place};

#[derive(Queryable, Selectable)]
#[diesel(table_name = charges)]
pub(super) struct ChargeRow {
    pub id: i64,
    project_id: i64,
    application_id: Option<i64>,
    counterparty_id: i64,
    purpose: String,
    purpose_id: i64,
    state: String,
    provider_payment_id: Option<String>,
    captured: i64,
    refunded: i64,
    refunding: i64,
    request: String,
    confirmation_url: Option<String>,
    checks: i32,
    asked_at: NaiveDateTime,
    settled_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
}

pub(super) fn purpose(kind: &str, number: i64) -> Result<ChargePurpose, StoreError> {
    let purpose = ChargePurpose::from_parts(kind, number).map_err(StoreError::corrupt)?;
    purpose.ok_or_else(|| StoreError::corrupt(format!("a charge has the unknown purpose {kind}")))
}

pub(super) fn provider_id(text: Option<&str>) -> Result<Option<ProviderId>, StoreError> {
    text.map(ProviderId::parse).transpose().map_err(StoreError::corrupt)
}

impl TryFrom<ChargeRow> for Charge {
    type Error = StoreError;

    fn try_from(row: ChargeRow) -> Result<Self, StoreError> {
        let charge = Self {
            id: decode::id(row.id)?,
            project_id: decode::id(row.project_id)?,
            application_id: decode::optional_id(row.application_id)?,
            counterparty_id: decode::id(row.counterparty_id)?,
            state: decode::word("charges", row.id, "state", &row.state)?,
            provider_id: provider_id(row.provider_payment_id.as_deref())?,
            request: serde_json::from_str(&row.request).map_err(StoreError::corrupt)?,
            confirmation_url: row.confirmation_url,
            captured: decode::money(row.captured)?,
            refunded: decode::money(row.refunded)?,
            refunding: decode::money(row.refunding)?,
            checks: u32::try_from(row.checks).map_err(StoreError::corrupt)?,
            asked_at: decode::moment(row.asked_at),
            settled_at: row.settled_at.map(decode::moment),
            created_at: decode::moment(row.created_at),
        };
        if charge.purpose() != purpose(&row.purpose, row.purpose_id)? {
            return Err(StoreError::corrupt(format!("the request of charge {} does not match its purpose", charge.id)));
        }
        Ok(charge)
    }
}

/// Keys by which charges are found.
pub(crate) enum Key {
    Id(i64),
    Provider(String),
    Idempotence(String),
    /// Charge of this purpose without a final outcome.
    Open(ChargePurpose),
}

pub(crate) fn load(connection: &mut AnyConnection, key: &Key) -> Result<Option<Charge>, Abort<StoreError>> {
    let all = charges::table.select(ChargeRow::as_select());
    let row = match key {
        Key::Id(id) => all.filter(charges::id.eq(id)).first(connection),
        Key::Provider(id) => all.filter(charges::provider_payment_id.eq(id)).first(connection),
        Key::Open(purpose) => all
            .filter(charges::purpose.eq(purpose.kind()))
            .filter(charges::purpose_id.eq(purpose.number()))
            .filter(charges::state.eq_any(ChargeState::OPEN.map(ChargeState::word)))
            .first(connection),
        Key::Idempotence(key) => all.filter(charges::idempotence_key.eq(key)).first(connection),
    };
    Ok(row.optional()?.map(Charge::try_from).transpose()?)
}

/// Returns the charge that prevents another one: with the same key, or still open or paid for the same purpose.
fn conflicting_charge(
    connection: &mut AnyConnection,
    key: Uuid,
    purpose: ChargePurpose,
) -> Result<Option<Charge>, Abort<StoreError>> {
    if let Some(known) = load(connection, &Key::Idempotence(key.to_string()))? {
        return Ok(Some(known));
    }
    let open = ChargeState::OPEN.map(ChargeState::word).into_iter();
    let paid = (!purpose.is_recurring()).then_some(ChargeState::Succeeded.word());
    let row: Option<ChargeRow> = charges::table
        .filter(charges::purpose.eq(purpose.kind()))
        .filter(charges::purpose_id.eq(purpose.number()))
        .filter(charges::state.eq_any(open.chain(paid).collect::<Vec<_>>()))
        .select(ChargeRow::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(Charge::try_from).transpose()?)
}

/// Stores a charge. Returns `None` if another one prevents it.
pub(crate) fn insert(connection: &mut AnyConnection, new: &NewCharge) -> Result<Option<Charge>, Abort<StoreError>> {
    let (request, at) = (&new.request, new.at.naive_utc());
    let text = serde_json::to_string(request).map_err(StoreError::corrupt)?;
    let values = (
        (
            charges::project_id.eq(new.project_id.get()),
            charges::application_id.eq(new.application_id.map(i64::from)),
            charges::counterparty_id.eq(new.counterparty_id.get()),
            charges::purpose.eq(request.purpose.kind()),
            charges::purpose_id.eq(request.purpose.number()),
            charges::idempotence_key.eq(request.key.to_string()),
            charges::state.eq(ChargeState::Prepared.word()),
            charges::amount.eq(request.amount.minor()),
            charges::captured.eq(0),
            charges::refunded.eq(0),
            charges::refunding.eq(0),
        ),
        (
            charges::request.eq(text),
            charges::saved_method_id.eq(request.saved_method.as_ref().map(|method| method.id.get())),
            charges::checks.eq(0),
            charges::asked_at.eq(at),
            charges::next_check_at.eq(new.next_check_at.naive_utc()),
            charges::created_at.eq(at),
            charges::updated_at.eq(at),
        ),
    );
    let id: Option<i64> = on_each!(connection, concrete => {
        diesel::insert_into(charges::table)
            .values(values)
            .on_conflict_do_nothing()
            .returning(charges::id)
            .get_result(concrete)
            .optional()
    })?;
    let Some(id) = id else { return Ok(None) };
    let id: ChargeId = decode::id(id)?;
    Ok(Some(new.stored_as(id)))
}

/// Steps that hand charges on to all domains. `charge_outcomes` implements them for connections: the modules of orders
/// and subscriptions call them and do not use each other.
pub(crate) trait ChargeConsequences {
    /// Commits the new state of a charge, with the effects on its purpose.
    fn record_charge(
        &mut self,
        id: ChargeId,
        change: &ChargeChange,
        at: DateTime<Utc>,
    ) -> Result<Change, Abort<StoreError>>;

    /// Applies a refund to the subscription periods that the charge paid. `ends` states that the paid period ends with
    /// it. Returns `false` if the refund must be refused, since no such period is current.
    fn refund_periods(
        &mut self,
        charge: Option<ChargeId>,
        ends: bool,
        author: Author,
        at: DateTime<Utc>,
    ) -> Result<bool, Abort<StoreError>>;
}

/// Stores a charge without other records. The caller has locked the customer.
pub(crate) fn store(connection: &mut AnyConnection, new: &NewCharge) -> Result<ChargeStored, Abort<StoreError>> {
    let (key, purpose) = (new.request.key, new.request.purpose);
    if let Some(known) = conflicting_charge(connection, key, purpose)? {
        return Ok(ChargeStored::Existing(known));
    }
    if let Some(method) = &new.request.saved_method
        && !saved_methods::lock_method(connection, new, method)?
    {
        return Ok(ChargeStored::MethodUnavailable);
    }
    if let Some(charge) = insert(connection, new)? {
        return Ok(ChargeStored::New(charge));
    }
    let known = conflicting_charge(connection, key, purpose)?;
    known.map(ChargeStored::Existing).ok_or_else(|| {
        StoreError::Unavailable("a charge was stored and settled by concurrent requests; retry".to_owned()).into()
    })
}

/// Columns learned from the acquirer; `None` leaves a column as it is.
#[derive(AsChangeset, Default)]
#[diesel(table_name = charges)]
struct LearnedColumns {
    state: Option<&'static str>,
    provider_payment_id: Option<String>,
    confirmation_url: Option<String>,
    reason: Option<String>,
    asked_at: Option<NaiveDateTime>,
    settled_at: Option<NaiveDateTime>,
}

impl LearnedColumns {
    fn of(change: &ChargeChange, at: NaiveDateTime) -> Self {
        let state = change.state();
        let settled_at = state.filter(|state| !state.is_open()).map(|_| at);
        let learned = Self { state: state.map(ChargeState::word), settled_at, ..Self::default() };
        match change {
            ChargeChange::Pending { provider_id, confirmation_url, .. } => Self {
                provider_payment_id: Some(provider_id.to_string()),
                confirmation_url: confirmation_url.clone(),
                ..learned
            },
            ChargeChange::Succeeded { provider_id, .. } => {
                Self { provider_payment_id: Some(provider_id.to_string()), ..learned }
            }
            ChargeChange::Failed { provider_id, reason, .. } => Self {
                provider_payment_id: provider_id.as_ref().map(ToString::to_string),
                reason: Some(reason.clone()),
                ..learned
            },
            ChargeChange::Postponed { why, unanswered, .. } => {
                Self { reason: Some(why.clone()), asked_at: unanswered.then_some(at), ..learned }
            }
            ChargeChange::Suspicious { why, .. } => Self { reason: Some(why.clone()), ..learned },
        }
    }
}

by_place! {
    struct LockedRow {
        project: i64,
        reason: Option<String>,
    }
}

/// Writes a change of a charge, with the refund that is due and the method to be saved. Returns `None` if its outcome
/// was known before: duplicate, late and reordered notifications change nothing.
pub(crate) fn record<'a>(
    connection: &mut AnyConnection,
    id: i64,
    change: &'a ChargeChange,
    at: DateTime<Utc>,
) -> Result<Option<RecordedChange<'a>>, Abort<StoreError>> {
    let moment = at.naive_utc();
    let before = Statement::new("SELECT project_id, reason FROM charges WHERE id = ").value(id);
    let before = before.locked(connection, " FOR NO KEY UPDATE").row::<LockedRow>(connection).optional()?;
    let Some(before) = before else { return Ok(None) };
    let learned = LearnedColumns::of(change, moment);
    let repeated = learned.reason.is_some() && before.reason == learned.reason;
    let open = charges::table
        .filter(charges::id.eq(id))
        .filter(charges::project_id.eq(before.project))
        .filter(charges::state.eq_any(ChargeState::OPEN.map(ChargeState::word)));
    let returned = (
        charges::next_check_at.eq(change.next_check_at().map(|next| next.naive_utc())),
        charges::leased_until.eq(None::<NaiveDateTime>),
        charges::lease_owner.eq(None::<String>),
        charges::departing_until.eq(None::<NaiveDateTime>),
        charges::updated_at.eq(moment),
    );
    let counted = (learned, returned, charges::checks.eq(charges::checks + 1));
    let written = if matches!(change, ChargeChange::Succeeded { .. }) {
        diesel::update(open).set((counted, charges::captured.eq(charges::amount))).execute(connection)?
    } else {
        diesel::update(open).set(counted).execute(connection)?
    };
    if written == 0 {
        return Ok(None);
    }
    let row: ChargeRow = charges::table.find(id).select(ChargeRow::as_select()).first(connection)?;
    let stored = Charge::try_from(row)?;
    if let ChargeChange::Succeeded { refund, method, receipt, .. } = change {
        if let Some(registration) = receipt {
            let about = About { project: stored.project_id.get(), charge: id, refund: None };
            receipts::store_sent_receipt(connection, &about, *registration, moment)?;
        }
        if let Some(order) = refund {
            let set_aside = charges::refunding.eq(charges::refunding + order.amount().minor());
            diesel::update(keyed!(charges, id, stored.project_id)).set(set_aside).execute(connection)?;
            insert_refund(connection, stored.project_id.get(), id, order, moment, moment)?;
        }
        if let Some(method) = method {
            saved_methods::save(connection, &stored, method, moment)?;
        }
    }
    Ok(Some(RecordedChange { charge: stored, change, repeated }))
}

/// Marks a charge for review by an operator, with the reason. Returns `None` if the same was noted before or the charge
/// is still open.
pub(crate) fn contradict(
    connection: &mut AnyConnection,
    id: i64,
    why: &str,
    at: NaiveDateTime,
) -> Result<Option<Charge>, Abort<StoreError>> {
    let doubtful = charges::table
        .filter(charges::id.eq(id))
        .filter(charges::settled_at.is_not_null())
        .filter(charges::contradiction.is_null().or(charges::contradiction.ne(why)));
    let written = diesel::update(doubtful)
        .set((charges::contradiction.eq(why), charges::concern_at.eq(at), charges::updated_at.eq(at)))
        .execute(connection)?;
    if written == 0 {
        return Ok(None);
    }
    let row: ChargeRow = charges::table.find(id).select(ChargeRow::as_select()).first(connection)?;
    Ok(Some(Charge::try_from(row)?))
}

by_place! {
    struct SendingRow {
        project: i64,
        method: i64,
    }
}

/// Marks the request of an open charge as being sent, unless its method is no longer active. The charge is locked
/// before the method, as where an outcome deactivates a method. A concurrent deactivation waits for this transaction,
/// or is visible to it.
pub(crate) fn mark_sending(connection: &mut AnyConnection, id: i64, until: NaiveDateTime) -> QueryResult<bool> {
    let let_go = Statement::new("UPDATE charges SET departing_until = ")
        .value(until)
        .sql(" WHERE id = ")
        .value(id)
        .sql(" AND state IN ('prepared', 'pending') RETURNING project_id, saved_method_id");
    let sending: Option<SendingRow> = let_go.row(connection).optional()?;
    let Some(SendingRow { project, method }) = sending else { return Ok(false) };
    let active = Statement::new("SELECT id FROM saved_payment_methods WHERE is_active = TRUE AND id = ").value(method);
    if active.locked(connection, " FOR SHARE").finds(connection)? {
        return Ok(true);
    }
    Statement::new("UPDATE charges SET departing_until = NULL WHERE id = ")
        .value(id)
        .sql(" AND project_id = ")
        .value(project)
        .run(connection)?;
    Ok(false)
}

/// Returns `true` if a request that uses the method may still be in progress.
pub(crate) fn is_sending(connection: &mut AnyConnection, method: i64, at: NaiveDateTime) -> QueryResult<bool> {
    Statement::new("SELECT id FROM charges WHERE saved_method_id = ")
        .value(method)
        .sql(" AND departing_until > ")
        .value(at)
        .sql(" LIMIT 1")
        .finds(connection)
}

/// Returns the refundable amount of a charge and locks the charge until the transaction ends.
pub(crate) fn lock_refundable(connection: &mut AnyConnection, charge: i64) -> QueryResult<i64> {
    let left = Statement::new("SELECT captured - refunded - refunding AS id FROM charges WHERE id = ").value(charge);
    left.locked(connection, " FOR NO KEY UPDATE").scalar(connection)
}

/// Returns the successful charge of the purpose and locks it until the transaction ends.
pub(crate) fn lock_paid(connection: &mut AnyConnection, purpose: ChargePurpose) -> QueryResult<Option<ChargeId>> {
    let paid = Statement::new("SELECT id FROM charges WHERE state = 'succeeded' AND purpose = ")
        .value(purpose.kind())
        .sql(" AND purpose_id = ")
        .value(purpose.number());
    let id: Option<i64> = paid.locked(connection, " FOR NO KEY UPDATE").scalar(connection).optional()?;
    Ok(id.and_then(|id| ChargeId::new(id).ok()))
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = charges)]
struct ConcernRow {
    id: i64,
    project_id: i64,
    purpose: String,
    purpose_id: i64,
    provider_payment_id: Option<String>,
    contradiction: Option<String>,
    concern_at: Option<NaiveDateTime>,
}

fn concerns(
    connection: &mut AnyConnection,
    project: Option<ProjectId>,
    most: u32,
) -> Result<Vec<ChargeProblem>, Abort<StoreError>> {
    let all = charges::table
        .filter(charges::concern_at.is_not_null())
        .order((charges::project_id, charges::id))
        .limit(most.into())
        .select(ConcernRow::as_select());
    let rows: Vec<ConcernRow> = match project {
        Some(project) => all.filter(charges::project_id.eq(project.get())).load(connection)?,
        None => all.load(connection)?,
    };
    let concern = |row: ConcernRow| {
        Ok(ChargeProblem {
            id: decode::id(row.id)?,
            project_id: decode::id(row.project_id)?,
            purpose: purpose(&row.purpose, row.purpose_id)?,
            provider_id: provider_id(row.provider_payment_id.as_deref())?,
            since: decode::moment(row.concern_at.unwrap_or_default()),
            why: row.contradiction.unwrap_or_default(),
        })
    };
    Ok(rows.into_iter().map(concern).collect::<Result<_, StoreError>>()?)
}

impl Database {
    /// Returns the payments that require an operator, of one project or of all, up to the given number.
    pub async fn payments_to_review(
        &self,
        project: Option<ProjectId>,
        most: u32,
    ) -> Result<Vec<ChargeProblem>, StoreError> {
        self.read(move |connection| concerns(connection, project, most)).await
    }

    /// Returns the number of payments that require an operator.
    pub async fn count_payments_to_review(&self) -> Result<u64, StoreError> {
        self.read(|connection| {
            let counted: i64 =
                charges::table.filter(charges::concern_at.is_not_null()).count().get_result(connection)?;
            Ok::<_, Abort<StoreError>>(counted.unsigned_abs())
        })
        .await
    }

    /// Removes a payment from the list after an operator has checked it. Its money and its history do not change.
    /// Returns `false` if it is not on the list.
    pub async fn close_payment_review(&self, id: ChargeId, at: DateTime<Utc>) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let concern = charges::table.filter(charges::id.eq(id.get())).filter(charges::concern_at.is_not_null());
            let settled = diesel::update(concern)
                .set((charges::concern_at.eq(None::<NaiveDateTime>), charges::updated_at.eq(at.naive_utc())))
                .execute(connection)?;
            Ok::<_, Abort<StoreError>>(settled == 1)
        })
        .await
    }
}
