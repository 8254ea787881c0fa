use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::prelude::*;
use kontor_auth::model::{Login, PasswordRecipient, PasswordRequest, TemporaryPassword};
use kontor_auth::ports::PasswordRequests;
use kontor_kernel::StoreError;

use super::EMPLOYEE;
use crate::database::{Abort, Database, on_each};
use crate::schema::{password_requests, temporary_passwords, users};
use crate::stored;

#[derive(Queryable, Selectable)]
#[diesel(table_name = password_requests)]
struct RequestRow {
    login: String,
    requested_at: NaiveDateTime,
    attempts: i32,
}

/// How many due requests are tried before a round ends; others lease the same ones at the same time.
const CANDIDATES: i64 = 8;
/// Pauses double no further than this; requests are forgotten long before.
const MOST_DOUBLINGS: i32 = 10;

fn leased_until(at: NaiveDateTime, lease: TimeDelta, attempts: i32) -> NaiveDateTime {
    at + lease * (1 << attempts.clamp(0, MOST_DOUBLINGS))
}

#[async_trait]
impl PasswordRequests for Database {
    async fn note(&self, login: &Login, at: DateTime<Utc>) -> Result<(), StoreError> {
        let (login, at) = (login.clone(), at.naive_utc());
        self.write(move |connection| {
            let state = (
                password_requests::requested_at.eq(at),
                password_requests::attempts.eq(0),
                password_requests::next_attempt_at.eq(at),
            );
            on_each!(connection, concrete => {
                diesel::insert_into(password_requests::table)
                    .values((password_requests::login.eq(login.as_str()), state))
                    .on_conflict(password_requests::login)
                    .do_update()
                    .set(state)
                    .execute(concrete)
            })?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn claim(&self, at: DateTime<Utc>, lease: TimeDelta) -> Result<Option<PasswordRequest>, StoreError> {
        let at = at.naive_utc();
        let due: Vec<RequestRow> = self
            .read(move |connection| {
                Ok::<_, Abort<StoreError>>(
                    password_requests::table
                        .filter(password_requests::next_attempt_at.le(at))
                        .order(password_requests::next_attempt_at)
                        .limit(CANDIDATES)
                        .select(RequestRow::as_select())
                        .load(connection)?,
                )
            })
            .await?;
        if due.is_empty() {
            return Ok(None);
        }
        self.write(move |connection| {
            for row in &due {
                let free = password_requests::table
                    .find(&row.login)
                    .filter(password_requests::requested_at.eq(row.requested_at))
                    .filter(password_requests::attempts.eq(row.attempts))
                    .filter(password_requests::next_attempt_at.le(at));
                let leased = diesel::update(free)
                    .set((
                        password_requests::attempts.eq(row.attempts + 1),
                        password_requests::next_attempt_at.eq(leased_until(at, lease, row.attempts)),
                    ))
                    .execute(connection)?;
                if leased == 1 {
                    return Ok(Some(PasswordRequest {
                        login: Login::parse(&row.login).map_err(StoreError::corrupt)?,
                        requested_at: stored::moment(row.requested_at),
                        attempts: u32::try_from(row.attempts + 1).map_err(StoreError::corrupt)?,
                    }));
                }
            }
            Ok::<_, Abort<StoreError>>(None)
        })
        .await
    }

    async fn recipient(&self, login: &Login) -> Result<Option<PasswordRecipient>, StoreError> {
        let login = login.clone();
        self.read(move |connection| {
            let row: Option<(i64, String)> = users::table
                .filter(users::login.eq(login.as_str()))
                .filter(users::kind.eq(EMPLOYEE))
                .filter(users::is_banned.eq(false))
                .select((users::id, users::email))
                .first(connection)
                .optional()?;
            let Some((user, email)) = row else { return Ok(None) };
            Ok(Some(PasswordRecipient { user_id: stored::id(user)?, email: stored::text(&email)? }))
        })
        .await
    }

    async fn store(&self, password: TemporaryPassword) -> Result<(), StoreError> {
        self.write(move |connection| {
            // A ban removes what is stored, so it must not come between.
            let welcome = users::table.find(password.user_id.get()).filter(users::is_banned.eq(false));
            if diesel::update(welcome).set(users::is_banned.eq(false)).execute(connection)? == 0 {
                return Ok(());
            }
            let state = (
                temporary_passwords::password_hash.eq(&password.hash),
                temporary_passwords::created_at.eq(password.created_at.naive_utc()),
                temporary_passwords::expires_at.eq(password.expires_at.naive_utc()),
            );
            on_each!(connection, concrete => {
                diesel::insert_into(temporary_passwords::table)
                    .values((temporary_passwords::user_id.eq(password.user_id.get()), state))
                    .on_conflict(temporary_passwords::user_id)
                    .do_update()
                    .set(state)
                    .execute(concrete)
            })?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn forget(&self, request: &PasswordRequest) -> Result<(), StoreError> {
        let request = request.clone();
        self.write(move |connection| {
            let answered = password_requests::table
                .find(request.login.as_str())
                .filter(password_requests::requested_at.eq(request.requested_at.naive_utc()));
            diesel::delete(answered).execute(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}
