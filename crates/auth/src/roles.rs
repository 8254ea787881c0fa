use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{Clock, Line, Name, Permission, PermissionId, Resource, RoleId, Staff, Stamp, draft_and_change};

use crate::model::{GrantedPermission, HeldPermissions};
use crate::ports::RoleRepository;
use crate::{RoleError, RoleRefusal};

/// Staff role of a project: a named set of permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffRole {
    /// Identifier.
    pub id: RoleId,
    /// Name.
    pub name: Name,
    /// Purpose, in words.
    pub description: Option<Line<500>>,
    /// `true` if the role always has every permission.
    pub is_owner: bool,
    /// Permissions, by identifier.
    pub permissions: Vec<GrantedPermission>,
    /// Version, incremented by every change.
    pub version: i64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

draft_and_change! {
    /// Fields of a new role.
    RoleDraft,
    /// Change of a role.
    RoleChange {
        /// Name.
        name: Name,
        /// Purpose, in words.
        description: Option<Line<500>>,
        /// Permissions; a change replaces the whole set.
        permissions: Vec<PermissionId>,
    }
}

/// Use cases of roles. Callers cannot add permissions they do not hold, nor change a role that holds more than they do.
pub struct RoleService {
    /// Storage of roles.
    pub roles: Arc<dyn RoleRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl RoleService {
    /// Returns every role of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<StaffRole>, RoleError> {
        staff.require(Permission::view(Resource::Roles))?;
        Ok(self.roles.list(staff.project_id).await?)
    }

    /// Returns one role of the employee's project.
    pub async fn read(&self, staff: &Staff, id: RoleId) -> Result<StaffRole, RoleError> {
        staff.require(Permission::view(Resource::Roles))?;
        staff.require_own(self.roles.find(id).await?)
    }

    /// Creates a role in the employee's project.
    pub async fn create(&self, staff: &Staff, draft: RoleDraft) -> Result<StaffRole, RoleError> {
        staff.require(Permission::create(Resource::Roles))?;
        self.require_grantable(staff, &draft.permissions).await?;
        self.roles.insert(Stamp::of(staff, self.clock.now()), draft).await
    }

    /// Changes a role of the employee's project. The change applies at once to all employees with the role.
    pub async fn update(&self, staff: &Staff, id: RoleId, change: RoleChange) -> Result<StaffRole, RoleError> {
        staff.require(Permission::edit(Resource::Roles))?;
        let role = self.check_held(staff, id).await?;
        if let Some(permissions) = change.permissions.as_set() {
            self.require_grantable(staff, permissions).await?;
        }
        self.roles.update(Stamp::of(staff, self.clock.now()), id, role.version, change).await
    }

    /// Deletes a role that no employee has.
    pub async fn delete(&self, staff: &Staff, id: RoleId) -> Result<(), RoleError> {
        staff.require(Permission::edit(Resource::Roles))?;
        let role = self.check_held(staff, id).await?;
        self.roles.delete(staff.project_id, id, role.version).await
    }

    async fn check_held(&self, staff: &Staff, id: RoleId) -> Result<StaffRole, RoleError> {
        let role: StaffRole = staff.require_own(self.roles.find(id).await?)?;
        if role.is_owner {
            return Err(RoleRefusal::OwnerRole.into());
        }
        self.require_held(staff, &role.permissions).await?;
        Ok(role)
    }

    async fn require_held(&self, staff: &Staff, wanted: &[GrantedPermission]) -> Result<(), RoleError> {
        let of_project = self.roles.project_permissions(staff.token_id).await?;
        Ok(HeldPermissions::new(staff.permissions.clone(), of_project).check(wanted).map_err(RoleRefusal::from)?)
    }

    async fn require_grantable(&self, staff: &Staff, ids: &[PermissionId]) -> Result<(), RoleError> {
        let known: BTreeMap<PermissionId, GrantedPermission> =
            self.roles.permissions(staff.project_id).await?.into_iter().map(|one| (one.id, one)).collect();
        let unknown: Vec<usize> =
            ids.iter().enumerate().filter(|(_, id)| !known.contains_key(id)).map(|(place, _)| place).collect();
        if !unknown.is_empty() {
            return Err(RoleRefusal::UnknownPermissions(unknown).into());
        }
        let wanted: Vec<GrantedPermission> = ids.iter().filter_map(|id| known.get(id).cloned()).collect();
        self.require_held(staff, &wanted).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockRoleRepository;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, Edit, FixedClock, ProjectId, ProjectScoped};

    fn catalogue() -> Vec<GrantedPermission> {
        vec![
            GrantedPermission::sample(1, None, "view-orders"),
            GrantedPermission::sample(2, None, "edit-orders"),
            GrantedPermission::sample(1000, Some(1), "view-reports"),
        ]
    }

    fn role(project: i64, is_owner: bool, permissions: Vec<GrantedPermission>) -> ProjectScoped<StaffRole> {
        let role = StaffRole {
            id: RoleId::new(5).unwrap(),
            name: Name::parse("Clerk").unwrap(),
            description: None,
            is_owner,
            permissions,
            version: 3,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        };
        ProjectScoped::new(ProjectId::new(project).unwrap(), role)
    }

    fn id() -> RoleId {
        RoleId::new(5).unwrap()
    }

    /// Employee who may edit roles and view orders.
    fn seller() -> Staff {
        staff_with([Permission::edit(Resource::Roles), Permission::view(Resource::Orders)])
    }

