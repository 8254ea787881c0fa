use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_auth::model::{
    AttemptChange, AttemptExchange, AttemptState, CallbackAttempt, CheckId, ContactOwner, ExchangeOutcome, NewAttempt,
};
use kontor_auth::ports::{CallbackAttempts, ClaimError, QueryPurpose};
use kontor_kernel::{AppScope, CallbackAttemptId, Contact, Phone, StoreError};

use super::{Holder, insert_token};
use crate::customer_data::{NewCustomerData, bind, create, lock_bound_customer, lock_customer, owner};
use crate::database::{Abort, AnyConnection, Database, Extent, on_each};
use crate::decode;
use crate::schema::{callback_attempts, callback_phones};

/// Values of the column `state`.
mod state {
    pub(super) const PREPARING: &str = "preparing";
    pub(super) const FAILED: &str = "failed";
    pub(super) const PENDING: &str = "pending";
    pub(super) const VERIFIED: &str = "verified";
    pub(super) const ENDED: &str = "over";
    pub(super) const EXCHANGED: &str = "exchanged";
}

/// Maximum attempts of an exchange. Concurrent exchanges for one phone bind it once; the others find it bound on the
/// next attempt.
const MAX_EXCHANGE_ATTEMPTS: usize = 3;

#[derive(Queryable, Selectable)]
#[diesel(table_name = callback_attempts)]
struct AttemptRow {
    id: i64,
    nonce_fingerprint: String,
    state: String,
    check_id: Option<String>,
    expires_at: NaiveDateTime,
}

impl TryFrom<AttemptRow> for CallbackAttempt {
    type Error = StoreError;

    fn try_from(row: AttemptRow) -> Result<Self, StoreError> {
        let state = match row.state.as_str() {
            state::PENDING => AttemptState::Pending,
            state::VERIFIED => AttemptState::Verified,
            state::ENDED | state::EXCHANGED => AttemptState::Expired,
            other => return Err(decode::unknown("callback_attempts", row.id, "state", other)),
        };
        let check = row.check_id.ok_or_else(|| StoreError::corrupt("an opened attempt has no call"))?;
        Ok(Self {
            id: decode::id(row.id)?,
            nonce_fingerprint: row.nonce_fingerprint,
            check: decode::text(&check)?,
            state,
            expires_at: decode::moment(row.expires_at),
        })
    }
}

/// Reason why an exchange is rolled back.
enum ExchangeError {
    SeveralCustomers,
    /// A concurrent exchange of another attempt bound the phone.
    Lost,
    Store(StoreError),
}

impl From<StoreError> for ExchangeError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn insert_attempt(connection: &mut AnyConnection, new: &NewAttempt) -> Result<Option<i64>, QueryError> {
    let row = (
        callback_attempts::project_id.eq(new.app.project_id.get()),
        callback_attempts::application_id.eq(new.app.application_id.get()),
        callback_attempts::phone.eq(new.phone.as_str()),
        callback_attempts::nonce_fingerprint.eq(&new.nonce_fingerprint),
        callback_attempts::session_fingerprint.eq(&new.session_fingerprint),
        callback_attempts::state.eq(state::PREPARING),
        callback_attempts::created_at.eq(new.created_at.naive_utc()),
        callback_attempts::expires_at.eq(new.expires_at.naive_utc()),
    );
    on_each!(connection, concrete => diesel::insert_into(callback_attempts::table)
        .values(row)
        .on_conflict((
            callback_attempts::project_id,
            callback_attempts::application_id,
            callback_attempts::nonce_fingerprint,
        ))
        .do_nothing()
        .returning(callback_attempts::id)
        .get_result(concrete)
        .optional())
}

/// Reserves the phone for the attempt. Takes it over from an attempt whose reservation has expired.
fn hold_phone(connection: &mut AnyConnection, new: &NewAttempt, attempt: i64) -> Result<bool, QueryError> {
    let (project, phone) = (new.app.project_id.get(), new.phone.as_str());
    let phone_hold =
        (callback_phones::attempt_id.eq(attempt), callback_phones::held_until.eq(new.phone_held_until.naive_utc()));
    let row = (callback_phones::project_id.eq(project), callback_phones::phone.eq(phone), phone_hold);
    let held = on_each!(connection, concrete => diesel::insert_into(callback_phones::table)
        .values(row)
        .on_conflict_do_nothing()
        .execute(concrete))?;
    if held == 1 {
        return Ok(true);
    }
    let released = callback_phones::table
        .find((project, phone))
        .filter(callback_phones::held_until.le(new.created_at.naive_utc()));
    Ok(diesel::update(released).set(phone_hold).execute(connection)? == 1)
}

