use async_trait::async_trait;
use chrono::{NaiveDateTime, TimeDelta};
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as QueryError};
use kontor_auth::StaffRegistryError;
use kontor_auth::model::{Employee, GrantedPermission, Login, NewOwner, NewToken, Reference, Role, StaffCredentials};
use kontor_auth::ports::StaffRepository;
use kontor_kernel::{BranchId, InvalidId, StoreError, TokenId, UserId};

use super::{Holder, insert_token};
use crate::database::{Abort, AnyConnection, Database};
use crate::schema::{branches, permissions, role_permissions, roles, screens, users};
use crate::stored;

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct EmployeeRow {
    id: i64,
    project_id: i64,
    login: String,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    phone: Option<String>,
    is_banned: bool,
    is_sick: bool,
    active_seconds: i64,
    last_activity_at: Option<NaiveDateTime>,
    creator_id: Option<i64>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = roles)]
struct RoleRow {
    id: i64,
    name: String,
    description: Option<String>,
    is_owner: bool,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = branches)]
struct BranchRow {
    id: i64,
    name: String,
}

#[derive(Queryable)]
struct PermissionRow {
    id: i64,
    screen_id: i64,
    screen: String,
    name: String,
    description: String,
}

fn reference<Id: TryFrom<i64, Error = InvalidId>>(id: i64, name: &str) -> Result<Reference<Id>, StoreError> {
    Ok(Reference { id: stored::id(id)?, name: stored::text(name)? })
}

impl TryFrom<PermissionRow> for GrantedPermission {
    type Error = StoreError;

    fn try_from(row: PermissionRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored::id(row.id)?,
            screen: reference(row.screen_id, &row.screen)?,
            name: row.name,
            description: row.description,
        })
    }
}

/// The owner's role has every permission without listing any.
fn granted(connection: &mut AnyConnection, role: &RoleRow) -> Result<Vec<GrantedPermission>, Abort<StoreError>> {
    let listed = role_permissions::table
        .filter(role_permissions::role_id.eq(role.id))
        .filter(role_permissions::permission_id.eq(permissions::id));
    let rows: Vec<PermissionRow> = permissions::table
        .inner_join(screens::table.on(screens::id.eq(permissions::screen_id)))
        .filter(diesel::dsl::exists(listed).or(role.is_owner.into_sql::<diesel::sql_types::Bool>()))
        .order(permissions::id)
        .select((permissions::id, screens::id, screens::name, permissions::name, permissions::description))
        .load(connection)?;
    rows.into_iter().map(|row| row.try_into().map_err(Abort::Store)).collect()
}

/// The employee who made the account.
fn creator(connection: &mut AnyConnection, id: Option<i64>) -> Result<Option<Reference<UserId>>, Abort<StoreError>> {
    let Some(id) = id else { return Ok(None) };
    let (first, last): (String, String) =
        users::table.find(id).select((users::first_name, users::last_name)).first(connection)?;
    Ok(Some(reference(id, &format!("{first} {last}"))?))
}

fn employee(
    user: EmployeeRow,
    role: RoleRow,
    branch: Option<BranchRow>,
    creator: Option<Reference<UserId>>,
    permissions: Vec<GrantedPermission>,
) -> Result<Employee, StoreError> {
    Ok(Employee {
        id: stored::id(user.id)?,
        project_id: stored::id(user.project_id)?,
        login: Login::parse(&user.login).map_err(StoreError::corrupt)?,
        first_name: stored::text(&user.first_name)?,
        last_name: stored::text(&user.last_name)?,
        middle_name: stored::optional_text(user.middle_name.as_deref())?,
        phone: stored::optional_text(user.phone.as_deref())?,
        role: Role { id: stored::id(role.id)?, name: stored::text(&role.name)?, description: role.description },
        branch: branch.map(|branch| reference(branch.id, &branch.name)).transpose()?,
        creator,
        is_banned: user.is_banned,
        is_sick: user.is_sick,
        active_time: TimeDelta::try_seconds(user.active_seconds)
            .ok_or_else(|| StoreError::corrupt("an active time without bounds"))?,
        last_activity_at: user.last_activity_at.map(stored::moment),
        permissions,
    })
}

