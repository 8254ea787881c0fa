use kontor_kernel::history::{Audited, AuditedField, Author};
use kontor_kernel::{BranchId, DepartmentId, Edit, Email, Name, Phone, Resource, RoleId, Stamp, UserId};

use super::{Employee, GrantedPermission, HeldPermissions, Login};
use crate::EmployeeRefusal;

/// Fields of a new employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmployeeDraft {
    /// Login.
    pub login: Login,
    /// E-mail address, which receives temporary passwords.
    pub email: Email,
    /// Given name.
    pub first_name: Name,
    /// Family name.
    pub last_name: Name,
    /// Patronymic.
    pub middle_name: Option<Name>,
    /// Phone.
    pub phone: Option<Phone>,
    /// Role.
    pub role_id: RoleId,
    /// Branch of the employee; `None` for all branches.
    pub branch_id: Option<BranchId>,
    /// Department.
    pub department_id: Option<DepartmentId>,
}

/// Change of an employee by staff of the project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EmployeeUpdate {
    /// E-mail address. Another one invalidates the temporary password that was sent to the old one.
    pub email: Edit<Email>,
    /// Given name.
    pub first_name: Edit<Name>,
    /// Family name.
    pub last_name: Edit<Name>,
    /// Patronymic.
    pub middle_name: Edit<Option<Name>>,
    /// Phone.
    pub phone: Edit<Option<Phone>>,
    /// Role.
    pub role_id: Edit<RoleId>,
    /// Branch of the employee; `None` for all branches.
    pub branch_id: Edit<Option<BranchId>>,
    /// Department.
    pub department_id: Edit<Option<DepartmentId>>,
    /// `true` if the employee is on sick leave.
    pub is_sick: Edit<bool>,
}

/// Reference of an employee to another record of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmployeeReference {
    /// Staff role.
    Role,
    /// Branch.
    Branch,
    /// Department.
    Department,
}

/// Caller who manages employees. The permissions are compared in the commit, with those of the stored roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmployeeEditor {
    /// Project, author and time of the change.
    pub stamp: Stamp,
    /// Permissions of the call.
    pub held: HeldPermissions,
}

impl EmployeeEditor {
    fn is(&self, employee: UserId) -> bool {
        self.stamp.author == Author::User(employee)
    }

    /// Refuses permissions that the caller lacks: those of a role to assign, or of an employee to change.
    pub fn check_held(&self, permissions: &[GrantedPermission]) -> Result<(), EmployeeRefusal> {
        Ok(self.held.check(permissions)?)
    }

    /// Refuses to change an employee who holds more permissions than the caller, and the caller's own role.
    pub fn check_update(&self, before: &Employee, change: &EmployeeUpdate) -> Result<(), EmployeeRefusal> {
        self.check_held(&before.permissions)?;
        let other_role = change.role_id.as_set().is_some_and(|role| *role != before.role.id);
        if other_role && self.is(before.id) { Err(EmployeeRefusal::OwnRole) } else { Ok(()) }
    }

    /// Refuses to ban or unban an employee who holds more permissions than the caller, and the caller.
    pub fn check_ban(&self, employee: &Employee) -> Result<(), EmployeeRefusal> {
        if self.is(employee.id) {
            return Err(EmployeeRefusal::OwnAccount);
        }
        self.check_held(&employee.permissions)
    }
}

impl Audited for Employee {
    const RESOURCE: Resource = Resource::Users;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        vec![
            ("login", Some(self.login.to_string())),
            ("email", Some(self.email.as_str().to_owned())),
            ("first_name", Some(self.first_name.to_string())),
            ("last_name", Some(self.last_name.to_string())),
            ("middle_name", self.middle_name.as_ref().map(ToString::to_string)),
            ("phone", self.phone.as_ref().map(ToString::to_string)),
            ("role", Some(self.role.name.to_string())),
            ("branch", self.branch.as_ref().map(|branch| branch.name.to_string())),
            ("department", self.department.as_ref().map(|department| department.name.to_string())),
            ("is_banned", Some(self.is_banned.to_string())),
            ("is_sick", Some(self.is_sick.to_string())),
        ]
    }
}
