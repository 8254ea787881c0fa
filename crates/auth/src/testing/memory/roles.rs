use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    Edit, Name, Permission, PermissionId, ProjectId, ProjectScoped, RecordError, RoleId, Stamp, StoreError, TokenId,
};

use super::{Guard, InMemoryLogins, State};
use crate::model::{GrantedPermission, Role, RoleChange, RoleChoice, RoleDraft, StaffRole, TokenOwner};
use crate::ports::RoleRepository;
use crate::{RoleError, RoleRefusal};

/// Role as stored: its record has no permissions.
pub(super) struct StoredRole {
    project: ProjectId,
    record: StaffRole,
    listed: BTreeSet<PermissionId>,
}

impl State {
    /// Returns a role with its permissions. The owner's role has every permission of the project.
    fn role(&self, id: RoleId) -> Option<(ProjectId, StaffRole)> {
        let stored = self.roles.get(&id)?;
        let has = |permission: &GrantedPermission| stored.record.is_owner || stored.listed.contains(&permission.id);
        let permissions = self.permissions_of(stored.project).into_iter().filter(has).collect();
        Some((stored.project, StaffRole { permissions, ..stored.record.clone() }))
    }

    /// Returns a role in the form of an employee's record, and its permissions.
    pub(super) fn role_of_employee(&self, id: RoleId) -> Option<(Role, Vec<GrantedPermission>)> {
        let (_, role) = self.role(id)?;
        let description = role.description.map(|text| text.to_string());
        Some((Role { id, name: role.name, description }, role.permissions))
    }

    /// Returns the permissions of the service that a role grants.
    pub(super) fn opened_by(&self, role: RoleId) -> BTreeSet<Permission> {
        let granted = self.role(role).map(|(_, role)| role.permissions).unwrap_or_default();
        let of_service = granted.iter().filter(|permission| permission.project_id.is_none());
        of_service.filter_map(|permission| permission.name.parse().ok()).collect()
    }

    pub(super) fn is_owner_role(&self, id: RoleId) -> bool {
        self.roles.get(&id).is_some_and(|stored| stored.record.is_owner)
    }

    /// Returns `true` if a role lists the permission.
    pub(super) fn is_listed(&self, permission: PermissionId) -> bool {
        self.roles.values().any(|stored| stored.listed.contains(&permission))
    }

    /// Returns the chosen role, unless the project lacks it. The owner's role is created if there is none.
    pub(super) fn chosen_role(
        &mut self,
        project: ProjectId,
        choice: RoleChoice,
        at: DateTime<Utc>,
    ) -> Result<Option<RoleId>, StoreError> {
        if let RoleChoice::Role(id) = choice {
            let found = self.roles.get(&id).filter(|stored| self.owns(stored.project, project));
            return Ok(found.map(|_| id));
        }
        let mut known = self.roles.iter();
        let owners = known.find(|(_, stored)| stored.project == project && stored.record.is_owner);
        if let Some((id, _)) = owners {
            return Ok(Some(*id));
        }
        let name = Name::parse("Owner").map_err(StoreError::corrupt)?;
        let draft = RoleDraft { name, description: None, permissions: Vec::new() };
        Ok(Some(self.add_role(project, draft, true, at)))
    }

    fn add_role(&mut self, project: ProjectId, draft: RoleDraft, is_owner: bool, at: DateTime<Utc>) -> RoleId {
        let record = StaffRole {
            id: self.ids.id(),
            name: draft.name,
            description: draft.description,
            is_owner,
            permissions: Vec::new(),
            version: 1,
            created_at: at,
            updated_at: at,
        };
        let (id, listed) = (record.id, draft.permissions.into_iter().collect());
        self.roles.insert(id, StoredRole { project, record, listed });
        id
    }

    /// Refuses permissions that the project does not have.
    fn check_listed(&self, project: ProjectId, wanted: &[PermissionId]) -> Result<(), RoleRefusal> {
        let known: BTreeSet<PermissionId> = self.permissions_of(project).iter().map(|known| known.id).collect();
        if wanted.iter().all(|id| known.contains(id)) { Ok(()) } else { Err(RoleRefusal::Stale) }
    }

