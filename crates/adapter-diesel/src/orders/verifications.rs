//! Verifications of customers: who works on them.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{StoreError, VerificationId};
use kontor_orders::change::Change;
use kontor_orders::model::{
    NewVerification, ProviderPaymentId, RefundState, Verification, VerificationChange, VerificationRefund,
    VerificationState,
};
use kontor_orders::ports::{Started, VerificationStore};
use uuid::Uuid;

use super::verify;
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::people::hold;
use crate::schema::verification_payments as table;
use crate::stored;

#[derive(Queryable, Selectable)]
#[diesel(table_name = table)]
struct Row {
    id: i64,
    project_id: i64,
    counterparty_id: i64,
    state: String,
    provider_payment_id: Option<String>,
    request: String,
    confirmation_url: Option<String>,
    refund_state: Option<String>,
    refund_key: Option<String>,
    refund_key_at: Option<NaiveDateTime>,
    refund_tries: i32,
    provider_refund_id: Option<String>,
    checks: i32,
    expires_at: NaiveDateTime,
    settled_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
}

const STATES: [(VerificationState, &str); 6] = [
    (VerificationState::Prepared, "prepared"),
    (VerificationState::Pending, "pending"),
    (VerificationState::Succeeded, "succeeded"),
    (VerificationState::Canceled, "canceled"),
    (VerificationState::Expired, "expired"),
    (VerificationState::Refused, "refused"),
];

const REFUND_STATES: [(RefundState, &str); 4] = [
    (RefundState::Due, "due"),
    (RefundState::Pending, "pending"),
    (RefundState::Done, "done"),
    (RefundState::Failed, "failed"),
];

fn named<S: Copy>(states: &[(S, &str)], name: &str) -> Result<S, StoreError> {
    let found = states.iter().find(|(_, known)| *known == name);
    found.map(|(state, _)| *state).ok_or_else(|| StoreError::corrupt(format!("a verification is {name}")))
}

fn provider_id(text: Option<&str>) -> Result<Option<ProviderPaymentId>, StoreError> {
    text.map(ProviderPaymentId::parse).transpose().map_err(StoreError::corrupt)
}

fn count(number: i32) -> Result<u32, StoreError> {
    u32::try_from(number).map_err(StoreError::corrupt)
}

impl Row {
    fn refund(&self) -> Result<Option<VerificationRefund>, StoreError> {
        let Some(state) = &self.refund_state else { return Ok(None) };
        let key: Option<Uuid> = stored::optional_text(self.refund_key.as_deref())?;
        let missing = || StoreError::corrupt(format!("the refund of verification {} has no key", self.id));
        Ok(Some(VerificationRefund {
            state: named(&REFUND_STATES, state)?,
            key: key.ok_or_else(missing)?,
            key_at: self.refund_key_at.map(stored::moment).ok_or_else(missing)?,
            tries: count(self.refund_tries)?,
            id: provider_id(self.provider_refund_id.as_deref())?,
        }))
    }
}

impl TryFrom<Row> for Verification {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored::id(row.id)?,
            project_id: stored::id(row.project_id)?,
            counterparty_id: stored::id(row.counterparty_id)?,
            state: named(&STATES, &row.state)?,
            provider_id: provider_id(row.provider_payment_id.as_deref())?,
            request: serde_json::from_str(&row.request).map_err(StoreError::corrupt)?,
            refund: row.refund()?,
            confirmation_url: row.confirmation_url,
            checks: count(row.checks)?,
            expires_at: stored::moment(row.expires_at),
            settled_at: row.settled_at.map(stored::moment),
            created_at: stored::moment(row.created_at),
        })
    }
}

/// The columns a verification is found by.
enum Key {
    Id(i64),
    Provider(String),
    Idempotence(String),
}

fn load(connection: &mut AnyConnection, key: &Key) -> Result<Option<Verification>, Abort<StoreError>> {
    let all = table::table.select(Row::as_select());
    let row = match key {
        Key::Id(id) => all.filter(table::id.eq(id)).first(connection),
        Key::Provider(id) => all.filter(table::provider_payment_id.eq(id)).first(connection),
        Key::Idempotence(key) => all.filter(table::idempotence_key.eq(key)).first(connection),
    };
    Ok(row.optional()?.map(Verification::try_from).transpose()?)
}

/// The open one of a customer, else the last one that still counts.
fn present(
    connection: &mut AnyConnection,
    customer: i64,
    still_counts_since: NaiveDateTime,
) -> Result<Option<Verification>, Abort<StoreError>> {
    let open = table::state.eq_any(["prepared", "pending"]);
    let counts = table::state.eq("succeeded").and(table::settled_at.ge(still_counts_since).assume_not_null());
    let row: Option<Row> = table::table
        .filter(table::counterparty_id.eq(customer))
        .filter(open.or(counts))
        .order(table::id.desc())
        .select(Row::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(Verification::try_from).transpose()?)
}

