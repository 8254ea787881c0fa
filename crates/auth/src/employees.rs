use std::sync::Arc;

use kontor_kernel::history::{Histories, HistoryEntry};
use kontor_kernel::{
    Clock, Page, PageRequest, Permission, Random, Resource, SecretString, Staff, Stamp, StoreError, UserId,
};

use crate::EmployeeError;
use crate::model::{Employee, EmployeeDraft, EmployeeEditor, EmployeeUpdate, HeldPermissions, NewEmployee, RoleChoice};
use crate::ports::{EmployeeRepository, PasswordHasher, RoleRepository};

/// Length of the first password of a new employee, in letters and digits: 190 bits.
const LENGTH: usize = 32;

/// Employees of a project, managed by their colleagues. Callers cannot assign a role with permissions that they do not
/// hold, nor change an employee who holds more than they do.
pub struct EmployeeService {
    /// Storage of employees.
    pub employees: Arc<dyn EmployeeRepository>,
    /// Storage of roles.
    pub roles: Arc<dyn RoleRepository>,
    /// History entries.
    pub histories: Arc<dyn Histories>,
    /// Hashes passwords.
    pub hasher: Arc<dyn PasswordHasher>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random secrets.
    pub random: Arc<dyn Random>,
}

impl EmployeeService {
    /// Returns one employee of the caller's project.
    pub async fn read(&self, staff: &Staff, id: UserId) -> Result<Employee, EmployeeError> {
        self.require_own(staff, id, Permission::view(Resource::Users)).await
    }

