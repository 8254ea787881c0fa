//! Loads employees of one project in bulk.

use std::collections::BTreeMap;

use chrono::{NaiveDateTime, TimeDelta};
use diesel::prelude::*;
use kontor_auth::model::{Employee, GrantedPermission, Login, Reference, Role};
use kontor_kernel::{StoreError, UserId};

use super::permission_rows::{RoleKey, of_roles};
use crate::customer_data::{READY, avatar_key};
use crate::database::{Abort, AnyConnection};
use crate::decode::{self, reference};
use crate::schema::{branches, departments, files, roles, users};

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
        .inner_join(roles::table.on(roles::id.eq(users::role_id)))
        .left_join(branches::table.on(branches::id.nullable().eq(users::branch_id)))
        .left_join(departments::table.on(departments::id.nullable().eq(users::department_id)))
        .left_join(files::table.on(files::id.nullable().eq(users::avatar_id).and(files::state.eq(READY))))
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
