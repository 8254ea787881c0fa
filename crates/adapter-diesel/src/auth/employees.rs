//! Employees of a project: bulk loading, the directory, and management by staff.

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{NaiveDateTime, TimeDelta};
use diesel::prelude::*;
use kontor_auth::model::{
    Employee, EmployeeEditor, EmployeeFilter, EmployeeReference, EmployeeSearchText, EmployeeSummary, EmployeeUpdate,
    GrantedPermission, Login, NewEmployee, Reference, Role, RoleChoice,
};
use kontor_auth::ports::{DirectoryRepository, EmployeeRepository};
use kontor_auth::{EmployeeError, EmployeeRefusal};
use kontor_kernel::history::Author;
use kontor_kernel::{
    BranchId, DepartmentId, Name, Page, PageRequest, Phone, ProjectId, ProjectScoped, StoreError, UserId,
};

use super::permissions::{RoleKey, of_roles};
use super::{EMPLOYEE, agents, registry, staff};
use crate::customer_data::{READY, avatar_key};
use crate::database::{Abort, AnyConnection, Backend, Database, on_duplicate};
use crate::decode::{self, reference};
use crate::records::{self, StoredRecord};
use crate::schema::{branches, departments, files, keyed, referred, roles, users};
use crate::unreadable;

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct EmployeeRow {
    id: i64,
    project_id: i64,
    login: String,
    email: String,
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

#[derive(Queryable, Selectable)]
#[diesel(table_name = departments)]
struct DepartmentRow {
    id: i64,
    name: String,
}

type Row = (EmployeeRow, RoleRow, Option<BranchRow>, Option<DepartmentRow>, Option<String>);

/// Returns the creators of the accounts.
fn creators<R>(connection: &mut AnyConnection, rows: &[Row]) -> Result<BTreeMap<i64, Reference<UserId>>, Abort<R>> {
    let mut ids: Vec<i64> = rows.iter().filter_map(|(user, ..)| user.creator_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let named: Vec<(i64, String, String)> = users::table
        .filter(users::id.eq_any(ids))
        .select((users::id, users::first_name, users::last_name))
        .load(connection)?;
    let creator = |(id, first, last): (i64, String, String)| Ok((id, reference(id, &format!("{first} {last}"))?));
    named.into_iter().map(creator).collect::<Result<_, StoreError>>().map_err(Abort::Store)
}

fn employee(
    (user, role, branch, department, avatar): Row,
    creators: &BTreeMap<i64, Reference<UserId>>,
    permissions: Vec<GrantedPermission>,
) -> Result<Employee, StoreError> {
    Ok(Employee {
        id: decode::id(user.id)?,
        project_id: decode::id(user.project_id)?,
        login: Login::parse(&user.login).map_err(StoreError::corrupt)?,
        email: decode::text(&user.email)?,
        first_name: decode::text(&user.first_name)?,
        last_name: decode::text(&user.last_name)?,
        middle_name: decode::optional_text(user.middle_name.as_deref())?,
        phone: decode::optional_text(user.phone.as_deref())?,
        avatar: avatar_key(avatar.as_deref())?,
        role: Role { id: decode::id(role.id)?, name: decode::text(&role.name)?, description: role.description },
        branch: branch.map(|branch| reference(branch.id, &branch.name)).transpose()?,
        department: department.map(|department| reference(department.id, &department.name)).transpose()?,
        creator: user.creator_id.and_then(|id| creators.get(&id).cloned()),
        is_banned: user.is_banned,
        is_sick: user.is_sick,
        active_time: TimeDelta::try_seconds(user.active_seconds)
            .ok_or_else(|| StoreError::corrupt("a period of activity has no bounds"))?,
        last_activity_at: user.last_activity_at.map(decode::moment),
        permissions,
    })
}

/// Loads users of one project, ordered by id. The number of statements does not depend on the number of users.
pub(super) fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<Employee>, Abort<R>> {
    let rows: Vec<Row> = users::table
        .inner_join(referred!(roles, users::role_id))
        .left_join(referred!(branches, users::branch_id))
        .left_join(referred!(departments, users::department_id))
        .left_join(referred!(files, users::avatar_id, files::state.eq(READY)))
        .filter(users::id.eq_any(ids.to_vec()))
        .order(users::id)
        .select((
            EmployeeRow::as_select(),
            RoleRow::as_select(),
            Option::<BranchRow>::as_select(),
            Option::<DepartmentRow>::as_select(),
            files::file_key.nullable(),
        ))
        .load(connection)?;
    let Some((first, ..)) = rows.first() else { return Ok(Vec::new()) };
    let project = first.project_id;
    let creators = creators(connection, &rows)?;
    let keys: Vec<RoleKey> =
        rows.iter().map(|(_, role, ..)| RoleKey { id: role.id, is_owner: role.is_owner }).collect();
    let granted = of_roles(connection, project, &keys)?;
    let record = |row: Row| {
        let permissions = granted.get(&row.1.id).cloned().unwrap_or_default();
        employee(row, &creators, permissions).map_err(Abort::Store)
    };
    rows.into_iter().map(record).collect()
}

fn matching(project: ProjectId, filter: &EmployeeFilter) -> users::BoxedQuery<'static, Backend> {
    let all = users::table
        .filter(users::project_id.eq(project.get()))
        .filter(users::kind.eq(EMPLOYEE))
        .order(users::id)
        .into_boxed();
    if filter.active { all.filter(users::is_banned.eq(false)) } else { all }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct SearchedRow {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    login: String,
    phone: Option<String>,
    email: String,
}

impl SearchedRow {
    fn searched(&self) -> EmployeeSearchText {
        let always = [&self.last_name, &self.first_name, &self.login, &self.email].map(String::as_str);
        EmployeeSearchText::new(always.into_iter().chain(self.middle_name.as_deref()).chain(self.phone.as_deref()))
    }
}

/// Returns the number of employees and the ids of those on the page. The values to compare are case-folded here,
/// because the databases disagree about letters outside ASCII. A project has few employees.
fn page_of(
    connection: &mut AnyConnection,
    project: ProjectId,
    filter: &EmployeeFilter,
    page: PageRequest,
) -> Result<(u64, Vec<i64>), Abort<StoreError>> {
    let Some(query) = &filter.query else {
        let unordered = users::table.filter(users::project_id.eq(project.get())).filter(users::kind.eq(EMPLOYEE));
        let total: i64 = if filter.active {
            unordered.filter(users::is_banned.eq(false)).count().get_result(connection)?
        } else {
            unordered.count().get_result(connection)?
        };
        let ids =
            matching(project, filter).limit(page.limit()).offset(page.offset()).select(users::id).load(connection)?;
        return Ok((decode::count(total)?, ids));
    };
    let rows: Vec<SearchedRow> = matching(project, filter).select(SearchedRow::as_select()).load(connection)?;
    let ids: Vec<i64> = rows.iter().filter(|row| row.searched().has(query)).map(|row| row.id).collect();
    let total = u64::try_from(ids.len()).map_err(StoreError::corrupt)?;
    let before = usize::try_from(page.offset()).map_err(StoreError::corrupt)?;
    let size = usize::try_from(page.limit()).map_err(StoreError::corrupt)?;
    Ok((total, ids.into_iter().skip(before).take(size).collect()))
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct ColleagueRow {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
}

impl TryFrom<ColleagueRow> for EmployeeSummary {
    type Error = StoreError;

    fn try_from(row: ColleagueRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            first_name: decode::text(&row.first_name)?,
            last_name: decode::text(&row.last_name)?,
            middle_name: decode::optional_text(row.middle_name.as_deref())?,
        })
    }
}

/// Loads employees and agents to check that their rows can be decoded.
pub(crate) fn try_to_read(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<()>, Abort<StoreError>> {
    let present = users::table.filter(users::id.eq_any(ids.to_vec())).filter(users::deleted_at.is_null());
    let kinds: Vec<(i64, String)> = present.select((users::id, users::kind)).load(connection)?;
    let (employees, agents): (Vec<_>, Vec<_>) = kinds.into_iter().partition(|(_, kind)| kind == EMPLOYEE);
    let numbers = |users: Vec<(i64, String)>| users.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    load::<StoreError>(connection, &numbers(employees))?;
    agents::load::<StoreError>(connection, &numbers(agents))?;
    Ok(Vec::new())
}

#[async_trait]
impl DirectoryRepository for Database {
    async fn employees(
        &self,
        project: ProjectId,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<Employee>, StoreError> {
        self.snapshot(move |connection| {
            let (total, ids) = page_of(connection, project, &filter, page)?;
            Ok(Page { items: unreadable::records(connection, "users", &ids, load)?, total, request: page })
        })
        .await
    }

    async fn colleagues(
        &self,
        project: ProjectId,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<EmployeeSummary>, StoreError> {
        self.snapshot(move |connection| {
            let (total, ids) = page_of(connection, project, &filter, page)?;
            let rows: Vec<ColleagueRow> = users::table
                .filter(users::id.eq_any(ids))
                .order(users::id)
                .select(ColleagueRow::as_select())
                .load(connection)?;
            let items = unreadable::rows("users", rows, |row| row.id, EmployeeSummary::try_from)?;
            Ok::<_, Abort<StoreError>>(Page { items, total, request: page })
        })
        .await
    }
}

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
        let employee = load::<R>(connection, &[id])?.pop();
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
        registry::delete_temporary_password(connection, project, before.id)?;
    }
    Ok(diesel::update(keyed!(users, before.id.get(), editor.stamp.project_id))
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
    Ok(registry::set_banned(connection, project, employee.id, banned, editor.stamp.at.naive_utc())?)
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
            staff::enqueue(connection, &new.login, new.created_at.naive_utc())?;
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
