//! Rows of charges.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{ChargeId, StoreError, Word};
use kontor_payments::model::{Charge, ChargePurpose, ChargeState, NewCharge, ProviderId};
use uuid::Uuid;

use crate::database::{Abort, AnyConnection, on_each};
use crate::decode;
use crate::schema::charges;

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
pub(super) fn conflicting_charge(
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
