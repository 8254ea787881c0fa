use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{
    BranchId, DepartmentId, Edit, Email, FileId, FileKey, Line, Name, PermissionId, Phone, ProjectId, RoleId, ScreenId,
    SecretString, TextError, UserId,
};

/// What an employee signs in with: one line of at most 100 characters in lower case, unique in the whole service.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Login(String);

impl Login {
    /// Trims, lowers and checks: in lower case a text may have more characters.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        Line::<100>::parse(&text.to_lowercase()).map(|line| Self(line.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A password that is good enough to be set: 8 to 200 characters.
#[derive(Debug, Clone)]
pub struct NewPassword(SecretString);

/// A text that is no good password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 8 to 200 characters")]
pub struct WeakPassword;

impl NewPassword {
    /// Checks; white space counts and is kept.
    pub fn parse(text: &str) -> Result<Self, WeakPassword> {
        if (8..=200).contains(&text.chars().count()) { Ok(Self(text.into())) } else { Err(WeakPassword) }
    }

    /// The password, for hashing.
    pub fn as_secret(&self) -> &SecretString {
        &self.0
    }
}

/// What is checked when an employee signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffCredentials {
    /// The employee.
    pub user_id: UserId,
    /// His project.
    pub project_id: ProjectId,
    /// The stored form of his password.
    pub password_hash: String,
    /// The stored form of his temporary password, while one is valid.
    pub temporary_hash: Option<String>,
    /// Whether he is shut out.
    pub is_banned: bool,
}

/// Another record, by number and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<Id> {
    /// Its number.
    pub id: Id,
    /// Its name.
    pub name: Name,
}

/// The role of an employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Its number.
    pub id: RoleId,
    /// Its name.
    pub name: Name,
    /// What it is for.
    pub description: Option<String>,
}

/// A permission as the current-user answer lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedPermission {
    /// Its number.
    pub id: PermissionId,
    /// The screen it belongs to.
    pub screen: Reference<ScreenId>,
    /// The project that defined it; `None` for those of the service, the only ones that open anything here.
    pub project_id: Option<ProjectId>,
    /// `view-<resource>`, `create-<resource>` or `edit-<resource>`.
    pub name: String,
    /// What it allows, for people.
    pub description: String,
}

#[cfg(test)]
impl GrantedPermission {
    /// One of a screen, for tests: of a project, or of the service.
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

/// An employee: an internal operator or manager of a project (`User` in the contract).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Employee {
    /// His number.
    pub id: UserId,
    /// His project.
    pub project_id: ProjectId,
    /// What he signs in with.
    pub login: Login,
    /// His given name.
    pub first_name: Name,
    /// His family name.
    pub last_name: Name,
    /// His patronymic.
    pub middle_name: Option<Name>,
    /// His phone.
    pub phone: Option<Phone>,
    /// His picture.
    pub avatar: Option<FileKey>,
    /// His role.
    pub role: Role,
    /// Where he works; `None` for all branches.
    pub branch: Option<Reference<BranchId>>,
    /// His department.
    pub department: Option<Reference<DepartmentId>>,
    /// Who made his account.
    pub creator: Option<Reference<UserId>>,
    /// Whether he is shut out.
    pub is_banned: bool,
    /// Whether he is on sick leave.
    pub is_sick: bool,
    /// How long he has worked with the service so far.
    pub active_time: TimeDelta,
    /// When he last did something, to the minute or so.
    pub last_activity_at: Option<DateTime<Utc>>,
    /// What his role allows, by number.
    pub permissions: Vec<GrantedPermission>,
}

/// The first employee of a project, who may do everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOwner {
    /// The project.
    pub project_id: ProjectId,
    /// The branch he works in.
    pub branch_id: Option<BranchId>,
    /// What he signs in with.
    pub login: Login,
    /// Where his mail goes.
    pub email: Email,
    /// The stored form of his password.
    pub password_hash: String,
    /// Now.
    pub created_at: DateTime<Utc>,
}

/// Which role an employee gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleChoice {
    /// The role that allows everything; it is made when the project has none.
    Owner,
    /// A role of the project.
    Role(RoleId),
}

/// An employee as those who run the service add him.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEmployee {
    /// The project.
    pub project_id: ProjectId,
    /// The branch he works in; `None` for all branches.
    pub branch_id: Option<BranchId>,
    /// His department.
    pub department_id: Option<DepartmentId>,
    /// What he may do.
    pub role: RoleChoice,
    /// What he signs in with.
    pub login: Login,
    /// Where his mail goes.
    pub email: Email,
    /// His given name.
    pub first_name: Name,
    /// His family name.
    pub last_name: Name,
    /// His patronymic.
    pub middle_name: Option<Name>,
    /// His phone.
    pub phone: Option<Phone>,
    /// The stored form of his password.
    pub password_hash: String,
    /// Now.
    pub created_at: DateTime<Utc>,
}

/// What those who run the service change about an employee.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EmployeeChange {
    /// His phone.
    pub phone: Edit<Option<Phone>>,
    /// His patronymic.
    pub middle_name: Edit<Option<Name>>,
    /// Whether he is on sick leave.
    pub is_sick: Edit<bool>,
    /// His picture: a file of the type for avatars of his project.
    pub avatar: Edit<Option<FileId>>,
}

/// Whether a project would have no owner left without this employee. `owners` are those who can sign in with the role that
/// allows everything, two of them at least when there are as many.
pub fn is_last_owner(owners: &[UserId], employee: UserId) -> bool {
    owners == [employee]
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
        let [boss, other] = [1, 2].map(|id| UserId::new(id).unwrap());
        assert!(is_last_owner(&[boss], boss));
        // Whoever is no owner, or not the only one, may go.
        for owners in [&[][..], &[other], &[boss, other], &[other, boss]] {
            assert!(!is_last_owner(owners, boss), "{owners:?}");
        }
    }

    #[test]
    fn a_short_password_is_not_set() {
        assert!(NewPassword::parse("12345678").is_ok());
        assert_eq!(NewPassword::parse("1234567").unwrap_err(), WeakPassword);
        assert_eq!(NewPassword::parse(&"x".repeat(201)).unwrap_err(), WeakPassword);
    }
}
