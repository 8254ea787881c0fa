//! Changes of employee accounts by the operators of the service, and their steps.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_auth::StaffRegistryError;
use kontor_auth::model::{EmployeeChange, Login, NewEmployee, RoleChoice, is_last_owner};
use kontor_kernel::{BranchId, DepartmentId, FileId, Name, Phone, StoreError, UserId};

use super::{EMPLOYEE, end_staff_tokens};
use crate::customer_data::is_avatar;
use crate::database::{Abort, AnyConnection, found, on_duplicate};
use crate::decode;
use crate::schema::{branches, departments, referred, roles, temporary_passwords, users};
use crate::statement::Statement;

type Outcome<T = ()> = Result<T, Abort<StaffRegistryError>>;

/// Value of the column `kind` for the roles that staff see.
pub(super) const STAFF: &str = "staff";

fn refused<T>(reason: StaffRegistryError) -> Outcome<T> {
    Err(Abort::Refused(reason))
}

/// Locks a project, so that changes that could each remove its last owner run one after the other. SQLite has one
/// writer. Returns `false` if the project does not exist.
pub(super) fn hold_project(connection: &mut AnyConnection, project: i64) -> QueryResult<bool> {
    let held = Statement::new("SELECT id FROM projects WHERE id = ").value(project);
    held.locked(connection, " FOR NO KEY UPDATE").finds(connection)
}

fn require_project(connection: &mut AnyConnection, project: i64) -> Outcome {
    if hold_project(connection, project)? { Ok(()) } else { refused(StaffRegistryError::UnknownProject) }
}

/// Returns the project of an employee and locks it.
fn lock_project_of(connection: &mut AnyConnection, user: UserId) -> Outcome<i64> {
    let project: Option<i64> = users::table
        .find(user.get())
        .filter(users::kind.eq(EMPLOYEE))
        .select(users::project_id)
        .first(connection)
        .optional()?;
    let Some(project) = project else { return refused(StaffRegistryError::UnknownEmployee) };
    require_project(connection, project)?;
    Ok(project)
}

/// Returns `true` if the employee is the only owner who can still log in. The project is locked.
pub(super) fn is_only_owner<R>(connection: &mut AnyConnection, project: i64, user: UserId) -> Result<bool, Abort<R>> {
    let ids: Vec<i64> = users::table
        .inner_join(referred!(roles, users::role_id))
        .filter(users::project_id.eq(project))
        .filter(users::kind.eq(EMPLOYEE))
        .filter(users::is_banned.eq(false))
        .filter(roles::is_owner.eq(true))
        .order(users::id)
        .select(users::id)
        .limit(2)
        .load(connection)?;
    let owners = ids.into_iter().map(decode::id).collect::<Result<Vec<UserId>, StoreError>>()?;
    Ok(is_last_owner(&owners, user))
}

fn require_another_owner(connection: &mut AnyConnection, project: i64, user: UserId) -> Outcome {
    if is_only_owner::<StaffRegistryError>(connection, project, user)? {
        refused(StaffRegistryError::LastOwner)
    } else {
        Ok(())
    }
}

fn owner_role(connection: &mut AnyConnection, project: i64, at: NaiveDateTime) -> Result<i64, QueryError> {
    let existing = roles::table
        .filter(roles::project_id.eq(project))
        .filter(roles::is_owner.eq(true))
        .order(roles::id)
        .select(roles::id)
        .first(connection)
        .optional()?;
    if let Some(role) = existing {
        return Ok(role);
    }
    diesel::insert_into(roles::table)
        .values((
            roles::project_id.eq(project),
            roles::name.eq("Owner"),
            roles::description.eq("May do everything in the project"),
            roles::is_owner.eq(true),
            roles::created_at.eq(at),
            roles::updated_at.eq(at),
        ))
        .returning(roles::id)
        .get_result(connection)
}

