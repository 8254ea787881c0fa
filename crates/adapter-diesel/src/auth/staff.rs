//! Logins of employees, and their passwords.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_auth::StaffRegistryError;
use kontor_auth::model::{
    Employee, EmployeeChange, Login, NewEmployee, PasswordRecipient, PasswordRequest, RoleChoice, StaffCredentials,
    TemporaryPassword,
};
use kontor_auth::ports::{MatchedPassword, PasswordRequests, SignIn, SignInAddresses, StaffRepository};
use kontor_kernel::{DepartmentId, StoreError, TokenId, UserId};

use super::{EMPLOYEE, Holder, employees, end_staff_tokens, insert_token, registry};
use crate::database::{Abort, AnyConnection, Database, found, on_each};
use crate::decode;
use crate::lease::{Leased, Queue};
use crate::schema::{password_requests, sign_in_addresses, temporary_passwords, users};
use crate::statement::Statement;

#[async_trait]
impl StaffRepository for Database {
    async fn credentials(&self, login: &Login, at: DateTime<Utc>) -> Result<Option<StaffCredentials>, StoreError> {
        let (login, at) = (login.clone(), at.naive_utc());
        self.read(move |connection| {
            let of_user =
                temporary_passwords::user_id.eq(users::id).and(temporary_passwords::project_id.eq(users::project_id));
            let valid = of_user.and(temporary_passwords::expires_at.gt(at));
            let row: Option<(i64, i64, String, Option<String>, bool)> = users::table
                .left_join(temporary_passwords::table.on(valid))
                .filter(users::login.eq(login.as_str()))
                .filter(users::kind.eq(EMPLOYEE))
                .select((
                    users::id,
                    users::project_id,
                    users::password_hash,
                    temporary_passwords::password_hash.nullable(),
                    users::is_banned,
                ))
                .first(connection)
                .optional()?;
            let Some((user, project, password_hash, temporary_hash, is_banned)) = row else { return Ok(None) };
            Ok(Some(StaffCredentials {
                user_id: decode::id(user)?,
                project_id: decode::id(project)?,
                password_hash,
                temporary_hash,
                is_banned,
            }))
        })
        .await
    }

    async fn sign_in(&self, sign_in: SignIn) -> Result<Option<TokenId>, StoreError> {
        self.write(move |connection| {
            let (user, at) = (sign_in.user_id, sign_in.token.created_at.naive_utc());
            let admitted = users::table.find(user.get()).filter(users::is_banned.eq(false));
            let project: Option<i64> = match &sign_in.proved {
                MatchedPassword::Own(hash) => diesel::update(admitted.filter(users::password_hash.eq(hash)))
                    .set(users::last_activity_at.eq(at))
                    .returning(users::project_id)
                    .get_result(connection)
                    .optional()?,
                MatchedPassword::Temporary(hash) => {
                    let temporary =
                        temporary_passwords::table.find(user.get()).filter(temporary_passwords::password_hash.eq(hash));
                    let first = diesel::delete(temporary).execute(connection)? == 1;
                    // A second call with the same password finds it adopted already.
                    let right = users::password_hash.eq(hash).or(first.into_sql::<diesel::sql_types::Bool>());
                    let project: Option<i64> = diesel::update(admitted.filter(right))
                        .set((users::password_hash.eq(hash), users::last_activity_at.eq(at), users::updated_at.eq(at)))
                        .returning(users::project_id)
                        .get_result(connection)
                        .optional()?;
                    if let (true, Some(project)) = (first, project) {
                        // The row of the employee is locked by now. A concurrent login with the former password either
                        // has stored a token that ends here, or finds another password.
                        end_staff_tokens(connection, project, user)?;
                    }
                    project
                }
            };
            let Some(project) = project else { return Ok(None) };
            let id = insert_token(connection, &Holder::Staff(decode::id(project)?, user), &sign_in.token)?;
            Ok(Some(decode::id(id)?))
        })
        .await
    }

    async fn employee(&self, user: UserId) -> Result<Option<Employee>, StoreError> {
        self.snapshot(move |connection| Ok(employees::load::<StoreError>(connection, &[user.get()])?.pop())).await
    }

