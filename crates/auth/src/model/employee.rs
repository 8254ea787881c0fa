use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::history::{Audited, AuditedField, Author};
use kontor_kernel::{
    BranchId, DepartmentId, Edit, Email, FileId, FileKey, Line, Name, PermissionId, Phone, ProjectId, Reference,
    Resource, RoleId, ScreenId, SecretString, Stamp, TextError, UserId, wraps_text,
};

use super::HeldPermissions;
use crate::EmployeeRefusal;

/// Login of an employee: one line of at most 100 characters in lower case, unique in the whole service.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Login(String);

impl Login {
    /// Trims, converts to lower case and checks the length afterwards, since the lower-case form may be longer.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        Line::<100>::parse(&text.to_lowercase()).map(|line| Self(line.into()))
    }
}

wraps_text!(Login);

/// New password: 8 to 200 characters.
#[derive(Debug, Clone)]
pub struct NewPassword(SecretString);

/// Error: the password is too short or too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 8 to 200 characters")]
pub struct WeakPassword;

impl NewPassword {
    /// Checks the length; white space counts and is kept.
    pub fn parse(text: &str) -> Result<Self, WeakPassword> {
        if (8..=200).contains(&text.chars().count()) { Ok(Self(text.into())) } else { Err(WeakPassword) }
    }

    /// Returns the password for hashing.
    pub fn as_secret(&self) -> &SecretString {
        &self.0
    }
}

/// Credentials that are checked when an employee signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffCredentials {
    /// Employee.
    pub user_id: UserId,
    /// Project of the employee.
    pub project_id: ProjectId,
    /// Hash of the password.
    pub password_hash: String,
    /// Hash of the temporary password, while one is valid.
    pub temporary_hash: Option<String>,
    /// `true` if the employee is banned.
    pub is_banned: bool,
}

/// Role of an employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Identifier.
    pub id: RoleId,
    /// Name.
    pub name: Name,
    /// Purpose, in words.
    pub description: Option<String>,
}

/// Permission as the current-user response lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedPermission {
    /// Identifier.
    pub id: PermissionId,
    /// Screen that the permission belongs to.
    pub screen: Reference<ScreenId>,
    /// Project that defined it; `None` for permissions of the service, the only ones that the service itself checks.
    pub project_id: Option<ProjectId>,
    /// `view-<resource>`, `create-<resource>` or `edit-<resource>`.
    pub name: String,
    /// Description for people.
    pub description: String,
}

#[cfg(test)]
impl GrantedPermission {
    /// Sample permission for tests, of a project or of the service.
    pub(crate) fn sample(id: i64, project: Option<i64>, name: &str) -> Self {
        Self {
            id: PermissionId::new(id).unwrap(),
            screen: Reference { id: ScreenId::new(1).unwrap(), name: Name::parse("screen").unwrap() },
            project_id: project.map(|id| ProjectId::new(id).unwrap()),
            name: name.to_owned(),
            description: String::new(),
        }
    }
}

/// Employee: internal operator or manager of a project (`User` in the contract).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Employee {
    /// Identifier.
    pub id: UserId,
    /// Project of the employee.
    pub project_id: ProjectId,
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
    /// Avatar.
    pub avatar: Option<FileKey>,
    /// Role.
    pub role: Role,
    /// Branch of the employee; `None` for all branches.
    pub branch: Option<Reference<BranchId>>,
    /// Department.
    pub department: Option<Reference<DepartmentId>>,
    /// Employee who created the account.
    pub creator: Option<Reference<UserId>>,
    /// `true` if the employee is banned.
    pub is_banned: bool,
    /// `true` if the employee is on sick leave.
    pub is_sick: bool,
    /// Total time of activity.
    pub active_time: TimeDelta,
    /// Time of the last activity, accurate to about a minute.
    pub last_activity_at: Option<DateTime<Utc>>,
    /// Permissions of the role, by identifier.
    pub permissions: Vec<GrantedPermission>,
}

#[cfg(test)]
impl Employee {
    /// Sample employee for tests, of project 1 and without permissions.
    pub(crate) fn sample(id: i64) -> Self {
        let name = Name::parse("Anna").unwrap();
        Self {
            id: UserId::new(id).unwrap(),
            project_id: ProjectId::new(1).unwrap(),
            login: Login::parse("anna").unwrap(),
            email: Email::parse("anna@x.ru").unwrap(),
            first_name: name.clone(),
            last_name: name.clone(),
            middle_name: None,
            phone: None,
            avatar: None,
            role: Role { id: RoleId::new(5).unwrap(), name, description: None },
            branch: None,
            department: None,
            creator: None,
            is_banned: false,
            is_sick: false,
            active_time: TimeDelta::zero(),
            last_activity_at: None,
            permissions: Vec::new(),
        }
    }
}

/// Role assigned to an employee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleChoice {
    /// Owner role, which grants everything. It is created if the project has none.
    Owner,
    /// Role of the project.
    Role(RoleId),
}

/// New employee as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEmployee {
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
    /// Hash of the password.
    pub password_hash: String,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
}

/// Change of an employee by an operator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EmployeeChange {
    /// Phone.
    pub phone: Edit<Option<Phone>>,
    /// Patronymic.
    pub middle_name: Edit<Option<Name>>,
    /// `true` if the employee is on sick leave.
    pub is_sick: Edit<bool>,
    /// Avatar: a file of the project's avatar type.
    pub avatar: Edit<Option<FileId>>,
}

/// Returns `true` if the project would have no owner left without this employee. `owners` are the employees who can
/// sign in with the owner role; the first two are enough.
pub fn is_last_owner(owners: &[UserId], employee: UserId) -> bool {
    owners == [employee]
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_login_are_one_login() {
        assert_eq!(Login::parse(" Anna.К ").unwrap().as_str(), "anna.к");
        assert!(Login::parse(" ").is_err() && Login::parse(&"a".repeat(101)).is_err());
    }

    #[test]
    fn the_last_owner_is_the_only_one_who_can_sign_in() {
        let [admin, other] = [1, 2].map(|id| UserId::new(id).unwrap());
        assert!(is_last_owner(&[admin], admin));
        // Employees who are not owners, or not the only owner, may be removed.
        for owners in [&[][..], &[other], &[admin, other], &[other, admin]] {
            assert!(!is_last_owner(owners, admin), "{owners:?}");
        }
    }

    #[test]
    fn a_short_password_is_not_set() {
        assert!(NewPassword::parse("12345678").is_ok());
        assert_eq!(NewPassword::parse("1234567").unwrap_err(), WeakPassword);
        assert_eq!(NewPassword::parse(&"x".repeat(201)).unwrap_err(), WeakPassword);
    }
}