fn free_phone(connection: &mut AnyConnection, attempt: i64) -> Result<(), QueryError> {
    diesel::delete(callback_phones::table.filter(callback_phones::attempt_id.eq(attempt))).execute(connection)?;
    Ok(())
}

fn load(connection: &mut AnyConnection, attempt: i64) -> Result<AttemptRow, QueryError> {
    callback_attempts::table.find(attempt).select(AttemptRow::as_select()).first(connection)
}

/// Consumes a verified attempt and returns its phone.
fn consume_attempt(connection: &mut AnyConnection, exchange: &AttemptExchange) -> Result<Option<String>, QueryError> {
    let now = exchange.token.created_at.naive_utc();
    let verified = callback_attempts::table
        .find(exchange.attempt.get())
        .filter(callback_attempts::project_id.eq(exchange.app.project_id.get()))
        .filter(callback_attempts::application_id.eq(exchange.app.application_id.get()))
        .filter(callback_attempts::state.eq(state::VERIFIED))
        .filter(callback_attempts::expires_at.gt(now));
    diesel::update(verified)
        .set((callback_attempts::state.eq(state::EXCHANGED), callback_attempts::expires_at.eq(now)))
        .returning(callback_attempts::phone)
        .get_result(connection)
        .optional()
}

fn exchanged(
    connection: &mut AnyConnection,
    exchange: &AttemptExchange,
) -> Result<ExchangeOutcome, Abort<ExchangeError>> {
    let Some(phone) = consume_attempt(connection, exchange)? else { return Ok(ExchangeOutcome::NotVerified) };
    let (project, contact) = (exchange.app.project_id, Contact::Phone(decode::text::<Phone>(&phone)?));
    let customer = if let Some(id) = lock_bound_customer(connection, project, &contact)? {
        id
    } else {
        let id = match owner(connection, project, &contact, None)? {
            ContactOwner::Several { .. } => return Err(Abort::Refused(ExchangeError::SeveralCustomers)),
            ContactOwner::One(id) if lock_customer(connection, id.get())? => id.get(),
            _ => create(
                connection,
                project,
                &contact,
                &NewCustomerData::default(),
                exchange.token.created_at.naive_utc(),
            )?,
        };
        if !bind(connection, project, contact.as_str(), id)? {
            return Err(Abort::Refused(ExchangeError::Lost));
        }
        id
    };
    let customer = decode::id(customer)?;
    let holder = Holder::Customer(project, exchange.app.application_id, customer);
    let token = insert_token(connection, &holder, &exchange.token)?;
    Ok(ExchangeOutcome::SignedIn { counterparty_id: customer, token_id: decode::id(token)? })
}

#[async_trait]
impl CallbackAttempts for Database {
    async fn begin(&self, attempt: NewAttempt) -> Result<CallbackAttemptId, ClaimError> {
        self.write(move |connection| {
            let id = insert_attempt(connection, &attempt)?.ok_or(Abort::Refused(ClaimError::NonceUsed))?;
            if hold_phone(connection, &attempt, id)? {
                return Ok(decode::id(id)?);
            }
            let until: Option<NaiveDateTime> = callback_phones::table
                .find((attempt.app.project_id.get(), attempt.phone.as_str()))
                .select(callback_phones::held_until)
                .first(connection)
                .optional()?;
            // Released in the same instant: the next attempt gets it.
            let until = until.map_or(attempt.created_at, decode::moment);
            Err(Abort::Refused(ClaimError::PhoneHeld { until }))
        })
        .await
    }