    fn service(change: impl FnOnce(&mut MockRoleRepository)) -> RoleService {
        let mut roles = MockRoleRepository::new();
        roles.expect_permissions().returning(|_| Ok(catalogue()));
        roles.expect_project_permissions().returning(|_| Ok([].into()));
        change(&mut roles);
        RoleService { roles: Arc::new(roles), clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)) }
    }

    fn ids(ids: &[i64]) -> Vec<PermissionId> {
        ids.iter().map(|id| PermissionId::new(*id).unwrap()).collect()
    }

    fn granting(wanted: &[i64]) -> RoleChange {
        RoleChange { permissions: Edit::Set(ids(wanted)), ..RoleChange::default() }
    }

    fn draft(wanted: &[i64]) -> RoleDraft {
        RoleDraft { name: Name::parse("New").unwrap(), description: None, permissions: ids(wanted) }
    }

    #[tokio::test]
    async fn a_role_gets_only_permissions_that_the_caller_holds() {
        let service = service(|roles| {
            roles
                .expect_find()
                .returning(|_| Ok(Some(role(1, false, vec![GrantedPermission::sample(1, None, "view-orders")]))));
        });
        for wanted in [&[2][..], &[1, 2], &[1000]] {
            assert!(
                matches!(
                    service.create(&seller(), draft(wanted)).await,
                    Err(RoleError::Refused(RoleRefusal::PermissionsNotHeld(_)))
                ),
                "{wanted:?}"
            );
            let refused = service.update(&seller(), id(), granting(wanted)).await;
            assert!(matches!(refused, Err(RoleError::Refused(RoleRefusal::PermissionsNotHeld(_)))), "{wanted:?}");
        }
        let unknown = service.create(&seller(), draft(&[1, 77, 2])).await;
        assert!(matches!(unknown, Err(RoleError::Refused(RoleRefusal::UnknownPermissions(places))) if places == [1]));
    }

    #[tokio::test]
    async fn a_role_that_has_more_is_out_of_reach() {
        for (has, owner) in [(vec![GrantedPermission::sample(2, None, "edit-orders")], false), (catalogue(), true)] {
            let service = service(|roles| {
                roles.expect_find().returning(move |_| Ok(Some(role(1, owner, has.clone()))));
            });
            let out_of_reach = |error: &RoleError| match error {
                RoleError::Refused(RoleRefusal::PermissionsNotHeld(_)) => !owner,
                RoleError::Refused(RoleRefusal::OwnerRole) => owner,
                _ => false,
            };
            assert!(out_of_reach(&service.update(&seller(), id(), granting(&[])).await.unwrap_err()));
            assert!(out_of_reach(&service.delete(&seller(), id()).await.unwrap_err()));
            assert!(service.read(&staff_with([Permission::view(Resource::Roles)]), id()).await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_change_carries_the_version_it_was_decided_by() {
        let service = service(|roles| {
            roles
                .expect_find()
                .returning(|_| Ok(Some(role(1, false, vec![GrantedPermission::sample(1, None, "view-orders")]))));
            roles
                .expect_update()
                .withf(|_, _, version, _| *version == 3)
                .returning(|_, _, _, _| Err(RoleRefusal::Stale.into()));
            roles
                .expect_delete()
                .withf(|_, _, version| *version == 3)
                .returning(|_, _, _| Err(RoleRefusal::InUse.into()));
        });
        assert!(matches!(
            service.update(&seller(), id(), granting(&[1, 1])).await,
            Err(RoleError::Refused(RoleRefusal::Stale))
        ));
        assert!(matches!(service.delete(&seller(), id()).await, Err(RoleError::Refused(RoleRefusal::InUse))));
    }

    #[tokio::test]
    async fn a_project_permission_is_granted_by_its_holders() {
        let mut roles = MockRoleRepository::new();
        roles.expect_permissions().returning(|_| Ok(catalogue()));
        roles.expect_project_permissions().returning(|_| Ok([PermissionId::new(1000).unwrap()].into()));
        roles.expect_insert().returning(|stamp, _| Ok(role(1, false, Vec::new()).within(stamp.project_id).unwrap()));
        let service = RoleService { roles: Arc::new(roles), clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)) };
        assert!(service.create(&seller(), draft(&[1, 1000])).await.is_ok());
    }

    #[tokio::test]
    async fn another_projects_role_is_foreign_and_permissions_come_first() {
        let service = service(|roles| {
            roles.expect_find().returning(|_| Ok(Some(role(2, false, Vec::new()))));
        });
        let foreign = |error| matches!(error, RoleError::Denied(AccessDenied::ForeignProject));
        assert!(foreign(service.update(&seller(), id(), RoleChange::default()).await.unwrap_err()));
        assert!(foreign(service.delete(&seller(), id()).await.unwrap_err()));
        let denied = |error| matches!(error, RoleError::Denied(AccessDenied::MissingPermission(_)));
        let nobody = staff_with([]);
        assert!(denied(service.list(&nobody).await.unwrap_err()));
        assert!(denied(service.read(&nobody, id()).await.unwrap_err()));
        assert!(denied(service.create(&nobody, draft(&[])).await.unwrap_err()));
        assert!(denied(service.update(&nobody, id(), granting(&[])).await.unwrap_err()));
        assert!(denied(service.delete(&nobody, id()).await.unwrap_err()));
    }
}
