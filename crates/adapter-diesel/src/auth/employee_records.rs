//! Employees, managed by staff of their project.

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_auth::model::{Employee, EmployeeEditor, EmployeeReference, EmployeeUpdate, NewEmployee, RoleChoice};
use kontor_auth::ports::EmployeeRepository;
use kontor_auth::{EmployeeError, EmployeeRefusal};
use kontor_kernel::history::Author;
use kontor_kernel::{BranchId, DepartmentId, Name, Phone, ProjectScoped, StoreError, UserId};

use super::permission_rows::{RoleKey, of_roles};
use super::{EMPLOYEE, employees, passwords, registry};
use crate::database::{Abort, AnyConnection, Database, on_duplicate};
use crate::records::{self, StoredRecord};
use crate::schema::users;

type Outcome<T> = Result<T, Abort<EmployeeError>>;

impl StoredRecord for Employee {
    const TABLE: &'static str = "users";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let project: Option<i64> = users::table
            .find(id)
            .filter(users::kind.eq(EMPLOYEE))
            .select(users::project_id)
            .first(connection)
            .optional()?;
        let Some(project) = project else { return Ok(None) };
        let employee = employees::load::<R>(connection, &[id])?.pop();
        Ok(employee.map(|employee| records::of_project(project, Ok(employee))).transpose()?)
    }
}

/// Refuses references to records that the project does not have, and a role with permissions that the caller lacks.
/// Returns the role, and `true` if it is the owner's.
fn check_references(
    connection: &mut AnyConnection,
    editor: &EmployeeEditor,
    role: Option<RoleChoice>,
    branch: Option<BranchId>,
    department: Option<DepartmentId>,
) -> Outcome<Option<(i64, bool)>> {
    let (project, at) = (editor.stamp.project_id.get(), editor.stamp.at.naive_utc());
    let found = match role {
        Some(role) => registry::chosen(connection, project, role, at)?,
        None => None,
    };
    let references = [
        (EmployeeReference::Role, role.is_none() || found.is_some()),
        (EmployeeReference::Branch, registry::has_branch(connection, project, branch)?),
        (EmployeeReference::Department, registry::has_department(connection, project, department)?),
    ];
    let unknown: Vec<EmployeeReference> =
        references.into_iter().filter(|(_, is_own)| !is_own).map(|(reference, _)| reference).collect();
    if !unknown.is_empty() {
        return Err(Abort::refused(EmployeeRefusal::UnknownReferences(unknown)));
    }
    if let Some((id, is_owner)) = found {
        let granted = of_roles::<EmployeeError>(connection, project, &[RoleKey { id, is_owner }])?;
        for permissions in granted.values() {
            editor.check_held(permissions).map_err(Abort::refused)?;
        }
    }
    Ok(found)
}

fn insert(connection: &mut AnyConnection, editor: &EmployeeEditor, new: &NewEmployee) -> Outcome<i64> {
    let role = check_references(connection, editor, Some(new.role), new.branch_id, new.department_id)?;
    let (role, _) = role.ok_or(Abort::Refused(EmployeeError::NotFound))?;
    let creator = match editor.stamp.author {
        Author::User(id) => Some(id),
        Author::Customer(_) | Author::System => None,
    };
    registry::insert_row(connection, new, role, creator).map_err(on_duplicate(EmployeeRefusal::LoginTaken))
}

/// Changes a locked employee of a locked project. Returns the number of changed rows.
fn update(
    connection: &mut AnyConnection,
    editor: &EmployeeEditor,
    before: &Employee,
    change: &EmployeeUpdate,
) -> Outcome<usize> {
    editor.check_update(before, change).map_err(Abort::refused)?;
    let role = change.role_id.as_set().copied().map(RoleChoice::Role);
    let (branch, department) = (change.branch_id.set_value().copied(), change.department_id.set_value().copied());
    let role = check_references(connection, editor, role, branch, department)?;
    let project = editor.stamp.project_id.get();
    let demotes = role.is_some_and(|(_, is_owner)| !is_owner);
    if demotes && registry::is_only_owner::<EmployeeError>(connection, project, before.id)? {
        return Err(Abort::refused(EmployeeRefusal::LastOwner));
    }
    if change.email.as_set().is_some_and(|email| *email != before.email) {
        registry::forget_temporary_password(connection, before.id)?;
    }
    Ok(diesel::update(users::table.find(before.id.get()))
        .set((
            change.email.as_set().map(|email| users::email.eq(email.as_str())),
            change.first_name.as_set().map(|name| users::first_name.eq(name.as_str())),
            change.last_name.as_set().map(|name| users::last_name.eq(name.as_str())),
            change.middle_name.as_set().map(|name| users::middle_name.eq(name.as_ref().map(Name::as_str))),
            change.phone.as_set().map(|phone| users::phone.eq(phone.as_ref().map(Phone::as_str))),
            role.map(|(id, _)| users::role_id.eq(id)),
            change.branch_id.as_set().map(|id| users::branch_id.eq(id.map(BranchId::get))),
            change.department_id.as_set().map(|id| users::department_id.eq(id.map(DepartmentId::get))),
            change.is_sick.as_set().map(|sick| users::is_sick.eq(*sick)),
            users::version.eq(users::version + 1),
            users::updated_at.eq(editor.stamp.at.naive_utc()),
        ))
        .execute(connection)?)
}

/// Bans or unbans a locked employee of a locked project. Returns the number of changed rows.
fn set_banned(
    connection: &mut AnyConnection,
    editor: &EmployeeEditor,
    employee: &Employee,
    banned: bool,
) -> Outcome<usize> {
    editor.check_ban(employee).map_err(Abort::refused)?;
    let project = editor.stamp.project_id.get();
    if banned && registry::is_only_owner::<EmployeeError>(connection, project, employee.id)? {
        return Err(Abort::refused(EmployeeRefusal::LastOwner));
    }
    Ok(registry::set_banned(connection, employee.id, banned, editor.stamp.at.naive_utc())?)
}

#[async_trait]
impl EmployeeRepository for Database {
    async fn find(&self, id: UserId) -> Result<Option<ProjectScoped<Employee>>, StoreError> {
        self.snapshot(move |connection| Employee::load::<StoreError>(connection, id.get())).await
    }

    async fn insert(&self, editor: EmployeeEditor, new: NewEmployee) -> Result<Employee, EmployeeError> {
        self.write(move |connection| {
            let made: Employee =
                records::inserted(connection, &editor.stamp, |connection| insert(connection, &editor, &new))?;
            passwords::enqueue(connection, &new.login, new.created_at.naive_utc())?;
            Ok::<_, Abort<EmployeeError>>(made)
        })
        .await
    }

    async fn update(
        &self,
        editor: EmployeeEditor,
        id: UserId,
        change: EmployeeUpdate,
    ) -> Result<Employee, EmployeeError> {
        self.write(move |connection| {
            registry::hold_project(connection, editor.stamp.project_id.get())?;
            records::changed(connection, &editor.stamp, id.get(), |connection, before: &Employee| {
                update(connection, &editor, before, &change)
            })
        })
        .await
    }

    async fn set_banned(&self, editor: EmployeeEditor, id: UserId, banned: bool) -> Result<Employee, EmployeeError> {
        self.write(move |connection| {
            registry::hold_project(connection, editor.stamp.project_id.get())?;
            records::changed(connection, &editor.stamp, id.get(), |connection, employee: &Employee| {
                set_banned(connection, &editor, employee, banned)
            })
        })
        .await
    }
}
