//! Payment attempts: who works on them and what becomes known.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{PaymentAttemptId, StoreError};
use kontor_orders::change::{AttemptChange, Change};
use kontor_orders::model::{AttemptState, PaymentAttempt, ProviderPaymentId};
use kontor_orders::ports::AttemptStore;
use uuid::Uuid;

use super::settle;
use crate::database::{Abort, AnyConnection, Database};
use crate::schema::{orders, payment_attempts};
use crate::stored;

#[derive(Queryable, Selectable)]
#[diesel(table_name = payment_attempts)]
struct AttemptRow {
    id: i64,
    project_id: i64,
    order_id: i64,
    state: String,
    provider_payment_id: Option<String>,
    request: String,
    checks: i32,
    created_at: NaiveDateTime,
}

pub(super) fn state_name(state: AttemptState) -> &'static str {
    match state {
        AttemptState::Prepared => "prepared",
        AttemptState::Pending => "pending",
        AttemptState::Succeeded => "succeeded",
        AttemptState::Canceled => "canceled",
        AttemptState::Refused => "refused",
    }
}

const STATES: [AttemptState; 5] = [
    AttemptState::Prepared,
    AttemptState::Pending,
    AttemptState::Succeeded,
    AttemptState::Canceled,
    AttemptState::Refused,
];

fn attempt((row, application): (AttemptRow, i64)) -> Result<PaymentAttempt, StoreError> {
    let state = STATES.into_iter().find(|state| state_name(*state) == row.state);
    let provider_id = row.provider_payment_id.as_deref().map(ProviderPaymentId::parse).transpose();
    Ok(PaymentAttempt {
        id: stored::id(row.id)?,
        project_id: stored::id(row.project_id)?,
        application_id: stored::id(application)?,
        order_id: stored::id(row.order_id)?,
        state: state.ok_or_else(|| StoreError::corrupt(format!("an attempt is {}", row.state)))?,
        provider_id: provider_id.map_err(StoreError::corrupt)?,
        request: serde_json::from_str(&row.request).map_err(StoreError::corrupt)?,
        checks: u32::try_from(row.checks).map_err(StoreError::corrupt)?,
        created_at: stored::moment(row.created_at),
    })
}

/// The columns an attempt is found by.
enum Key {
    Id(i64),
    Provider(String),
    Idempotence(String),
}

fn load(connection: &mut AnyConnection, key: &Key) -> Result<Option<PaymentAttempt>, Abort<StoreError>> {
    let all = payment_attempts::table
        .inner_join(orders::table.on(orders::id.eq(payment_attempts::order_id)))
        .select((AttemptRow::as_select(), orders::application_id));
    let row = match key {
        Key::Id(id) => all.filter(payment_attempts::id.eq(id)).first(connection),
        Key::Provider(id) => all.filter(payment_attempts::provider_payment_id.eq(id)).first(connection),
        Key::Idempotence(key) => all.filter(payment_attempts::idempotence_key.eq(key)).first(connection),
    };
    Ok(row.optional()?.map(attempt).transpose()?)
}

/// How many due attempts are tried before a round ends; others lease the same ones at the same time.
const CANDIDATES: i64 = 16;

#[async_trait]
impl AttemptStore for Database {
    async fn claim(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<PaymentAttempt>, StoreError> {
        let (owner, at, until) = (owner.to_owned(), at.naive_utc(), until.naive_utc());
        let due: Vec<i64> = self
            .read(move |connection| {
                let free = payment_attempts::leased_until.is_null().or(payment_attempts::leased_until.le(at));
                Ok::<_, Abort<StoreError>>(
                    payment_attempts::table
                        .filter(payment_attempts::next_check_at.le(at))
                        .filter(free)
                        .order((payment_attempts::next_check_at, payment_attempts::id))
                        .limit(CANDIDATES)
                        .select(payment_attempts::id)
                        .load(connection)?,
                )
            })
            .await?;
        if due.is_empty() {
            return Ok(None);
        }
        self.write(move |connection| {
            for id in &due {
                let free = payment_attempts::leased_until.is_null().or(payment_attempts::leased_until.le(at));
                let leased = diesel::update(
                    payment_attempts::table
                        .filter(payment_attempts::id.eq(id))
                        .filter(payment_attempts::next_check_at.le(at))
                        .filter(free),
                )
                .set((payment_attempts::leased_until.eq(until), payment_attempts::lease_owner.eq(&owner)))
                .execute(connection)?;
                if leased == 1 {
                    return load(connection, &Key::Id(*id));
                }
            }
            Ok(None)
        })
        .await
    }

    async fn by_provider(&self, id: &ProviderPaymentId) -> Result<Option<PaymentAttempt>, StoreError> {
        let key = Key::Provider(id.to_string());
        self.read(move |connection| load(connection, &key)).await
    }

    async fn by_key(&self, key: Uuid) -> Result<Option<PaymentAttempt>, StoreError> {
        let key = Key::Idempotence(key.to_string());
        self.read(move |connection| load(connection, &key)).await
    }

    async fn record(
        &self,
        attempt: PaymentAttemptId,
        change: AttemptChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError> {
        self.write(move |connection| settle::record(connection, attempt.get(), &change, at.naive_utc())).await
    }
}
