use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::dsl::exists;
use diesel::prelude::*;
use kontor_auth::RoleError;
use kontor_auth::model::{GrantedPermission, RoleDraft, StaffRole};
use kontor_auth::ports::{RoleChange, RoleRepository};
use kontor_kernel::{PermissionId, ProjectId, RoleId, StoreError, TokenId};

use super::guard;
use super::permission_rows::{RoleKey, of_project, of_roles};
use super::registry::STAFF;
use crate::database::{Abort, AnyConnection, Database, on_each, on_reference};
use crate::schema::{access_tokens, permissions, role_permissions, roles, users};
use crate::stored;

#[derive(Queryable, Selectable)]
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
            id: stored::id(self.id)?,
            project_id: stored::id(self.project_id)?,
            name: stored::text(&self.name)?,
            description: stored::optional_text(self.description.as_deref())?,
            is_owner: self.is_owner,
            permissions,
            version: self.version,
            created_at: stored::moment(self.created_at),
            updated_at: stored::moment(self.updated_at),
        })
    }
}

/// Roles of one project with what they allow.
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

fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<StaffRole>, Abort<R>> {
    let row = roles::table
        .find(id)
        .filter(roles::kind.eq(STAFF))
        .select(RoleRow::as_select())
        .first(connection)
        .optional()?;
    Ok(complete(connection, row.into_iter().collect())?.pop())
}

#[derive(Insertable)]
#[diesel(table_name = role_permissions)]
struct LinkRow {
    role_id: i64,
    permission_id: i64,
}

/// Gives a role these permissions; one that was deleted since it was looked at makes the whole decision stale.
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
    .map_err(on_reference(RoleError::Stale))?;
    Ok(())
}

#[async_trait]
impl RoleRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<StaffRole>, StoreError> {
        self.read_snapshot(move |connection| {
            let rows: Vec<RoleRow> = roles::table
                .filter(roles::project_id.eq(project.get()))
                .filter(roles::kind.eq(STAFF))
                .order(roles::id)
                .select(RoleRow::as_select())
                .load(connection)?;
            complete(connection, rows)
        })
        .await
    }

    async fn find(&self, id: RoleId) -> Result<Option<StaffRole>, StoreError> {
        self.read_snapshot(move |connection| load(connection, id.get())).await
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
            ids.into_iter().map(|id| stored::id(id).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn insert(&self, project: ProjectId, draft: RoleDraft, at: DateTime<Utc>) -> Result<StaffRole, RoleError> {
        self.write(move |connection| {
            let id: i64 = diesel::insert_into(roles::table)
                .values((
                    roles::project_id.eq(project.get()),
                    roles::name.eq(draft.name.as_str()),
                    roles::description.eq(draft.description.as_deref()),
                    roles::is_owner.eq(false),
                    roles::kind.eq(STAFF),
                    roles::created_at.eq(at.naive_utc()),
                    roles::updated_at.eq(at.naive_utc()),
                ))
                .returning(roles::id)
                .get_result(connection)?;
            grant(connection, id, &draft.permissions)?;
            load(connection, id)?.ok_or(Abort::Refused(RoleError::NotFound))
        })
        .await
    }

    async fn change(&self, change: RoleChange) -> Result<StaffRole, RoleError> {
        self.write(move |connection| {
            let (id, patch) = (change.role.get(), &change.patch);
            let seen = roles::table
                .find(id)
                .filter(roles::version.eq(change.version))
                .filter(roles::is_owner.eq(false))
                .filter(roles::kind.eq(STAFF));
            let description = patch.description.as_ref().map(|text| text.as_deref());
            let written = diesel::update(seen)
                .set((
                    patch.name.as_ref().map(|name| roles::name.eq(name.as_str())),
                    description.map(|text| roles::description.eq(text)),
                    roles::version.eq(change.version + 1),
                    roles::updated_at.eq(change.at.naive_utc()),
                ))
                .execute(connection)?;
            if written == 0 {
                return Err(Abort::Refused(RoleError::Stale));
            }
            if let Some(wanted) = &patch.permissions {
                diesel::delete(role_permissions::table.filter(role_permissions::role_id.eq(id))).execute(connection)?;
                grant(connection, id, wanted)?;
            }
            load(connection, id)?.ok_or(Abort::Refused(RoleError::NotFound))
        })
        .await
    }

    async fn delete(&self, id: RoleId, version: i64) -> Result<(), RoleError> {
        self.write(move |connection| {
            let seen = roles::table
                .find(id.get())
                .filter(roles::version.eq(version))
                .filter(roles::is_owner.eq(false))
                .filter(roles::kind.eq(STAFF));
            // Taken first: whoever changes the role at the same time waits for this step, or this one for his.
            let taken = diesel::update(seen).set(roles::version.eq(version + 1)).execute(connection)?;
            if taken == 0 {
                return Err(Abort::Refused(RoleError::Stale));
            }
            let links = role_permissions::table.filter(role_permissions::role_id.eq(id.get()));
            diesel::delete(links).execute(connection)?;
            diesel::delete(roles::table.find(id.get())).execute(connection).map_err(on_reference(RoleError::InUse))?;
            Ok(())
        })
        .await
    }
}
