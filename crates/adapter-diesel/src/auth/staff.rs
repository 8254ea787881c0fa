use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_auth::StaffRegistryError;
use kontor_auth::model::{Employee, EmployeeChange, Login, NewEmployee, RoleChoice, StaffCredentials};
use kontor_auth::ports::{MatchedPassword, SignIn, SignInAddresses, StaffRepository};
use kontor_kernel::{DepartmentId, StoreError, TokenId, UserId};

use super::{EMPLOYEE, Holder, employees, end_staff_tokens, insert_token, registry};
use crate::database::{Abort, Database, found, on_each};
use crate::decode;
use crate::schema::{sign_in_addresses, temporary_passwords, users};

#[async_trait]
impl StaffRepository for Database {
    async fn credentials(&self, login: &Login, at: DateTime<Utc>) -> Result<Option<StaffCredentials>, StoreError> {
        let (login, at) = (login.clone(), at.naive_utc());
        self.read(move |connection| {
            let valid = temporary_passwords::user_id.eq(users::id).and(temporary_passwords::expires_at.gt(at));
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
                    let spent =
                        temporary_passwords::table.find(user.get()).filter(temporary_passwords::password_hash.eq(hash));
                    let first = diesel::delete(spent).execute(connection)? == 1;
                    // A second call with the same password finds it adopted already.
                    let right = users::password_hash.eq(hash).or(first.into_sql::<diesel::sql_types::Bool>());
                    let project = diesel::update(admitted.filter(right))
                        .set((users::password_hash.eq(hash), users::last_activity_at.eq(at), users::updated_at.eq(at)))
                        .returning(users::project_id)
                        .get_result(connection)
                        .optional()?;
                    if first && project.is_some() {
                        // The row of the employee is locked by now. A concurrent login with the former password either
                        // has stored a token that ends here, or finds another password.
                        end_staff_tokens(connection, user)?;
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
