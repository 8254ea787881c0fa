//! Permissions and roles. Permissions are those of the service, and those a project defined. The stored names of the
//! latter begin with the id of the project.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::dsl::exists;
use diesel::prelude::*;
use kontor_auth::model::{
    FoundPermission, GrantedPermission, PermissionChange, PermissionDraft, PermissionName, Reference, RoleChange,
    RoleDraft, StaffRole,
};
use kontor_auth::ports::{PermissionRepository, RoleRepository};
use kontor_auth::{PermissionError, PermissionRefusal, RoleError, RoleRefusal};
use kontor_kernel::{Line, PermissionId, ProjectId, ProjectScoped, RoleId, ScreenId, Stamp, StoreError, TokenId};

use super::guard;
use super::registry::STAFF;
use crate::database::{Abort, AnyConnection, Database, found, on_duplicate, on_each, on_reference};
use crate::decode::{self, reference};
use crate::schema::{access_tokens, keyed, permissions, referred, role_permissions, roles, screens, users};
use crate::{records, unreadable};

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
            let found = load(connection, id.get())?.filter(|permission| permission.project_id == Some(project));
            found.ok_or(Abort::Refused(PermissionError::NotFound))
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

#[derive(Clone, Queryable, Selectable)]
#[diesel(table_name = roles)]
struct RoleRow {
    id: i64,
    project_id: i64,
    name: String,
    description: Option<String>,
    is_owner: bool,
    version: i64,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl RoleRow {
    fn role(self, permissions: Vec<GrantedPermission>) -> Result<StaffRole, StoreError> {
        Ok(StaffRole {
            id: decode::id(self.id)?,
            name: decode::text(&self.name)?,
            description: decode::optional_text(self.description.as_deref())?,
            is_owner: self.is_owner,
            permissions,
            version: self.version,
            created_at: decode::moment(self.created_at),
            updated_at: decode::moment(self.updated_at),
        })
    }
}

/// Adds the permissions to roles of one project.
fn complete<R>(connection: &mut AnyConnection, rows: Vec<RoleRow>) -> Result<Vec<StaffRole>, Abort<R>> {
    let Some(project) = rows.first().map(|row| row.project_id) else { return Ok(Vec::new()) };
    let keys: Vec<RoleKey> = rows.iter().map(|row| RoleKey { id: row.id, is_owner: row.is_owner }).collect();
    let mut granted = of_roles(connection, project, &keys)?;
    let role = |row: RoleRow| {
        let permissions = granted.remove(&row.id).unwrap_or_default();
        row.role(permissions).map_err(Abort::Store)
    };
    rows.into_iter().map(role).collect()
}

fn load_role<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<StaffRole>>, Abort<R>> {
    let row: Option<RoleRow> = roles::table
        .find(id)
        .filter(roles::kind.eq(STAFF))
        .select(RoleRow::as_select())
        .first(connection)
        .optional()?;
    let project = row.as_ref().map(|row| row.project_id);
    let role = complete(connection, row.into_iter().collect())?.pop();
    Ok(project.zip(role).map(|(project, role)| records::of_project(project, Ok(role))).transpose()?)
}

/// Loads a role that was just written.
fn written(connection: &mut AnyConnection, project: ProjectId, id: i64) -> Result<StaffRole, Abort<RoleError>> {
    load_role(connection, id)?.and_then(|role| role.within(project)).ok_or(Abort::Refused(RoleError::NotFound))
}

/// Selects a role that staff may change, if it still has the version that was read.
#[diesel::dsl::auto_type]
fn seen(project: ProjectId, id: RoleId, version: i64) -> _ {
    let (project, id): (i64, i64) = (project.get(), id.get());
    let kind: &'static str = STAFF;
    roles::table
        .filter(roles::id.eq(id))
        .filter(roles::project_id.eq(project))
        .filter(roles::version.eq(version))
        .filter(roles::is_owner.eq(false))
        .filter(roles::kind.eq(kind))
}

#[derive(Insertable)]
#[diesel(table_name = role_permissions)]
#[expect(clippy::struct_field_names, reason = "the names of the columns")]
struct LinkRow {
    project_id: i64,
    role_id: i64,
    permission_id: i64,
}

/// Grants these permissions to a role. A permission deleted since it was read makes the whole decision stale.
fn grant(
    connection: &mut AnyConnection,
    project: ProjectId,
    role: i64,
    wanted: &[PermissionId],
) -> Result<(), Abort<RoleError>> {
    let wanted: BTreeSet<i64> = wanted.iter().map(|id| id.get()).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let link = |permission_id| LinkRow { project_id: project.get(), role_id: role, permission_id };
    let links: Vec<LinkRow> = wanted.into_iter().map(link).collect();
    on_each!(connection, concrete => {
        diesel::insert_into(role_permissions::table).values(&links).execute(concrete)
    })
    .map_err(on_reference(RoleRefusal::Stale))?;
    Ok(())
}

#[async_trait]
impl RoleRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<StaffRole>, StoreError> {
        self.snapshot(move |connection| {
            let rows: Vec<RoleRow> = roles::table
                .filter(roles::project_id.eq(project.get()))
                .filter(roles::kind.eq(STAFF))
                .order(roles::id)
                .select(RoleRow::as_select())
                .load(connection)?;
            let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
            let roles: HashMap<i64, RoleRow> = rows.into_iter().map(|row| (row.id, row)).collect();
            unreadable::records(connection, "roles", &ids, |connection, ids| {
                complete(connection, ids.iter().filter_map(|id| roles.get(id).cloned()).collect())
            })
        })
        .await
    }