    async fn open(&self, id: CallbackAttemptId, check: &CheckId, expires_at: DateTime<Utc>) -> Result<(), StoreError> {
        let check = check.clone();
        self.write(move |connection| {
            let prepared = callback_attempts::table.find(id.get());
            diesel::update(prepared.filter(callback_attempts::state.eq(state::PREPARING)))
                .set((
                    callback_attempts::state.eq(state::PENDING),
                    callback_attempts::check_id.eq(check.as_str()),
                    callback_attempts::expires_at.eq(expires_at.naive_utc()),
                ))
                .execute(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn abandon(&self, id: CallbackAttemptId) -> Result<(), StoreError> {
        self.write(move |connection| {
            let prepared = callback_attempts::table.find(id.get());
            diesel::update(prepared.filter(callback_attempts::state.eq(state::PREPARING)))
                .set(callback_attempts::state.eq(state::FAILED))
                .execute(connection)?;
            free_phone(connection, id.get())?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn find(&self, app: AppScope, session_fingerprint: &str) -> Result<Option<CallbackAttempt>, StoreError> {
        let session = session_fingerprint.to_owned();
        self.expecting(Extent::Keys)
            .read(move |connection| {
                // The fingerprint is keyed, so comparing it in the statement reveals nothing about the token.
                let row: Option<AttemptRow> = callback_attempts::table
                    .filter(callback_attempts::project_id.eq(app.project_id.get()))
                    .filter(callback_attempts::application_id.eq(app.application_id.get()))
                    .filter(callback_attempts::session_fingerprint.eq(&session))
                    .filter(callback_attempts::check_id.is_not_null())
                    .select(AttemptRow::as_select())
                    .first(connection)
                    .optional()?;
                Ok::<_, Abort<StoreError>>(row.map(CallbackAttempt::try_from).transpose()?)
            })
            .await
    }

    async fn find_by_check(&self, check: &CheckId) -> Result<Option<CallbackAttempt>, StoreError> {
        let check = check.clone();
        self.read(move |connection| {
            let row: Option<AttemptRow> = callback_attempts::table
                .filter(callback_attempts::check_id.eq(check.as_str()))
                .select(AttemptRow::as_select())
                .first(connection)
                .optional()?;
            Ok::<_, Abort<StoreError>>(row.map(CallbackAttempt::try_from).transpose()?)
        })
        .await
    }

    async fn may_ask(
        &self,
        id: CallbackAttemptId,
        asking: QueryPurpose,
        at: DateTime<Utc>,
        not_since: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let (now, before) = (at.naive_utc(), not_since.naive_utc());
            let pending = callback_attempts::table.find(id.get()).filter(callback_attempts::state.eq(state::PENDING));
            let updated = match asking {
                QueryPurpose::Status => {
                    let due = callback_attempts::status_asked_at.is_null();
                    let due = due.or(callback_attempts::status_asked_at.le(before));
                    diesel::update(pending.filter(due))
                        .set(callback_attempts::status_asked_at.eq(now))
                        .execute(connection)
                }
                QueryPurpose::Exchange => {
                    let due = callback_attempts::exchange_asked_at.is_null();
                    let due = due.or(callback_attempts::exchange_asked_at.le(before));
                    diesel::update(pending.filter(due))
                        .set(callback_attempts::exchange_asked_at.eq(now))
                        .execute(connection)
                }
            }?;
            Ok::<_, Abort<StoreError>>(updated == 1)
        })
        .await
    }

    async fn change(
        &self,
        id: CallbackAttemptId,
        change: AttemptChange,
        at: DateTime<Utc>,
    ) -> Result<CallbackAttempt, StoreError> {
        self.write(move |connection| {
            let (state, expires_at) = match change {
                AttemptChange::Verified { expires_at } => (state::VERIFIED, expires_at),
                AttemptChange::Expired => (state::ENDED, at),
            };
            let pending = callback_attempts::table
                .find(id.get())
                .filter(callback_attempts::state.eq(state::PENDING))
                .filter(callback_attempts::expires_at.gt(at.naive_utc()));
            let changed = diesel::update(pending)
                .set((callback_attempts::state.eq(state), callback_attempts::expires_at.eq(expires_at.naive_utc())))
                .execute(connection)?;
            if changed == 1 {
                free_phone(connection, id.get())?;
            }
            Ok::<_, Abort<StoreError>>(load(connection, id.get())?.try_into()?)
        })
        .await
    }

    async fn exchange(&self, exchange: AttemptExchange) -> Result<ExchangeOutcome, StoreError> {
        for _ in 0..MAX_EXCHANGE_ATTEMPTS {
            let exchange = exchange.clone();
            match self.write(move |connection| exchanged(connection, &exchange)).await {
                Ok(outcome) => return Ok(outcome),
                Err(ExchangeError::SeveralCustomers) => return Ok(ExchangeOutcome::SeveralCustomers),
                Err(ExchangeError::Store(error)) => return Err(error),
                Err(ExchangeError::Lost) => {}
            }
        }
        Err(StoreError::Unavailable("a phone was linked and unlinked by concurrent requests; retry".to_owned()))
    }
}