#[async_trait]
impl StaffRepository for Database {
    async fn credentials(&self, login: &Login) -> Result<Option<StaffCredentials>, StoreError> {
        let login = login.clone();
        self.read(move |connection| {
            let row: Option<(i64, i64, String, bool)> = users::table
                .filter(users::login.eq(login.as_str()))
                .filter(users::kind.eq("employee"))
                .select((users::id, users::project_id, users::password_hash, users::is_banned))
                .first(connection)
                .optional()?;
            let Some((user, project, password_hash, is_banned)) = row else { return Ok(None) };
            Ok(Some(StaffCredentials {
                user_id: stored::id(user)?,
                project_id: stored::id(project)?,
                password_hash,
                is_banned,
            }))
        })
        .await
    }

    async fn sign_in(&self, user: UserId, token: NewToken) -> Result<TokenId, StoreError> {
        self.write(move |connection| {
            let project: i64 = diesel::update(users::table.find(user.get()))
                .set(users::last_activity_at.eq(token.created_at.naive_utc()))
                .returning(users::project_id)
                .get_result(connection)?;
            let id = insert_token(connection, &Holder::Staff(stored::id(project)?, user), &token)?;
            Ok(stored::id(id)?)
        })
        .await
    }

    async fn employee(&self, user: UserId) -> Result<Option<Employee>, StoreError> {
        self.read_snapshot(move |connection| {
            let row: Option<(EmployeeRow, RoleRow, Option<BranchRow>)> = users::table
                .inner_join(roles::table.on(roles::id.eq(users::role_id)))
                .left_join(branches::table.on(branches::id.nullable().eq(users::branch_id)))
                .filter(users::id.eq(user.get()))
                .select((EmployeeRow::as_select(), RoleRow::as_select(), Option::<BranchRow>::as_select()))
                .first(connection)
                .optional()?;
            let Some((user, role, branch)) = row else { return Ok(None) };
            let creator = creator(connection, user.creator_id)?;
            let permissions = granted(connection, &role)?;
            Ok(Some(employee(user, role, branch, creator, permissions)?))
        })
        .await
    }

    async fn insert_owner(&self, owner: NewOwner) -> Result<UserId, StaffRegistryError> {
        self.write(move |connection| {
            if let Some(branch) = owner.branch_id {
                let known = branches::table
                    .filter(branches::id.eq(branch.get()))
                    .filter(branches::project_id.eq(owner.project_id.get()));
                if !diesel::select(diesel::dsl::exists(known)).get_result::<bool>(connection)? {
                    return Err(Abort::Refused(StaffRegistryError::UnknownBranch));
                }
            }
            let role = owner_role(connection, &owner)?;
            let at = owner.created_at.naive_utc();
            let inserted = diesel::insert_into(users::table)
                .values((
                    users::project_id.eq(owner.project_id.get()),
                    users::branch_id.eq(owner.branch_id.map(BranchId::get)),
                    users::role_id.eq(role),
                    users::login.eq(owner.login.as_str()),
                    users::email.eq(owner.email.as_str()),
                    users::password_hash.eq(&owner.password_hash),
                    users::first_name.eq("Project"),
                    users::last_name.eq("Owner"),
                    users::is_banned.eq(false),
                    users::is_sick.eq(false),
                    users::active_seconds.eq(0),
                    users::created_at.eq(at),
                    users::updated_at.eq(at),
                ))
                .returning(users::id)
                .get_result::<i64>(connection);
            match inserted {
                Ok(id) => Ok(stored::id(id)?),
                // The login is the only unique key that is not generated.
                Err(QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
                    Err(Abort::Refused(StaffRegistryError::LoginTaken))
                }
                Err(error) => Err(error.into()),
            }
        })
        .await
    }
}

fn owner_role(connection: &mut AnyConnection, owner: &NewOwner) -> Result<i64, QueryError> {
    let existing = roles::table
        .filter(roles::project_id.eq(owner.project_id.get()))
        .filter(roles::is_owner.eq(true))
        .order(roles::id)
        .select(roles::id)
        .first(connection)
        .optional()?;
    if let Some(role) = existing {
        return Ok(role);
    }
    let at = owner.created_at.naive_utc();
    diesel::insert_into(roles::table)
        .values((
            roles::project_id.eq(owner.project_id.get()),
            roles::name.eq("Owner"),
            roles::description.eq("May do everything in the project"),
            roles::is_owner.eq(true),
            roles::created_at.eq(at),
            roles::updated_at.eq(at),
        ))
        .returning(roles::id)
        .get_result(connection)
}
