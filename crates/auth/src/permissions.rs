use std::sync::Arc;

use kontor_kernel::{Permission, PermissionId, Resource, ScreenId, Staff};

use crate::model::{FoundPermission, GrantedPermission, PermissionChange, PermissionDraft, Reference};
use crate::ports::PermissionRepository;
use crate::{PermissionError, PermissionRefusal};

/// Use cases of permissions and the screens that group them. The service's own permissions never change. A project may
/// define others: the service does not check them, and they serve its integrations.
pub struct PermissionService {
    /// Storage.
    pub permissions: Arc<dyn PermissionRepository>,
}

impl PermissionService {
    /// Returns every permission that roles of the employee's project can have.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<GrantedPermission>, PermissionError> {
        staff.require(Permission::view(Resource::Permissions))?;
        Ok(self.permissions.list(staff.project_id).await?)
    }

    /// Returns one of these permissions.
    pub async fn read(&self, staff: &Staff, id: PermissionId) -> Result<GrantedPermission, PermissionError> {
        staff.require(Permission::view(Resource::Permissions))?;
        match self.permissions.find(id).await?.ok_or(PermissionError::NotFound)? {
            FoundPermission::System(permission) => Ok(permission),
            FoundPermission::Project(permission) => Ok(permission.open(staff)?),
        }
    }

    /// Defines a permission for the employee's project.
    pub async fn create(&self, staff: &Staff, draft: PermissionDraft) -> Result<GrantedPermission, PermissionError> {
        staff.require(Permission::create(Resource::Permissions))?;
        self.permissions.insert(staff.project_id, draft).await
    }

    /// Changes a permission defined by the employee's project.
    pub async fn update(
        &self,
        staff: &Staff,
        id: PermissionId,
        change: PermissionChange,
    ) -> Result<GrantedPermission, PermissionError> {
        self.require_own(staff, id).await?;
        self.permissions.update(staff.project_id, id, change).await
    }

    /// Deletes a permission defined by the employee's project. Refuses one that a role has.
    pub async fn delete(&self, staff: &Staff, id: PermissionId) -> Result<(), PermissionError> {
        self.require_own(staff, id).await?;
        self.permissions.delete(staff.project_id, id).await
    }

    /// Returns every screen.
    pub async fn screens(&self, staff: &Staff) -> Result<Vec<Reference<ScreenId>>, PermissionError> {
        staff.require(Permission::view(Resource::Permissions))?;
        Ok(self.permissions.screens().await?)
    }

    /// Returns one screen.
    pub async fn screen(&self, staff: &Staff, id: ScreenId) -> Result<Reference<ScreenId>, PermissionError> {
        staff.require(Permission::view(Resource::Permissions))?;
        self.permissions.screen(id).await?.ok_or(PermissionError::NotFound)
    }

    async fn require_own(&self, staff: &Staff, id: PermissionId) -> Result<(), PermissionError> {
        staff.require(Permission::edit(Resource::Permissions))?;
        match self.permissions.find(id).await?.ok_or(PermissionError::NotFound)? {
            FoundPermission::System(_) => Err(PermissionRefusal::SystemPermission.into()),
            FoundPermission::Project(permission) => Ok(permission.open(staff).map(|_| ())?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockPermissionRepository;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, ProjectId, ProjectScoped};

    fn service(owner: Option<i64>) -> PermissionService {
        let mut permissions = MockPermissionRepository::new();
        permissions.expect_find().returning(move |id| {
            let permission = GrantedPermission::sample(id.get(), owner, "view-reports");
            Ok(Some(match owner {
                None => FoundPermission::System(permission),
                Some(owner) => FoundPermission::Project(ProjectScoped::new(ProjectId::new(owner).unwrap(), permission)),
            }))
        });
        permissions.expect_delete().returning(|_, _| Err(PermissionRefusal::InUse.into()));
        PermissionService { permissions: Arc::new(permissions) }
    }

    #[tokio::test]
    async fn only_what_the_project_defined_can_be_changed() {
        let (staff, id) = (staff_with(Permission::all()), PermissionId::new(9).unwrap());
        let system = service(None);
        assert!(system.read(&staff, id).await.is_ok());
        let of_the_service = |error| matches!(error, PermissionError::Refused(PermissionRefusal::SystemPermission));
        assert!(of_the_service(system.delete(&staff, id).await.unwrap_err()));
        assert!(of_the_service(system.update(&staff, id, PermissionChange::default()).await.unwrap_err()));
        let foreign = service(Some(2));
        for refused in [foreign.read(&staff, id).await.map(|_| ()), foreign.delete(&staff, id).await] {
            assert!(matches!(refused, Err(PermissionError::Denied(AccessDenied::ForeignProject))));
        }
        let own = service(Some(1)).delete(&staff, id).await;
        assert!(matches!(own, Err(PermissionError::Refused(PermissionRefusal::InUse))));
    }

    #[tokio::test]
    async fn without_the_permission_nothing_is_shown() {
        let (service, staff) = (service(None), staff_with([Permission::edit(Resource::Permissions)]));
        assert!(matches!(service.list(&staff).await, Err(PermissionError::Denied(_))));
        assert!(matches!(service.screens(&staff).await, Err(PermissionError::Denied(_))));
        assert!(matches!(service.screen(&staff, ScreenId::new(1).unwrap()).await, Err(PermissionError::Denied(_))));
    }
}
