//! Stored permissions: those of the service, and those a project defined. The stored names of the latter begin with the
//! id of the project.

use std::collections::BTreeMap;

use diesel::prelude::*;
use kontor_auth::model::GrantedPermission;
use kontor_kernel::StoreError;

use crate::database::{Abort, AnyConnection};
use crate::decode::{self, reference};
use crate::schema::{permissions, role_permissions, screens};

#[derive(Queryable, Selectable)]
#[diesel(table_name = permissions)]
pub(super) struct PermissionRow {
    id: i64,
    screen_id: i64,
    name: String,
    description: String,
    project_id: Option<i64>,
}

/// Returns the stored form of a name. The prefix prevents conflicts between projects and with the service.
pub(super) fn stored_name(project: i64, name: &str) -> String {
    format!("{project}/{name}")
}

fn shown_name(stored: String) -> String {
    match stored.split_once('/') {
        Some((_, name)) => name.to_owned(),
        None => stored,
    }
}

pub(super) fn permission((row, screen): (PermissionRow, String)) -> Result<GrantedPermission, StoreError> {
    Ok(GrantedPermission {
        id: decode::id(row.id)?,
        screen: reference(row.screen_id, &screen)?,
        project_id: decode::optional_id(row.project_id)?,
        name: shown_name(row.name),
        description: row.description,
    })
}

/// Permissions with the names of their screens; callers add filters.
macro_rules! with_screens {
    () => {
        permissions::table
            .inner_join(screens::table.on(screens::id.eq(permissions::screen_id)))
            .select((PermissionRow::as_select(), screens::name))
    };
}
pub(super) use with_screens;

/// Returns every permission that roles of a project can have.
pub(super) fn of_project<R>(connection: &mut AnyConnection, project: i64) -> Result<Vec<GrantedPermission>, Abort<R>> {
    let rows: Vec<(PermissionRow, String)> = with_screens!()
        .filter(permissions::project_id.is_null().or(permissions::project_id.assume_not_null().eq(project)))
        .order(permissions::id)
        .load(connection)?;
    rows.into_iter().map(|row| permission(row).map_err(Abort::Store)).collect()
}

/// Fields of a role that its permissions depend on.
#[derive(Clone, Copy)]
pub(super) struct RoleKey {
    pub id: i64,
    pub is_owner: bool,
}

/// Returns the permissions that these roles list, each with the id of its role.
pub(super) fn listed_of<R>(
    connection: &mut AnyConnection,
    roles: Vec<i64>,
) -> Result<Vec<(i64, GrantedPermission)>, Abort<R>> {
    let rows: Vec<(i64, (PermissionRow, String))> = role_permissions::table
        .inner_join(permissions::table.on(permissions::id.eq(role_permissions::permission_id)))
        .inner_join(screens::table.on(screens::id.eq(permissions::screen_id)))
        .filter(role_permissions::role_id.eq_any(roles))
        .order(permissions::id)
        .select((role_permissions::role_id, (PermissionRow::as_select(), screens::name)))
        .load(connection)?;
    rows.into_iter().map(|(role, row)| Ok((role, permission(row)?))).collect()
}

/// Returns the permissions of roles of one project, ordered by id, with two statements at most. The owner's role has
/// every permission without listing any.
pub(super) fn of_roles<R>(
    connection: &mut AnyConnection,
    project: i64,
    roles: &[RoleKey],
) -> Result<BTreeMap<i64, Vec<GrantedPermission>>, Abort<R>> {
    let mut granted: BTreeMap<i64, Vec<GrantedPermission>> = roles.iter().map(|role| (role.id, Vec::new())).collect();
    let listed: Vec<i64> =
        granted.keys().copied().filter(|id| !roles.iter().any(|r| r.id == *id && r.is_owner)).collect();
    if listed.len() < granted.len() {
        let all = of_project(connection, project)?;
        for role in roles.iter().filter(|role| role.is_owner) {
            granted.insert(role.id, all.clone());
        }
    }
    if !listed.is_empty() {
        for (role, permission) in listed_of(connection, listed)? {
            granted.entry(role).or_default().push(permission);
        }
    }
    Ok(granted)
}
