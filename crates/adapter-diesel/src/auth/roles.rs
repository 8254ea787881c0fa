use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::dsl::exists;
use diesel::prelude::*;
use kontor_auth::model::{GrantedPermission, RoleChange, RoleDraft, StaffRole};
use kontor_auth::ports::RoleRepository;
use kontor_auth::{RoleError, RoleRefusal};
use kontor_kernel::{PermissionId, ProjectId, ProjectScoped, RoleId, Stamp, StoreError, TokenId};

use super::guard;
use super::permissions::{RoleKey, of_project, of_roles};
use super::registry::STAFF;
use crate::database::{Abort, AnyConnection, Database, on_each, on_reference};
use crate::schema::{access_tokens, permissions, role_permissions, roles, users};
use crate::{decode, records, unreadable};

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

fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<StaffRole>>, Abort<R>> {
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
    load(connection, id)?.and_then(|role| role.within(project)).ok_or(Abort::Refused(RoleError::NotFound))
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
struct LinkRow {
    role_id: i64,
    permission_id: i64,
}

/// Grants these permissions to a role. A permission deleted since it was read makes the whole decision stale.
fn grant(connection: &mut AnyConnection, role: i64, wanted: &[PermissionId]) -> Result<(), Abort<RoleError>> {
    let wanted: BTreeSet<i64> = wanted.iter().map(|id| id.get()).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let links: Vec<LinkRow> =
        wanted.into_iter().map(|permission_id| LinkRow { role_id: role, permission_id }).collect();
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
        self.snapshot(move |connection| load(connection, id.get())).await
    }

    async fn permissions(&self, project: ProjectId) -> Result<Vec<GrantedPermission>, StoreError> {
        self.read(move |connection| of_project(connection, project.get())).await
    }

    async fn project_permissions(&self, token: TokenId) -> Result<BTreeSet<PermissionId>, StoreError> {
        self.read(move |connection| {
            let listed = role_permissions::table
                .filter(role_permissions::role_id.eq(roles::id))
                .filter(role_permissions::permission_id.eq(permissions::id));
            let ids: Vec<i64> = access_tokens::table
                .inner_join(users::table.on(users::id.eq(access_tokens::subject_id)))
                .inner_join(roles::table.on(roles::id.eq(users::role_id)))
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
            grant(connection, id, &draft.permissions)?;
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
                diesel::delete(role_permissions::table.filter(role_permissions::role_id.eq(id))).execute(connection)?;
                grant(connection, id, wanted)?;
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
            let links = role_permissions::table.filter(role_permissions::role_id.eq(id.get()));
            diesel::delete(links).execute(connection)?;
            diesel::delete(roles::table.find(id.get()))
                .execute(connection)
                .map_err(on_reference(RoleRefusal::InUse))?;
            Ok(())
        })
        .await
    }
}
