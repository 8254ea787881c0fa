use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_auth::model::{Login, PasswordRecipient, PasswordRequest, TemporaryPassword};
use kontor_auth::ports::PasswordRequests;
use kontor_kernel::StoreError;

use super::EMPLOYEE;
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::decode;
use crate::lease::{LeaseRequest, Leased, Queue};
use crate::schema::{password_requests, temporary_passwords, users};
use crate::statement::Statement;

#[derive(Queryable, Selectable)]
#[diesel(table_name = password_requests)]
struct RequestRow {
    login: String,
    requested_at: NaiveDateTime,
    attempts: i32,
}

/// Requests for a temporary password, keyed by login.
pub(crate) const REQUESTS: Queue =
    Queue { table: "password_requests", key: "login", due: Some("next_attempt_at"), open: "TRUE", on_park: "" };

const LEASED: Leased<String, RequestRow, PasswordRequest> = Leased { load, read: request };

fn load(connection: &mut AnyConnection, logins: &[String]) -> QueryResult<Vec<(String, RequestRow)>> {
    let rows: Vec<RequestRow> = password_requests::table
        .filter(password_requests::login.eq_any(logins))
        .select(RequestRow::as_select())
        .load(connection)?;
    Ok(rows.into_iter().map(|row| (row.login.clone(), row)).collect())
}

fn request(row: RequestRow) -> Result<PasswordRequest, StoreError> {
    Ok(PasswordRequest {
        login: Login::parse(&row.login).map_err(StoreError::corrupt)?,
        requested_at: decode::moment(row.requested_at),
        attempts: u32::try_from(row.attempts).map_err(StoreError::corrupt)?,
    })
}

/// Queues a request and replaces an earlier one for the login.
pub(super) fn enqueue(connection: &mut AnyConnection, login: &Login, at: NaiveDateTime) -> QueryResult<()> {
    let state = (
        password_requests::requested_at.eq(at),
        password_requests::attempts.eq(0),
        password_requests::next_attempt_at.eq(at),
        password_requests::lease_owner.eq(None::<&str>),
        password_requests::leased_until.eq(None::<NaiveDateTime>),
        password_requests::parked_at.eq(None::<NaiveDateTime>),
        password_requests::parked_reason.eq(None::<&str>),
    );
    on_each!(connection, concrete => {
        diesel::insert_into(password_requests::table)
            .values((password_requests::login.eq(login.as_str()), state))
            .on_conflict(password_requests::login)
            .do_update()
            .set(state)
            .execute(concrete)
    })?;
    Ok(())
}

#[async_trait]
impl PasswordRequests for Database {
    async fn enqueue(&self, login: &Login, at: DateTime<Utc>) -> Result<(), StoreError> {
        let (login, at) = (login.clone(), at.naive_utc());
        self.write(move |connection| Ok::<_, Abort<StoreError>>(enqueue(connection, &login, at)?)).await
    }

    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<PasswordRequest>, StoreError> {
        let set = Statement::new(", attempts = attempts + 1");
        Ok(self.lease_rows(&REQUESTS, LeaseRequest::new(owner, at, until, 1), set, LEASED).await?.pop())
    }

    async fn postpone(&self, request: &PasswordRequest, next: DateTime<Utc>) -> Result<(), StoreError> {
        let (request, next) = (request.clone(), next.naive_utc());
        self.write(move |connection| {
            let attempts = i32::try_from(request.attempts).map_err(StoreError::corrupt)?;
            let tried = password_requests::table
                .find(request.login.as_str())
                .filter(password_requests::requested_at.eq(request.requested_at.naive_utc()))
                .filter(password_requests::attempts.eq(attempts));
            diesel::update(tried)
                .set((
                    password_requests::next_attempt_at.eq(next),
                    password_requests::lease_owner.eq(None::<String>),
                    password_requests::leased_until.eq(None::<NaiveDateTime>),
                ))
                .execute(connection)?;
            Ok::<_, Abort<StoreError>>(())
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
            Ok(Some(PasswordRecipient { user_id: decode::id(user)?, email: decode::text(&email)? }))
        })
        .await
    }

    async fn store(&self, password: TemporaryPassword) -> Result<(), StoreError> {
        self.write(move |connection| {
            // A ban removes the stored password, so no ban may commit in between.
            let welcome = users::table.find(password.user_id.get()).filter(users::is_banned.eq(false));
            if diesel::update(welcome).set(users::is_banned.eq(users::is_banned)).execute(connection)? == 0 {
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
