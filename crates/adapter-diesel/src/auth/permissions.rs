use async_trait::async_trait;
use diesel::prelude::*;
use kontor_auth::model::{
    FoundPermission, GrantedPermission, PermissionChange, PermissionDraft, PermissionName, Reference,
};
use kontor_auth::ports::PermissionRepository;
use kontor_auth::{PermissionError, PermissionRefusal};
use kontor_kernel::{Line, PermissionId, ProjectId, ProjectScoped, ScreenId, StoreError};

use super::permission_rows::{PermissionRow, of_project, permission, stored_name, with_screens};
use crate::database::{Abort, AnyConnection, Database, found, on_duplicate, on_reference};
use crate::decode::reference;
use crate::schema::{permissions, screens};

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