    /// Returns a role that staff may change, if it still has the version that was read.
    fn seen_role(&mut self, project: ProjectId, id: RoleId, version: i64) -> Result<&mut StoredRole, RoleRefusal> {
        let guards = self.guards;
        let is_seen = |stored: &&mut StoredRole| {
            (stored.project == project || !guards.has(Guard::Project))
                && (stored.record.version == version || !guards.has(Guard::Version))
                && (!stored.record.is_owner || !guards.has(Guard::OwnerRole))
        };
        self.roles.get_mut(&id).filter(is_seen).ok_or(RoleRefusal::Stale)
    }

    fn insert_role(&mut self, stamp: Stamp, draft: RoleDraft) -> Result<StaffRole, RoleError> {
        self.check_listed(stamp.project_id, &draft.permissions)?;
        let id = self.add_role(stamp.project_id, draft, false, stamp.at);
        self.role(id).map(|(_, role)| role).ok_or(RecordError::NotFound)
    }

    fn update_role(
        &mut self,
        stamp: Stamp,
        id: RoleId,
        version: i64,
        change: RoleChange,
    ) -> Result<StaffRole, RoleError> {
        if let Some(wanted) = change.permissions.as_set() {
            self.check_listed(stamp.project_id, wanted)?;
        }
        let stored = self.seen_role(stamp.project_id, id, version)?;
        if let Edit::Set(wanted) = change.permissions {
            stored.listed = wanted.into_iter().collect();
        }
        let role = &mut stored.record;
        role.name = change.name.or(role.name.clone());
        role.description = change.description.or(role.description.take());
        (role.version, role.updated_at) = (role.version + 1, stamp.at);
        self.role(id).map(|(_, role)| role).ok_or(RecordError::NotFound)
    }

    fn delete_role(&mut self, project: ProjectId, id: RoleId, version: i64) -> Result<(), RoleError> {
        self.seen_role(project, id, version)?;
        let is_used = self.staff.iter().any(|member| member.employee.role.id == id);
        if is_used && self.guards.has(Guard::InUse) {
            return Err(RoleRefusal::InUse.into());
        }
        self.roles.remove(&id);
        Ok(())
    }

    fn project_permissions(&self, token: TokenId) -> BTreeSet<PermissionId> {
        let Some(token) = self.tokens.get(&token) else { return BTreeSet::new() };
        let mut staff = self.staff.iter();
        let holder = staff.find(|member| TokenOwner::Staff(member.employee.id) == token.owner);
        let granted = holder.and_then(|member| self.role(member.employee.role.id)).map(|(_, role)| role.permissions);
        let of_project = granted.into_iter().flatten().filter(|permission| permission.project_id.is_some());
        of_project.map(|permission| permission.id).collect()
    }
}

#[async_trait]
impl RoleRepository for InMemoryLogins {
    async fn list(&self, project: ProjectId) -> Result<Vec<StaffRole>, StoreError> {
        Ok(self.state.with(|state| {
            let all = state.roles.keys().filter_map(|id| state.role(*id));
            all.filter(|(owner, _)| *owner == project).map(|(_, role)| role).collect()
        }))
    }

    async fn find(&self, id: RoleId) -> Result<Option<ProjectScoped<StaffRole>>, StoreError> {
        Ok(self.state.with(|state| state.role(id).map(|(project, role)| ProjectScoped::new(project, role))))
    }

    async fn permissions(&self, project: ProjectId) -> Result<Vec<GrantedPermission>, StoreError> {
        Ok(self.state.with(|state| state.permissions_of(project)))
    }

    async fn project_permissions(&self, token: TokenId) -> Result<BTreeSet<PermissionId>, StoreError> {
        Ok(self.state.with(|state| state.project_permissions(token)))
    }

    async fn insert(&self, stamp: Stamp, draft: RoleDraft) -> Result<StaffRole, RoleError> {
        self.state.with(|state| state.insert_role(stamp, draft))
    }

    async fn update(&self, stamp: Stamp, id: RoleId, version: i64, change: RoleChange) -> Result<StaffRole, RoleError> {
        self.state.with(|state| state.update_role(stamp, id, version, change))
    }

    async fn delete(&self, project: ProjectId, id: RoleId, version: i64) -> Result<(), RoleError> {
        self.state.with(|state| state.delete_role(project, id, version))
    }
}