/// Returns the chosen role, and `true` if it is the owner's; `None` if the project has no such role.
pub(super) fn chosen(
    connection: &mut AnyConnection,
    project: i64,
    role: RoleChoice,
    at: NaiveDateTime,
) -> QueryResult<Option<(i64, bool)>> {
    let RoleChoice::Role(id) = role else { return Ok(Some((owner_role(connection, project, at)?, true))) };
    let found: Option<bool> = roles::table
        .find(id.get())
        .filter(roles::project_id.eq(project))
        .filter(roles::kind.eq(STAFF))
        .select(roles::is_owner)
        .first(connection)
        .optional()?;
    Ok(found.map(|is_owner| (id.get(), is_owner)))
}

fn require_role(
    connection: &mut AnyConnection,
    project: i64,
    role: RoleChoice,
    at: NaiveDateTime,
) -> Outcome<(i64, bool)> {
    chosen(connection, project, role, at)?.ok_or(Abort::Refused(StaffRegistryError::UnknownRole))
}

/// Returns `true` if the department belongs to the project, or if there is none.
pub(super) fn has_department(
    connection: &mut AnyConnection,
    project: i64,
    department: Option<DepartmentId>,
) -> QueryResult<bool> {
    let Some(department) = department else { return Ok(true) };
    found!(connection, departments::table.find(department.get()).filter(departments::project_id.eq(project)))
}

fn require_department(connection: &mut AnyConnection, project: i64, department: Option<DepartmentId>) -> Outcome {
    let is_own = has_department(connection, project, department)?;
    if is_own { Ok(()) } else { refused(StaffRegistryError::UnknownDepartment) }
}

/// Returns `true` if the branch belongs to the project, or if there is none.
pub(super) fn has_branch(connection: &mut AnyConnection, project: i64, branch: Option<BranchId>) -> QueryResult<bool> {
    let Some(branch) = branch else { return Ok(true) };
    found!(connection, branches::table.find(branch.get()).filter(branches::project_id.eq(project)))
}

fn require_branch(connection: &mut AnyConnection, project: i64, branch: Option<BranchId>) -> Outcome {
    if has_branch(connection, project, branch)? { Ok(()) } else { refused(StaffRegistryError::UnknownBranch) }
}

pub(super) fn insert(connection: &mut AnyConnection, employee: &NewEmployee) -> Outcome<UserId> {
    let (project, at) = (employee.project_id.get(), employee.created_at.naive_utc());
    require_project(connection, project)?;
    require_branch(connection, project, employee.branch_id)?;
    require_department(connection, project, employee.department_id)?;
    let (role, _) = require_role(connection, project, employee.role, at)?;
    let id = insert_row(connection, employee, role, None).map_err(on_duplicate(StaffRegistryError::LoginTaken))?;
    Ok(decode::id(id)?)
}

/// Inserts the row of an employee. The login is the only unique key that is not generated.
pub(super) fn insert_row(
    connection: &mut AnyConnection,
    employee: &NewEmployee,
    role: i64,
    creator: Option<UserId>,
) -> QueryResult<i64> {
    let (project, at) = (employee.project_id.get(), employee.created_at.naive_utc());
    diesel::insert_into(users::table)
        .values((
            users::project_id.eq(project),
            users::branch_id.eq(employee.branch_id.map(BranchId::get)),
            users::department_id.eq(employee.department_id.map(DepartmentId::get)),
            users::role_id.eq(role),
            users::creator_id.eq(creator.map(UserId::get)),
            users::login.eq(employee.login.as_str()),
            users::email.eq(employee.email.as_str()),
            users::password_hash.eq(&employee.password_hash),
            users::first_name.eq(employee.first_name.as_str()),
            users::last_name.eq(employee.last_name.as_str()),
            users::middle_name.eq(employee.middle_name.as_ref().map(Name::as_str)),
            users::phone.eq(employee.phone.as_ref().map(Phone::as_str)),
            users::is_banned.eq(false),
            users::is_sick.eq(false),
            users::active_seconds.eq(0),
            users::created_at.eq(at),
            users::updated_at.eq(at),
        ))
        .returning(users::id)
        .get_result(connection)
}

