use std::sync::Arc;

use kontor_kernel::{Clock, DepartmentId, Permission, Resource, Staff, Stamp};

use crate::DepartmentError;
use crate::model::{Department, DepartmentChange, DepartmentDraft};
use crate::ports::DepartmentRepository;

/// Use cases of departments.
pub struct DepartmentService {
    /// Where they are kept.
    pub departments: Arc<dyn DepartmentRepository>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl DepartmentService {
    /// Every department of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<Department>, DepartmentError> {
        staff.require(Permission::view(Resource::Departments))?;
        Ok(self.departments.list(staff.project_id).await?)
    }

    /// One department of the employee's project.
    pub async fn read(&self, staff: &Staff, id: DepartmentId) -> Result<Department, DepartmentError> {
        staff.require(Permission::view(Resource::Departments))?;
        staff.own(self.departments.find(id).await?)
    }

    /// Adds a department to the employee's project.
    pub async fn create(&self, staff: &Staff, draft: DepartmentDraft) -> Result<Department, DepartmentError> {
        staff.require(Permission::create(Resource::Departments))?;
        self.departments.insert(Stamp::of(staff, self.clock.now()), draft).await
    }

    /// Changes a department of the employee's project.
    pub async fn update(
        &self,
        staff: &Staff,
        id: DepartmentId,
        change: DepartmentChange,
    ) -> Result<Department, DepartmentError> {
        staff.require(Permission::edit(Resource::Departments))?;
        staff.own(self.departments.find(id).await?)?;
        self.departments.update(Stamp::of(staff, self.clock.now()), id, change).await
    }

    /// Deletes a department that has no employees.
    pub async fn delete(&self, staff: &Staff, id: DepartmentId) -> Result<(), DepartmentError> {
        staff.require(Permission::edit(Resource::Departments))?;
        staff.own(self.departments.find(id).await?)?;
        self.departments.delete(Stamp::of(staff, self.clock.now()), id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockDepartmentRepository;
    use chrono::DateTime;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, FixedClock, Name, OfProject, ProjectId};

    fn department(project: i64) -> OfProject<Department> {
        let department = Department {
            id: DepartmentId::new(7).unwrap(),
            name: Name::parse("Sales").unwrap(),
            description: None,
            branch: None,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        };
        OfProject::new(ProjectId::new(project).unwrap(), department)
    }

    fn service(departments: MockDepartmentRepository) -> DepartmentService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        DepartmentService { departments: Arc::new(departments), clock }
    }

    #[tokio::test]
    async fn another_projects_department_is_neither_shown_nor_touched() {
        let mut departments = MockDepartmentRepository::new();
        departments.expect_find().returning(|_| Ok(Some(department(2))));
        let service = service(departments);
        let (staff, id) = (staff_with(Permission::all()), DepartmentId::new(7).unwrap());
        let foreign = |error| matches!(error, DepartmentError::Denied(AccessDenied::ForeignProject));
        assert!(foreign(service.read(&staff, id).await.unwrap_err()));
        assert!(foreign(service.update(&staff, id, DepartmentChange::default()).await.unwrap_err()));
        assert!(foreign(service.delete(&staff, id).await.unwrap_err()));
    }

    #[tokio::test]
    async fn without_the_permission_nothing_is_asked() {
        let service = service(MockDepartmentRepository::new());
        let (staff, id) = (staff_with([Permission::create(Resource::Departments)]), DepartmentId::new(7).unwrap());
        let denied = |error| matches!(error, DepartmentError::Denied(AccessDenied::MissingPermission(_)));
        assert!(denied(service.list(&staff).await.unwrap_err()));
        assert!(denied(service.read(&staff, id).await.unwrap_err()));
        assert!(denied(service.update(&staff, id, DepartmentChange::default()).await.unwrap_err()));
        assert!(denied(service.delete(&staff, id).await.unwrap_err()));
    }
}