/// Stores one whose request is not known before its number is; both are written in this transaction. `None` when the
/// customer has got an open one meanwhile.
fn insert(connection: &mut AnyConnection, new: &NewVerification) -> Result<Option<i64>, Abort<StoreError>> {
    let at = new.at.naive_utc();
    let values = (
        table::project_id.eq(new.project_id.get()),
        table::counterparty_id.eq(new.counterparty_id.get()),
        table::idempotence_key.eq(new.key.to_string()),
        table::state.eq("prepared"),
        table::request.eq(""),
        table::refund_tries.eq(0),
        table::checks.eq(0),
        table::next_check_at.eq(new.next_check_at.naive_utc()),
        table::expires_at.eq(new.expires_at().naive_utc()),
        table::created_at.eq(at),
        table::updated_at.eq(at),
    );
    let id: Option<i64> = on_each!(connection, concrete => {
        diesel::insert_into(table::table)
            .values(values)
            .on_conflict_do_nothing()
            .returning(table::id)
            .get_result(concrete)
            .optional()
    })?;
    let Some(id) = id else { return Ok(None) };
    let request = serde_json::to_string(&new.request(stored::id(id)?)).map_err(StoreError::corrupt)?;
    diesel::update(table::table.find(id)).set(table::request.eq(request)).execute(connection)?;
    Ok(Some(id))
}

fn start(connection: &mut AnyConnection, new: &NewVerification) -> Result<Started, Abort<StoreError>> {
    let (customer, since) = (new.counterparty_id.get(), new.still_counts_since.naive_utc());
    if !hold(connection, customer)? {
        return Ok(Started::Gone);
    }
    if let Some(known) = present(connection, customer, since)? {
        return Ok(Started::Present(known));
    }
    if let Some(id) = insert(connection, new)? {
        let stored = load(connection, &Key::Id(id))?;
        return stored.map(Started::New).ok_or_else(|| StoreError::corrupt("a verification vanished").into());
    }
    let known = present(connection, customer, since)?;
    known
        .map(Started::Present)
        .ok_or_else(|| StoreError::Unavailable("a verification was opened and closed meanwhile".to_owned()).into())
}

/// How many due ones are tried before a round ends; others lease the same ones at the same time.
const CANDIDATES: i64 = 16;

#[async_trait]
impl VerificationStore for Database {
    async fn start(&self, new: NewVerification) -> Result<Started, StoreError> {
        self.write(move |connection| start(connection, &new)).await
    }

    async fn find(&self, id: VerificationId) -> Result<Option<Verification>, StoreError> {
        self.read(move |connection| load(connection, &Key::Id(id.get()))).await
    }

    async fn by_provider(&self, id: &ProviderPaymentId) -> Result<Option<Verification>, StoreError> {
        let key = Key::Provider(id.to_string());
        self.read(move |connection| load(connection, &key)).await
    }

    async fn by_key(&self, key: Uuid) -> Result<Option<Verification>, StoreError> {
        let key = Key::Idempotence(key.to_string());
        self.read(move |connection| load(connection, &key)).await
    }

    async fn claim(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<Verification>, StoreError> {
        let (owner, at, until) = (owner.to_owned(), at.naive_utc(), until.naive_utc());
        let due: Vec<i64> = self
            .read(move |connection| {
                Ok::<_, Abort<StoreError>>(
                    table::table
                        .filter(table::next_check_at.le(at))
                        .filter(table::leased_until.is_null().or(table::leased_until.le(at)))
                        .order((table::next_check_at, table::id))
                        .limit(CANDIDATES)
                        .select(table::id)
                        .load(connection)?,
                )
            })
            .await?;
        if due.is_empty() {
            return Ok(None);
        }
        self.write(move |connection| {
            for id in &due {
                let free = table::table
                    .filter(table::id.eq(id))
                    .filter(table::next_check_at.le(at))
                    .filter(table::leased_until.is_null().or(table::leased_until.le(at)));
                let leased = diesel::update(free)
                    .set((table::leased_until.eq(until), table::lease_owner.eq(&owner)))
                    .execute(connection)?;
                if leased == 1 {
                    return load(connection, &Key::Id(*id));
                }
            }
            Ok(None)
        })
        .await
    }

    async fn record(
        &self,
        id: VerificationId,
        change: VerificationChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError> {
        self.write(move |connection| Ok(verify::record(connection, id.get(), &change, at.naive_utc())?)).await
    }
}

pub(super) fn state_name(state: VerificationState) -> &'static str {
    STATES.iter().find(|(known, _)| *known == state).map_or("canceled", |(_, name)| name)
}

pub(super) fn refund_state_name(state: RefundState) -> &'static str {
    REFUND_STATES.iter().find(|(known, _)| *known == state).map_or("failed", |(_, name)| name)
}