    /// Returns one page of the history of an employee of the caller's project, newest first.
    pub async fn history(
        &self,
        staff: &Staff,
        id: UserId,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, EmployeeError> {
        self.require_own(staff, id, Permission::view(Resource::Users)).await?;
        Ok(self.histories.page(staff.project_id, Resource::Users.name(), id.get(), page).await?)
    }

    /// Creates an employee with a random password that is not shown. The employee receives a temporary password by
    /// e-mail and replaces the random one with it.
    pub async fn create(&self, staff: &Staff, draft: EmployeeDraft) -> Result<Employee, EmployeeError> {
        staff.require(Permission::create(Resource::Users))?;
        let editor = self.editor(staff).await?;
        let password: SecretString = self.random.alphanumeric(LENGTH).into();
        let hash = self.hasher.hash(&password).await;
        let new = NewEmployee {
            project_id: staff.project_id,
            branch_id: draft.branch_id,
            department_id: draft.department_id,
            role: RoleChoice::Role(draft.role_id),
            login: draft.login,
            email: draft.email,
            first_name: draft.first_name,
            last_name: draft.last_name,
            middle_name: draft.middle_name,
            phone: draft.phone,
            password_hash: hash.map_err(|error| StoreError::Failed(error.to_string()))?,
            created_at: editor.stamp.at,
        };
        self.employees.insert(editor, new).await
    }

    /// Changes an employee of the caller's project. Another role applies to the tokens of the employee at once.
    pub async fn update(&self, staff: &Staff, id: UserId, change: EmployeeUpdate) -> Result<Employee, EmployeeError> {
        self.require_own(staff, id, Permission::edit(Resource::Users)).await?;
        self.employees.update(self.editor(staff).await?, id, change).await
    }

    /// Bans an employee of the caller's project and revokes their tokens at once, or lifts the ban.
    pub async fn set_banned(&self, staff: &Staff, id: UserId, banned: bool) -> Result<Employee, EmployeeError> {
        self.require_own(staff, id, Permission::edit(Resource::Users)).await?;
        self.employees.set_banned(self.editor(staff).await?, id, banned).await
    }

    async fn editor(&self, staff: &Staff) -> Result<EmployeeEditor, StoreError> {
        let of_project = self.roles.project_permissions(staff.token_id).await?;
        let held = HeldPermissions::new(staff.permissions.clone(), of_project);
        Ok(EmployeeEditor { stamp: Stamp::of(staff, self.clock.now()), held })
    }

    async fn require_own(&self, staff: &Staff, id: UserId, needed: Permission) -> Result<Employee, EmployeeError> {
        staff.require(needed)?;
        staff.require_own(self.employees.find(id).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EmployeeRefusal;
    use crate::model::GrantedPermission;
    use crate::ports::{MockEmployeeRepository, MockPasswordHasher, MockRoleRepository};
    use chrono::DateTime;
    use kontor_kernel::history::{Audited, MockHistories};
    use kontor_kernel::testing::{CountingRandom, staff_with};
    use kontor_kernel::{AccessDenied, Edit, ExposeSecret, FixedClock, PermissionId, ProjectId, ProjectScoped, RoleId};

    const VIEW: Permission = Permission::view(Resource::Users);
    const EDIT: Permission = Permission::edit(Resource::Users);

    fn number(id: i64) -> UserId {
        UserId::new(id).unwrap()
    }

    fn employee(id: i64, permissions: Vec<GrantedPermission>) -> Employee {
        Employee { permissions, ..Employee::sample(id) }
    }

    fn draft() -> EmployeeDraft {
        let Employee { login, email, first_name, last_name, .. } = employee(3, Vec::new());
        let role_id = RoleId::new(5).unwrap();
        EmployeeDraft {
            login,
            email,
            first_name,
            last_name,
            middle_name: None,
            phone: None,
            role_id,
            branch_id: None,
            department_id: None,
        }
    }

    fn service(employees: MockEmployeeRepository) -> EmployeeService {
        let mut roles = MockRoleRepository::new();
        roles.expect_project_permissions().returning(|_| Ok([PermissionId::new(1000).unwrap()].into()));
        let mut hasher = MockPasswordHasher::new();
        hasher.expect_hash().returning(|password| Ok(format!("hash of {}", password.expose_secret())));
        EmployeeService {
            employees: Arc::new(employees),
            roles: Arc::new(roles),
            histories: Arc::new(MockHistories::new()),
            hasher: Arc::new(hasher),
            clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
            random: Arc::new(CountingRandom::new()),
        }
    }

    /// Finds an employee of this project, any number of times.
    fn knowing(project: i64) -> MockEmployeeRepository {
        let mut employees = MockEmployeeRepository::new();
        let project = ProjectId::new(project).unwrap();
        employees.expect_find().returning(move |_| Ok(Some(ProjectScoped::new(project, employee(3, Vec::new())))));
        employees
    }

    async fn editor(permissions: impl IntoIterator<Item = Permission>) -> EmployeeEditor {
        service(MockEmployeeRepository::new()).editor(&staff_with(permissions)).await.unwrap()
    }

    #[tokio::test]
    async fn a_new_employee_has_a_password_that_is_not_shown() {
        let mut employees = MockEmployeeRepository::new();
        employees
            .expect_insert()
            .withf(|editor, new| {
                new.password_hash.len() == "hash of ".len() + LENGTH
                    && new.project_id == editor.stamp.project_id
                    && new.role == RoleChoice::Role(RoleId::new(5).unwrap())
            })
            .once()
            .returning(|_, _| Ok(employee(3, Vec::new())));
        let made = service(employees).create(&staff_with([Permission::create(Resource::Users)]), draft()).await;
        assert_eq!(made.unwrap(), employee(3, Vec::new()));
    }

    #[tokio::test]
    async fn a_change_carries_the_permissions_of_the_caller() {
        let mut employees = knowing(1);
        let held = HeldPermissions::new([EDIT].into(), [PermissionId::new(1000).unwrap()].into());
        let expected = held.clone();
        employees
            .expect_update()
            .withf(move |editor, id, _| editor.held == expected && id.get() == 3)
            .once()
            .returning(|_, _, _| Ok(employee(3, Vec::new())));
        employees
            .expect_set_banned()
            .withf(move |editor, id, banned| editor.held == held && id.get() == 3 && *banned)
            .once()
            .returning(|_, _, _| Err(EmployeeRefusal::LastOwner.into()));
        let service = service(employees);
        let caller = staff_with([EDIT]);
        assert!(service.update(&caller, number(3), EmployeeUpdate::default()).await.is_ok());
        let refused = service.set_banned(&caller, number(3), true).await;
        assert!(matches!(refused, Err(EmployeeError::Refused(EmployeeRefusal::LastOwner))));
    }

    #[tokio::test]
    async fn callers_cannot_change_an_employee_who_holds_more() {
        let editor = editor([EDIT, Permission::view(Resource::Orders)]).await;
        let with = |id, name: &str| employee(3, vec![GrantedPermission::sample(id, None, name)]);
        let own = employee(3, vec![GrantedPermission::sample(1000, Some(1), "view-reports")]);
        for weaker in [with(1, "view-orders"), own] {
            assert_eq!(editor.check_update(&weaker, &EmployeeUpdate::default()), Ok(()));
            assert_eq!(editor.check_ban(&weaker), Ok(()));
        }
        let stronger = with(2, "edit-orders");
        let refusals = [editor.check_update(&stronger, &EmployeeUpdate::default()), editor.check_ban(&stronger)];
        for refusal in refusals {
            let Err(EmployeeRefusal::PermissionsNotHeld(denied)) = &refusal else { panic!("{refusal:?}") };
            assert_eq!(denied.missing, ["edit-orders"]);
        }
    }

    #[tokio::test]
    async fn callers_keep_their_role_and_their_access() {
        let (editor, me) = (editor([EDIT]).await, employee(1, Vec::new()));
        let role = |id| EmployeeUpdate { role_id: Edit::Set(RoleId::new(id).unwrap()), ..EmployeeUpdate::default() };
        assert_eq!(editor.check_update(&me, &role(6)), Err(EmployeeRefusal::OwnRole));
        assert_eq!(editor.check_ban(&me), Err(EmployeeRefusal::OwnAccount));
        assert_eq!(editor.check_update(&me, &role(5)), Ok(()), "a record can be sent back as it was read");
        assert_eq!(editor.check_update(&employee(2, Vec::new()), &role(6)), Ok(()));
    }

    #[tokio::test]
    async fn permissions_come_first_and_other_projects_are_foreign() {
        let page = PageRequest::new(1, 15, 100).unwrap();
        let denied = service(MockEmployeeRepository::new()).create(&staff_with([VIEW]), draft()).await;
        assert!(matches!(denied, Err(EmployeeError::Denied(AccessDenied::MissingPermission(_)))));
        for (staff, service, foreign) in [
            (staff_with([]), service(MockEmployeeRepository::new()), false),
            (staff_with([VIEW, EDIT]), service(knowing(2)), true),
        ] {
            let refusals = [
                service.read(&staff, number(3)).await.unwrap_err(),
                service.history(&staff, number(3), page).await.unwrap_err(),
                service.update(&staff, number(3), EmployeeUpdate::default()).await.unwrap_err(),
                service.set_banned(&staff, number(3), true).await.unwrap_err(),
                service.set_banned(&staff, number(3), false).await.unwrap_err(),
            ];
            for refusal in refusals {
                let EmployeeError::Denied(denied) = refusal else { panic!("{refusal}") };
                assert_eq!(denied == AccessDenied::ForeignProject, foreign);
            }
        }
    }

    #[test]
    fn a_history_names_what_an_editor_can_change() {
        let fields: Vec<&str> = employee(3, Vec::new()).audited_fields().into_iter().map(|(field, _)| field).collect();
        assert!(["email", "role", "department", "is_banned"].iter().all(|field| fields.contains(field)), "{fields:?}");
    }
}