    async fn find(&self, id: RoleId) -> Result<Option<ProjectScoped<StaffRole>>, StoreError> {
        self.snapshot(move |connection| load_role(connection, id.get())).await
    }

    async fn permissions(&self, project: ProjectId) -> Result<Vec<GrantedPermission>, StoreError> {
        self.read(move |connection| of_project(connection, project.get())).await
    }

    async fn project_permissions(&self, token: TokenId) -> Result<BTreeSet<PermissionId>, StoreError> {
        self.read(move |connection| {
            let listed = role_permissions::table
                .filter(role_permissions::project_id.eq(roles::project_id))
                .filter(role_permissions::role_id.eq(roles::id))
                .filter(role_permissions::permission_id.eq(permissions::id));
            let ids: Vec<i64> = access_tokens::table
                .inner_join(referred!(users, access_tokens::subject_id))
                .inner_join(referred!(roles, users::role_id))
                .inner_join(permissions::table.on(permissions::project_id.eq(users::project_id.nullable())))
                .filter(access_tokens::id.eq(token.get()))
                .filter(access_tokens::guard.eq(guard::USER))
                .filter(access_tokens::abilities.is_null())
                .filter(roles::is_owner.eq(true).or(exists(listed)))
                .select(permissions::id)
                .load(connection)?;
            ids.into_iter().map(|id| decode::id(id).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn insert(&self, stamp: Stamp, draft: RoleDraft) -> Result<StaffRole, RoleError> {
        self.write(move |connection| {
            let at = stamp.at.naive_utc();
            let id: i64 = diesel::insert_into(roles::table)
                .values((
                    roles::project_id.eq(stamp.project_id.get()),
                    roles::name.eq(draft.name.as_str()),
                    roles::description.eq(draft.description.as_deref()),
                    roles::is_owner.eq(false),
                    roles::kind.eq(STAFF),
                    roles::created_at.eq(at),
                    roles::updated_at.eq(at),
                ))
                .returning(roles::id)
                .get_result(connection)?;
            connection.note_created("roles", id);
            grant(connection, stamp.project_id, id, &draft.permissions)?;
            written(connection, stamp.project_id, id)
        })
        .await
    }

    async fn update(&self, stamp: Stamp, id: RoleId, version: i64, change: RoleChange) -> Result<StaffRole, RoleError> {
        self.write(move |connection| {
            let changed = diesel::update(seen(stamp.project_id, id, version))
                .set((
                    change.name.as_set().map(|name| roles::name.eq(name.as_str())),
                    change.description.as_set().map(|text| roles::description.eq(text.as_deref())),
                    roles::version.eq(version + 1),
                    roles::updated_at.eq(stamp.at.naive_utc()),
                ))
                .execute(connection)?;
            if changed == 0 {
                return Err(Abort::refused(RoleRefusal::Stale));
            }
            let id = id.get();
            if let Some(wanted) = change.permissions.as_set() {
                let listed = role_permissions::table.filter(role_permissions::project_id.eq(stamp.project_id.get()));
                diesel::delete(listed.filter(role_permissions::role_id.eq(id))).execute(connection)?;
                grant(connection, stamp.project_id, id, wanted)?;
            }
            written(connection, stamp.project_id, id)
        })
        .await
    }

    async fn delete(&self, project: ProjectId, id: RoleId, version: i64) -> Result<(), RoleError> {
        self.write(move |connection| {
            // Locked first: a concurrent change of the role waits for this transaction, or the reverse.
            let taken =
                diesel::update(seen(project, id, version)).set(roles::version.eq(version + 1)).execute(connection)?;
            if taken == 0 {
                return Err(Abort::refused(RoleRefusal::Stale));
            }
            let links = role_permissions::table
                .filter(role_permissions::project_id.eq(project.get()))
                .filter(role_permissions::role_id.eq(id.get()));
            diesel::delete(links).execute(connection)?;
            diesel::delete(keyed!(roles, id.get(), project))
                .execute(connection)
                .map_err(on_reference(RoleRefusal::InUse))?;
            Ok(())
        })
        .await
    }
}
