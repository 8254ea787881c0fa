use std::sync::Arc;

use kontor_kernel::{Page, PageRequest, Permission, RecordError, Resource, Staff};

use crate::model::{Employee, EmployeeFilter, EmployeeSummary};
use crate::ports::DirectoryRepository;

/// Employees of a project, without agents.
pub struct StaffDirectory {
    /// Storage of employees.
    pub directory: Arc<dyn DirectoryRepository>,
}

impl StaffDirectory {
    /// Returns one page of the project's employees with all their fields.
    pub async fn employees(
        &self,
        staff: &Staff,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<Employee>, RecordError> {
        staff.require(Permission::view(Resource::Users))?;
        Ok(self.directory.employees(staff.project_id, filter, page).await?)
    }

    /// Returns one page of the employees that can be assigned work: those who are not banned.
    pub async fn colleagues(
        &self,
        staff: &Staff,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<EmployeeSummary>, RecordError> {
        staff.require(Permission::view(Resource::Users))?;
        let filter = EmployeeFilter { active: true, ..filter };
        Ok(self.directory.colleagues(staff.project_id, filter, page).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockDirectoryRepository;
    use kontor_kernel::testing::staff_with;

    #[tokio::test]
    async fn banned_employees_are_not_assignable() {
        let mut directory = MockDirectoryRepository::new();
        directory
            .expect_colleagues()
            .withf(|_, filter, _| filter.active)
            .once()
            .returning(|_, _, request| Ok(Page { items: Vec::new(), total: 0, request }));
        let directory = StaffDirectory { directory: Arc::new(directory) };
        let page = PageRequest::new(1, 100, 100).unwrap();
        let viewer = staff_with([Permission::view(Resource::Users)]);
        assert!(directory.colleagues(&viewer, EmployeeFilter::default(), page).await.is_ok());
        let nobody = staff_with([]);
        assert!(matches!(
            directory.colleagues(&nobody, EmployeeFilter::default(), page).await,
            Err(RecordError::Denied(_))
        ));
        assert!(matches!(
            directory.employees(&nobody, EmployeeFilter::default(), page).await,
            Err(RecordError::Denied(_))
        ));
    }
}