    async fn insert_employee(&self, employee: NewEmployee) -> Result<UserId, StaffRegistryError> {
        self.write(move |connection| registry::insert(connection, &employee)).await
    }

    async fn ban(&self, user: UserId, at: DateTime<Utc>) -> Result<(), StaffRegistryError> {
        self.write(move |connection| registry::ban(connection, user, at.naive_utc())).await
    }

    async fn unban(&self, user: UserId, at: DateTime<Utc>) -> Result<(), StaffRegistryError> {
        self.write(move |connection| registry::unban(connection, user, at.naive_utc())).await
    }

    async fn assign_role(&self, user: UserId, role: RoleChoice, at: DateTime<Utc>) -> Result<(), StaffRegistryError> {
        self.write(move |connection| registry::assign_role(connection, user, role, at.naive_utc())).await
    }

    async fn assign_department(
        &self,
        user: UserId,
        department: Option<DepartmentId>,
        at: DateTime<Utc>,
    ) -> Result<(), StaffRegistryError> {
        self.write(move |connection| registry::assign_department(connection, user, department, at.naive_utc())).await
    }

    async fn update_employee(
        &self,
        login: &Login,
        change: EmployeeChange,
        at: DateTime<Utc>,
    ) -> Result<UserId, StaffRegistryError> {
        let login = login.clone();
        self.write(move |connection| registry::update(connection, &login, &change, at.naive_utc())).await
    }
}

#[async_trait]
impl SignInAddresses for Database {
    async fn contains(&self, fingerprint: &str) -> Result<bool, StoreError> {
        let fingerprint = fingerprint.to_owned();
        self.read(move |connection| {
            Ok::<_, Abort<StoreError>>(found!(connection, sign_in_addresses::table.find(&fingerprint))?)
        })
        .await
    }

    async fn remember(&self, fingerprint: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        let fingerprint = fingerprint.to_owned();
        self.write(move |connection| {
            let row = (sign_in_addresses::fingerprint.eq(&fingerprint), sign_in_addresses::seen_at.eq(at.naive_utc()));
            on_each!(connection, concrete => diesel::insert_into(sign_in_addresses::table)
                .values(row)
                .on_conflict(sign_in_addresses::fingerprint)
                .do_update()
                .set(sign_in_addresses::seen_at.eq(at.naive_utc()))
                .execute(concrete))?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = password_requests)]
struct RequestRow {
    login: String,
    requested_at: NaiveDateTime,
    attempts: i32,
}

/// Requests for a temporary password, keyed by login.
pub(crate) const REQUESTS: Queue = Queue {
    table: "password_requests",
    key: "login",
    due: Some("next_attempt_at"),
    open: "TRUE",
    on_park: "",
    of_projects: false,
};

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
        self.lease_row(&REQUESTS, owner, at, until, set, LEASED).await
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

    async fn store(&self, password: TemporaryPassword) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let PasswordRecipient { user_id, email } = &password.recipient;
            // A ban or another address removes the stored password, so neither may commit in between.
            let same_user = users::table.find(user_id.get()).filter(users::is_banned.eq(false));
            let same_user = same_user.filter(users::email.eq(email.as_str()));
            let project: Option<i64> = diesel::update(same_user)
                .set(users::is_banned.eq(users::is_banned))
                .returning(users::project_id)
                .get_result(connection)
                .optional()?;
            let Some(project) = project else { return Ok(false) };
            let key = (temporary_passwords::project_id.eq(project), temporary_passwords::user_id.eq(user_id.get()));
            let state = (
                temporary_passwords::password_hash.eq(&password.hash),
                temporary_passwords::created_at.eq(password.created_at.naive_utc()),
                temporary_passwords::expires_at.eq(password.expires_at.naive_utc()),
            );
            on_each!(connection, concrete => {
                diesel::insert_into(temporary_passwords::table)
                    .values((key, state))
                    .on_conflict((temporary_passwords::user_id, temporary_passwords::project_id))
                    .do_update()
                    .set(state)
                    .execute(concrete)
            })?;
            Ok::<_, Abort<StoreError>>(true)
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
