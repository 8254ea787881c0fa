//! Permissions: those of the service, and those a project defined. The stored names of the latter begin with the id of
//! the project.

use std::collections::BTreeMap;

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_auth::model::{
    FoundPermission, GrantedPermission, PermissionChange, PermissionDraft, PermissionName, Reference,
};
use kontor_auth::ports::PermissionRepository;
use kontor_auth::{PermissionError, PermissionRefusal};
use kontor_kernel::{Line, PermissionId, ProjectId, ProjectScoped, ScreenId, StoreError};

use crate::database::{Abort, AnyConnection, Database, found, on_duplicate, on_reference};
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
fn stored_name(project: i64, name: &str) -> String {
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

fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<GrantedPermission>, Abort<R>> {
    let row: Option<(PermissionRow, String)> =
        with_screens!().filter(permissions::id.eq(id)).first(connection).optional()?;
    Ok(row.map(permission).transpose()?)
}

fn require_screen(connection: &mut AnyConnection, screen: Option<&ScreenId>) -> Result<(), Abort<PermissionError>> {
    let Some(screen) = screen else { return Ok(()) };
    let known = found!(connection, screens::table.find(screen.get()))?;
    if known { Ok(()) } else { Err(Abort::refused(PermissionRefusal::UnknownScreen)) }
}

#[async_trait]
impl PermissionRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<GrantedPermission>, StoreError> {
        self.read(move |connection| of_project(connection, project.get())).await
    }

    async fn find(&self, id: PermissionId) -> Result<Option<FoundPermission>, StoreError> {
        let found = |permission: GrantedPermission| match permission.project_id {
            None => FoundPermission::System(permission),
            Some(project) => FoundPermission::Project(ProjectScoped::new(project, permission)),
        };
        self.read(move |connection| Ok(load(connection, id.get())?.map(found))).await
    }

    async fn insert(&self, project: ProjectId, draft: PermissionDraft) -> Result<GrantedPermission, PermissionError> {
        self.write(move |connection| {
            require_screen(connection, Some(&draft.screen_id))?;
            let id: i64 = diesel::insert_into(permissions::table)
                .values((
                    permissions::project_id.eq(project.get()),
                    permissions::screen_id.eq(draft.screen_id.get()),
                    permissions::name.eq(stored_name(project.get(), draft.name.as_str())),
                    permissions::description.eq(draft.description.as_deref().unwrap_or_default()),
                ))
                .returning(permissions::id)
                .get_result(connection)
                .map_err(on_duplicate(PermissionRefusal::NameTaken))?;
            connection.note_created("permissions", id);
            load(connection, id)?.ok_or(Abort::Refused(PermissionError::NotFound))
        })
        .await
    }

    async fn update(
        &self,
        project: ProjectId,
        id: PermissionId,
        change: PermissionChange,
    ) -> Result<GrantedPermission, PermissionError> {
        self.write(move |connection| {
            require_screen(connection, change.screen_id.as_set())?;
            let own = permissions::table.find(id.get()).filter(permissions::project_id.eq(project.get()));
            let named = |name: &PermissionName| stored_name(project.get(), name.as_str());
            let described = |text: &Option<Line<500>>| text.as_deref().unwrap_or_default().to_owned();
            if change != PermissionChange::default() {
                let written = diesel::update(own)
                    .set((
                        change.name.as_set().map(|name| permissions::name.eq(named(name))),
                        change.description.as_set().map(|text| permissions::description.eq(described(text))),
                        change.screen_id.as_set().map(|screen| permissions::screen_id.eq(screen.get())),
                        permissions::version.eq(permissions::version + 1),
                    ))
                    .execute(connection)
                    .map_err(on_duplicate(PermissionRefusal::NameTaken))?;
                if written == 0 {
                    return Err(Abort::Refused(PermissionError::NotFound));
                }
            }
            load(connection, id.get())?.ok_or(Abort::Refused(PermissionError::NotFound))
        })
        .await
    }

    async fn delete(&self, project: ProjectId, id: PermissionId) -> Result<(), PermissionError> {
        self.write(move |connection| {
            let own = permissions::table.find(id.get()).filter(permissions::project_id.eq(project.get()));
            // Only roles refer to permissions.
            match diesel::delete(own).execute(connection).map_err(on_reference(PermissionRefusal::InUse))? {
                0 => Err(Abort::Refused(PermissionError::NotFound)),
                _ => Ok(()),
            }
        })
        .await
    }

    async fn screens(&self) -> Result<Vec<Reference<ScreenId>>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<(i64, String)> =
                screens::table.order(screens::id).select((screens::id, screens::name)).load(connection)?;
            rows.iter().map(|(id, name)| reference(*id, name).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn screen(&self, id: ScreenId) -> Result<Option<Reference<ScreenId>>, StoreError> {
        self.read(move |connection| {
            let name: Option<String> =
                screens::table.find(id.get()).select(screens::name).first(connection).optional()?;
            Ok(name.map(|name| reference(id.get(), &name)).transpose()?)
        })
        .await
    }
}
