use std::collections::BTreeMap;
use std::sync::Arc;

use kontor_kernel::{Clock, Permission, PermissionId, Resource, RoleId, Staff};

use crate::RoleError;
use crate::model::{GrantedPermission, Holdings, RoleDraft, RolePatch, StaffRole};
use crate::ports::{RoleChange, RoleRepository};

/// Use cases of roles. Nobody gives a role what he does not have himself, nor touches a role that has more than he.
pub struct RoleService {
    roles: Arc<dyn RoleRepository>,
    clock: Arc<dyn Clock>,
}

impl RoleService {
    /// Wires the ports.
    pub fn new(roles: Arc<dyn RoleRepository>, clock: Arc<dyn Clock>) -> Self {
        Self { roles, clock }
    }

    /// Every role of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<StaffRole>, RoleError> {
        staff.require(Permission::view(Resource::Roles))?;
        Ok(self.roles.list(staff.project_id).await?)
    }

    /// One role of the employee's project.
    pub async fn read(&self, staff: &Staff, id: RoleId) -> Result<StaffRole, RoleError> {
        staff.require(Permission::view(Resource::Roles))?;
        self.own(staff, id).await
    }

    /// Adds a role to the employee's project.
    pub async fn create(&self, staff: &Staff, draft: RoleDraft) -> Result<StaffRole, RoleError> {
        staff.require(Permission::create(Resource::Roles))?;
        let wanted = self.wanted(staff, &draft.permissions).await?;
        self.holdings(staff).await?.check(&wanted)?;
        self.roles.insert(staff.project_id, draft, self.clock.now()).await
    }

    /// Changes a role of the employee's project. It counts for everybody who has the role at once.
    pub async fn update(&self, staff: &Staff, id: RoleId, patch: RolePatch) -> Result<StaffRole, RoleError> {
        staff.require(Permission::edit(Resource::Roles))?;
        let role = self.within_reach(staff, id).await?;
        if let Some(permissions) = &patch.permissions {
            let wanted = self.wanted(staff, permissions).await?;
            self.holdings(staff).await?.check(&wanted)?;
        }
        self.roles.change(RoleChange { role: id, version: role.version, patch, at: self.clock.now() }).await
    }

    /// Deletes a role that nobody has.
    pub async fn delete(&self, staff: &Staff, id: RoleId) -> Result<(), RoleError> {
        staff.require(Permission::edit(Resource::Roles))?;
        let role = self.within_reach(staff, id).await?;
        self.roles.delete(id, role.version).await
    }

    async fn own(&self, staff: &Staff, id: RoleId) -> Result<StaffRole, RoleError> {
        let role = self.roles.find(id).await?.ok_or(RoleError::NotFound)?;
        staff.require_project(role.project_id)?;
        Ok(role)
    }

    async fn within_reach(&self, staff: &Staff, id: RoleId) -> Result<StaffRole, RoleError> {
        let role = self.own(staff, id).await?;
        if role.is_owner {
            return Err(RoleError::OwnerRole);
        }
        self.holdings(staff).await?.check(&role.permissions)?;
        Ok(role)
    }

    async fn holdings(&self, staff: &Staff) -> Result<Holdings, RoleError> {
        let of_project = self.roles.project_permissions(staff.token_id).await?;
        Ok(Holdings::new(staff.permissions.clone(), of_project))
    }

    async fn wanted(&self, staff: &Staff, ids: &[PermissionId]) -> Result<Vec<GrantedPermission>, RoleError> {
        let known: BTreeMap<PermissionId, GrantedPermission> =
            self.roles.permissions(staff.project_id).await?.into_iter().map(|one| (one.id, one)).collect();
        let unknown: Vec<usize> =
            ids.iter().enumerate().filter(|(_, id)| !known.contains_key(id)).map(|(place, _)| place).collect();
        if !unknown.is_empty() {
            return Err(RoleError::UnknownPermissions(unknown));
        }
        Ok(ids.iter().filter_map(|id| known.get(id).cloned()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockRoleRepository;
    use chrono::DateTime;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, FixedClock, Name, ProjectId};

    fn catalogue() -> Vec<GrantedPermission> {
        vec![
            GrantedPermission::sample(1, None, "view-orders"),
            GrantedPermission::sample(2, None, "edit-orders"),
            GrantedPermission::sample(1000, Some(1), "view-reports"),
        ]
    }

    fn role(project: i64, is_owner: bool, permissions: Vec<GrantedPermission>) -> StaffRole {
        StaffRole {
            id: RoleId::new(5).unwrap(),
            project_id: ProjectId::new(project).unwrap(),
            name: Name::parse("Clerk").unwrap(),
            description: None,
            is_owner,
            permissions,
            version: 3,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    fn id() -> RoleId {
        RoleId::new(5).unwrap()
    }

    /// An employee who may edit roles and see orders.
    fn clerk() -> Staff {
        staff_with([Permission::edit(Resource::Roles), Permission::view(Resource::Orders)])
    }

    fn service(change: impl FnOnce(&mut MockRoleRepository)) -> RoleService {
        let mut roles = MockRoleRepository::new();
        roles.expect_permissions().returning(|_| Ok(catalogue()));
        roles.expect_project_permissions().returning(|_| Ok([].into()));
        change(&mut roles);
        RoleService::new(Arc::new(roles), Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)))
    }

    fn patch(ids: &[i64]) -> RolePatch {
        let permissions = ids.iter().map(|id| PermissionId::new(*id).unwrap()).collect();
        RolePatch { permissions: Some(permissions), ..RolePatch::default() }
    }

    fn draft(ids: &[i64]) -> RoleDraft {
        RoleDraft { name: Name::parse("New").unwrap(), description: None, permissions: patch(ids).permissions.unwrap() }
    }

    #[tokio::test]
    async fn nobody_gives_a_role_more_than_he_has() {
        let service = service(|roles| {
            roles
                .expect_find()
                .returning(|_| Ok(Some(role(1, false, vec![GrantedPermission::sample(1, None, "view-orders")]))));
        });
        for wanted in [&[2][..], &[1, 2], &[1000]] {
            assert!(
                matches!(service.create(&clerk(), draft(wanted)).await, Err(RoleError::BeyondReach(_))),
                "{wanted:?}"
            );
            let refused = service.update(&clerk(), id(), patch(wanted)).await;
            assert!(matches!(refused, Err(RoleError::BeyondReach(_))), "{wanted:?}");
        }
        let unknown = service.create(&clerk(), draft(&[1, 77, 2])).await;
        assert!(matches!(unknown, Err(RoleError::UnknownPermissions(places)) if places == [1]));
    }

    #[tokio::test]
    async fn a_role_that_has_more_is_out_of_reach() {
        for (has, owner) in [(vec![GrantedPermission::sample(2, None, "edit-orders")], false), (catalogue(), true)] {
            let service = service(|roles| {
                roles.expect_find().returning(move |_| Ok(Some(role(1, owner, has.clone()))));
            });
            let out_of_reach = |error: &RoleError| match error {
                RoleError::BeyondReach(_) => !owner,
                RoleError::OwnerRole => owner,
                _ => false,
            };
            assert!(out_of_reach(&service.update(&clerk(), id(), patch(&[])).await.unwrap_err()));
            assert!(out_of_reach(&service.delete(&clerk(), id()).await.unwrap_err()));
            assert!(service.read(&staff_with([Permission::view(Resource::Roles)]), id()).await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_change_carries_the_version_it_was_decided_by() {
        let service = service(|roles| {
            roles
                .expect_find()
                .returning(|_| Ok(Some(role(1, false, vec![GrantedPermission::sample(1, None, "view-orders")]))));
            roles.expect_change().withf(|change| change.version == 3).returning(|_| Err(RoleError::Stale));
            roles.expect_delete().withf(|_, version| *version == 3).returning(|_, _| Err(RoleError::InUse));
        });
        assert!(matches!(service.update(&clerk(), id(), patch(&[1, 1])).await, Err(RoleError::Stale)));
        assert!(matches!(service.delete(&clerk(), id()).await, Err(RoleError::InUse)));
    }

    #[tokio::test]
    async fn a_permission_of_the_project_is_handed_on_by_who_has_it() {
        let mut roles = MockRoleRepository::new();
        roles.expect_permissions().returning(|_| Ok(catalogue()));
        roles.expect_project_permissions().returning(|_| Ok([PermissionId::new(1000).unwrap()].into()));
        roles.expect_insert().returning(|_, _, _| Ok(role(1, false, Vec::new())));
        let service = RoleService::new(Arc::new(roles), Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)));
        assert!(service.create(&clerk(), draft(&[1, 1000])).await.is_ok());
    }

    #[tokio::test]
    async fn another_projects_role_is_foreign_and_permissions_come_first() {
        let service = service(|roles| {
            roles.expect_find().returning(|_| Ok(Some(role(2, false, Vec::new()))));
        });
        let foreign = |error| matches!(error, RoleError::Denied(AccessDenied::ForeignProject));
        assert!(foreign(service.update(&clerk(), id(), RolePatch::default()).await.unwrap_err()));
        assert!(foreign(service.delete(&clerk(), id()).await.unwrap_err()));
        let denied = |error| matches!(error, RoleError::Denied(AccessDenied::MissingPermission(_)));
        let nobody = staff_with([]);
        assert!(denied(service.list(&nobody).await.unwrap_err()));
        assert!(denied(service.read(&nobody, id()).await.unwrap_err()));
        assert!(denied(service.create(&nobody, draft(&[])).await.unwrap_err()));
        assert!(denied(service.update(&nobody, id(), patch(&[])).await.unwrap_err()));
        assert!(denied(service.delete(&nobody, id()).await.unwrap_err()));
    }
}
