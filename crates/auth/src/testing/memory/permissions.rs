use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kontor_kernel::testing::memory::Sequence;
use kontor_kernel::{
    Edit, Name, Permission, PermissionId, ProjectId, ProjectScoped, RecordError, Reference, Resource, ScreenId,
    StoreError,
};

use super::{Guard, InMemoryLogins, State};
use crate::model::{FoundPermission, GrantedPermission, PermissionChange, PermissionDraft, PermissionName};
use crate::ports::PermissionRepository;
use crate::{PermissionError, PermissionRefusal};

/// Permissions of the service and of projects, and the screens.
pub(super) struct Permissions {
    ids: Sequence,
    all: BTreeMap<PermissionId, GrantedPermission>,
    screens: Vec<Reference<ScreenId>>,
}

impl Default for Permissions {
    /// Returns the permissions of the service, with a screen for each resource.
    fn default() -> Self {
        let (mut ids, mut numbers) = (Sequence::default(), Sequence::default());
        let names = Resource::ALL.iter().filter_map(|resource| Name::parse(resource.name()).ok());
        let screens: Vec<Reference<ScreenId>> = names.map(|name| Reference { id: numbers.id(), name }).collect();
        let granted = Permission::all().filter_map(|permission| {
            let screen = screens.iter().find(|screen| screen.name.as_str() == permission.resource.name())?;
            let (screen, name) = (screen.clone(), permission.to_string());
            Some(GrantedPermission { id: ids.id(), screen, project_id: None, name, description: String::new() })
        });
        let all = granted.map(|permission| (permission.id, permission)).collect();
        Self { ids, all, screens }
    }
}

impl State {
    /// Returns the permissions that roles of a project can have, by identifier.
    pub(super) fn permissions_of(&self, project: ProjectId) -> Vec<GrantedPermission> {
        let is_own = |owner: Option<ProjectId>| owner.is_none_or(|owner| self.owns(owner, project));
        self.permissions.all.values().filter(|permission| is_own(permission.project_id)).cloned().collect()
    }

    /// Returns the permissions of the service, by identifier.
    pub(super) fn permissions_of_service(&self) -> impl Iterator<Item = &GrantedPermission> {
        self.permissions.all.values().filter(|permission| permission.project_id.is_none())
    }

    /// Returns these permissions as a role or an agent lists them, by identifier.
    pub(super) fn granted(&self, permissions: &BTreeSet<Permission>) -> Vec<GrantedPermission> {
        let has = |known: &&GrantedPermission| known.name.parse().is_ok_and(|known| permissions.contains(&known));
        self.permissions_of_service().filter(has).cloned().collect()
    }

    fn screen(&self, id: ScreenId) -> Option<Reference<ScreenId>> {
        self.permissions.screens.iter().find(|screen| screen.id == id).cloned()
    }

    /// Returns a permission that the project defined.
    fn defined(&mut self, project: ProjectId, id: PermissionId) -> Result<&mut GrantedPermission, PermissionError> {
        let any = !self.guards.has(Guard::Project);
        let own = self.permissions.all.get_mut(&id).filter(|found| any || found.project_id == Some(project));
        own.ok_or(RecordError::NotFound)
    }

    /// Refuses a name of another permission of the project.
    fn check_name(
        &self,
        project: ProjectId,
        id: Option<PermissionId>,
        name: &PermissionName,
    ) -> Result<(), PermissionRefusal> {
        let mut own = self.permissions.all.values().filter(|permission| permission.project_id == Some(project));
        let is_taken = own.any(|permission| permission.name == name.as_str() && Some(permission.id) != id);
        if is_taken && self.guards.has(Guard::Name) { Err(PermissionRefusal::NameTaken) } else { Ok(()) }
    }

    fn insert_permission(
        &mut self,
        project: ProjectId,
        draft: PermissionDraft,
    ) -> Result<GrantedPermission, PermissionError> {
        let screen = self.screen(draft.screen_id).ok_or(PermissionRefusal::UnknownScreen)?;
        self.check_name(project, None, &draft.name)?;
        let permission = GrantedPermission {
            id: self.permissions.ids.id(),
            screen,
            project_id: Some(project),
            name: draft.name.to_string(),
            description: draft.description.as_deref().unwrap_or_default().to_owned(),
        };
        self.permissions.all.insert(permission.id, permission.clone());
        Ok(permission)
    }

    fn update_permission(
        &mut self,
        project: ProjectId,
        id: PermissionId,
        change: PermissionChange,
    ) -> Result<GrantedPermission, PermissionError> {
        let mut changed = self.defined(project, id)?.clone();
        if let Edit::Set(screen) = change.screen_id {
            changed.screen = self.screen(screen).ok_or(PermissionRefusal::UnknownScreen)?;
        }
        if let Edit::Set(name) = change.name {
            self.check_name(project, Some(id), &name)?;
            changed.name = name.to_string();
        }
        if let Edit::Set(description) = change.description {
            description.as_deref().unwrap_or_default().clone_into(&mut changed.description);
        }
        self.permissions.all.insert(id, changed.clone());
        Ok(changed)
    }

    fn delete_permission(&mut self, project: ProjectId, id: PermissionId) -> Result<(), PermissionError> {
        self.defined(project, id)?;
        if self.is_listed(id) && self.guards.has(Guard::InUse) {
            return Err(PermissionRefusal::InUse.into());
        }
        self.permissions.all.remove(&id);
        Ok(())
    }
}

#[async_trait]
impl PermissionRepository for InMemoryLogins {
    async fn list(&self, project: ProjectId) -> Result<Vec<GrantedPermission>, StoreError> {
        Ok(self.state.with(|state| state.permissions_of(project)))
    }

    async fn find(&self, id: PermissionId) -> Result<Option<FoundPermission>, StoreError> {
        let found = self.state.with(|state| state.permissions.all.get(&id).cloned());
        Ok(found.map(|permission| match permission.project_id {
            None => FoundPermission::System(permission),
            Some(project) => FoundPermission::Project(ProjectScoped::new(project, permission)),
        }))
    }

    async fn insert(&self, project: ProjectId, draft: PermissionDraft) -> Result<GrantedPermission, PermissionError> {
        self.state.with(|state| state.insert_permission(project, draft))
    }

    async fn update(
        &self,
        project: ProjectId,
        id: PermissionId,
        change: PermissionChange,
    ) -> Result<GrantedPermission, PermissionError> {
        self.state.with(|state| state.update_permission(project, id, change))
    }

    async fn delete(&self, project: ProjectId, id: PermissionId) -> Result<(), PermissionError> {
        self.state.with(|state| state.delete_permission(project, id))
    }

    async fn screens(&self) -> Result<Vec<Reference<ScreenId>>, StoreError> {
        Ok(self.state.with(|state| state.permissions.screens.clone()))
    }

    async fn screen(&self, id: ScreenId) -> Result<Option<Reference<ScreenId>>, StoreError> {
        Ok(self.state.with(|state| state.screen(id)))
    }
}