/// Bans an employee and revokes their tokens and temporary password, or lifts the ban. Returns the number of changed
/// rows.
pub(super) fn set_banned(
    connection: &mut AnyConnection,
    project: i64,
    user: UserId,
    banned: bool,
    at: NaiveDateTime,
) -> QueryResult<usize> {
    let changed = diesel::update(users::table.find(user.get()).filter(users::project_id.eq(project)))
        .set((users::is_banned.eq(banned), users::version.eq(users::version + 1), users::updated_at.eq(at)))
        .execute(connection)?;
    if banned {
        end_staff_tokens(connection, project, user)?;
        delete_temporary_password(connection, project, user)?;
    }
    Ok(changed)
}

pub(super) fn delete_temporary_password(connection: &mut AnyConnection, project: i64, user: UserId) -> QueryResult<()> {
    let password = temporary_passwords::table.find(user.get()).filter(temporary_passwords::project_id.eq(project));
    diesel::delete(password).execute(connection)?;
    Ok(())
}

pub(super) fn ban(connection: &mut AnyConnection, user: UserId, at: NaiveDateTime) -> Outcome {
    let project = lock_project_of(connection, user)?;
    require_another_owner(connection, project, user)?;
    set_banned(connection, project, user, true, at)?;
    Ok(())
}

pub(super) fn unban(connection: &mut AnyConnection, user: UserId, at: NaiveDateTime) -> Outcome {
    let project = lock_project_of(connection, user)?;
    set_banned(connection, project, user, false, at)?;
    Ok(())
}

pub(super) fn assign_role(
    connection: &mut AnyConnection,
    user: UserId,
    role: RoleChoice,
    at: NaiveDateTime,
) -> Outcome {
    let project = lock_project_of(connection, user)?;
    let (role, owns) = require_role(connection, project, role, at)?;
    if !owns {
        require_another_owner(connection, project, user)?;
    }
    diesel::update(users::table.find(user.get()).filter(users::project_id.eq(project)))
        .set((users::role_id.eq(role), users::version.eq(users::version + 1), users::updated_at.eq(at)))
        .execute(connection)?;
    Ok(())
}

pub(super) fn assign_department(
    connection: &mut AnyConnection,
    user: UserId,
    department: Option<DepartmentId>,
    at: NaiveDateTime,
) -> Outcome {
    let project = lock_project_of(connection, user)?;
    require_department(connection, project, department)?;
    diesel::update(users::table.find(user.get()).filter(users::project_id.eq(project)))
        .set((
            users::department_id.eq(department.map(DepartmentId::get)),
            users::version.eq(users::version + 1),
            users::updated_at.eq(at),
        ))
        .execute(connection)?;
    Ok(())
}

pub(super) fn update(
    connection: &mut AnyConnection,
    login: &Login,
    change: &EmployeeChange,
    at: NaiveDateTime,
) -> Outcome<UserId> {
    let found: Option<(i64, i64)> = users::table
        .filter(users::login.eq(login.as_str()))
        .filter(users::kind.eq(EMPLOYEE))
        .select((users::id, users::project_id))
        .first(connection)
        .optional()?;
    let Some((user, project)) = found else { return refused(StaffRegistryError::UnknownEmployee) };
    if let Some(file) = change.avatar.set_value()
        && !is_avatar(connection, project, *file)?
    {
        return refused(StaffRegistryError::UnknownAvatar);
    }
    diesel::update(users::table.find(user).filter(users::project_id.eq(project)))
        .set((
            change.phone.as_set().map(|phone| users::phone.eq(phone.as_ref().map(Phone::as_str))),
            change.middle_name.as_set().map(|name| users::middle_name.eq(name.as_ref().map(Name::as_str))),
            change.is_sick.as_set().map(|sick| users::is_sick.eq(*sick)),
            change.avatar.as_set().map(|file| users::avatar_id.eq(file.map(FileId::get))),
            users::version.eq(users::version + 1),
            users::updated_at.eq(at),
        ))
        .execute(connection)?;
    Ok(decode::id(user)?)
}
