use std::sync::Arc;

use kontor_kernel::{BranchId, Clock, DepartmentId, Email, Name, Phone, ProjectId, StoreError, UserId};

use crate::StaffRegistryError;
use crate::model::{EmployeeChange, Login, NewEmployee, NewPassword, RoleChoice};
use crate::ports::{PasswordHasher, StaffRepository};

/// New employee, as described by an operator.
#[derive(Debug, Clone)]
pub struct NewEmployeeInput {
    /// Project.
    pub project_id: ProjectId,
    /// Branch of the employee; `None` for all branches.
    pub branch_id: Option<BranchId>,
    /// Department.
    pub department_id: Option<DepartmentId>,
    /// Role.
    pub role: RoleChoice,
    /// Login.
    pub login: Login,
    /// E-mail address.
    pub email: Email,
    /// Given name.
    pub first_name: Name,
    /// Family name.
    pub last_name: Name,
    /// Patronymic.
    pub middle_name: Option<Name>,
    /// Phone.
    pub phone: Option<Phone>,
    /// Password.
    pub password: NewPassword,
}

/// Management of employee accounts by operators.
pub struct StaffRegistry {
    /// Storage of employees.
    pub staff: Arc<dyn StaffRepository>,
    /// Hashes passwords.
    pub hasher: Arc<dyn PasswordHasher>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl StaffRegistry {
    /// Creates an employee with the owner role: the first one of a project.
    pub async fn create_owner(
        &self,
        project_id: ProjectId,
        login: Login,
        email: Email,
        password: &NewPassword,
        branch_id: Option<BranchId>,
    ) -> Result<UserId, StaffRegistryError> {
        let name = |text| Name::parse(text).map_err(StoreError::corrupt);
        let owner = NewEmployeeInput {
            project_id,
            branch_id,
            department_id: None,
            role: RoleChoice::Owner,
            login,
            email,
            first_name: name("Project")?,
            last_name: name("Owner")?,
            middle_name: None,
            phone: None,
            password: password.clone(),
        };
        self.new_employee(owner).await
    }

    /// Creates an employee.
    pub async fn new_employee(&self, new_employee: NewEmployeeInput) -> Result<UserId, StaffRegistryError> {
        let password_hash = self.hasher.hash(new_employee.password.as_secret()).await?;
        let employee = NewEmployee {
            project_id: new_employee.project_id,
            branch_id: new_employee.branch_id,
            department_id: new_employee.department_id,
            role: new_employee.role,
            login: new_employee.login,
            email: new_employee.email,
            first_name: new_employee.first_name,
            last_name: new_employee.last_name,
            middle_name: new_employee.middle_name,
            phone: new_employee.phone,
            password_hash,
            created_at: self.clock.now(),
        };
        self.staff.insert_employee(employee).await
    }

    /// Bans an employee and revokes their tokens at once. Refuses the last owner of a project.
    pub async fn ban(&self, user: UserId) -> Result<(), StaffRegistryError> {
        self.staff.ban(user, self.clock.now()).await
    }

    /// Lifts the ban of an employee.
    pub async fn unban(&self, user: UserId) -> Result<(), StaffRegistryError> {
        self.staff.unban(user, self.clock.now()).await
    }

    /// Assigns another role to an employee. Refuses to change the role of the last owner of a project.
    pub async fn assign_role(&self, user: UserId, role: RoleChoice) -> Result<(), StaffRegistryError> {
        self.staff.assign_role(user, role, self.clock.now()).await
    }

    /// Assigns an employee to a department, or to none.
    pub async fn assign_department(
        &self,
        user: UserId,
        department: Option<DepartmentId>,
    ) -> Result<(), StaffRegistryError> {
        self.staff.assign_department(user, department, self.clock.now()).await
    }

    /// Changes the employee with this login.
    pub async fn update(&self, login: &Login, change: EmployeeChange) -> Result<UserId, StaffRegistryError> {
        self.staff.update_employee(login, change, self.clock.now()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::{MockPasswordHasher, MockStaffRepository};
    use chrono::DateTime;
    use kontor_kernel::FixedClock;

    fn registry(staff: MockStaffRepository) -> StaffRegistry {
        let mut hasher = MockPasswordHasher::new();
        hasher.expect_hash().returning(|_| Ok("hashed".to_owned()));
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        StaffRegistry { staff: Arc::new(staff), hasher: Arc::new(hasher), clock }
    }

    #[tokio::test]
    async fn an_owner_is_stored_with_a_hash() {
        let mut staff = MockStaffRepository::new();
        staff
            .expect_insert_employee()
            .withf(|owner| {
                (owner.password_hash.as_str(), owner.login.as_str(), owner.role)
                    == ("hashed", "boss", RoleChoice::Owner)
            })
            .returning(|_| Err(StaffRegistryError::LoginTaken));
        let refused = registry(staff)
            .create_owner(
                ProjectId::new(1).unwrap(),
                Login::parse("Boss").unwrap(),
                Email::parse("boss@x.ru").unwrap(),
                &NewPassword::parse("long enough").unwrap(),
                None,
            )
            .await;
        assert!(matches!(refused, Err(StaffRegistryError::LoginTaken)));
    }

    #[tokio::test]
    async fn an_employee_is_stored_with_a_hash() {
        let mut staff = MockStaffRepository::new();
        staff
            .expect_insert_employee()
            .withf(|employee| employee.password_hash == "hashed" && employee.role == RoleChoice::Owner)
            .returning(|_| Ok(UserId::new(4).unwrap()));
        let new_employee = NewEmployeeInput {
            project_id: ProjectId::new(1).unwrap(),
            branch_id: None,
            department_id: None,
            role: RoleChoice::Owner,
            login: Login::parse("anna").unwrap(),
            email: Email::parse("anna@x.ru").unwrap(),
            first_name: Name::parse("Anna").unwrap(),
            last_name: Name::parse("Kern").unwrap(),
            middle_name: None,
            phone: None,
            password: NewPassword::parse("long enough").unwrap(),
        };
        assert!(!format!("{new_employee:?}").contains("long enough"));
        assert_eq!(registry(staff).new_employee(new_employee).await.unwrap().get(), 4);
    }
}
