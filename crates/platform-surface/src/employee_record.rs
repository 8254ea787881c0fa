//! Record of an employee.

use chrono::{DateTime, Utc};
use kontor_auth::model::{Employee, GrantedPermission, Role};
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::Settings;
use kontor_web::file_contents::avatar;
use kontor_web::records::Picture;
use kontor_web::wire::NamedRecord;

#[derive(Serialize, ToSchema)]
struct EmployeeRole {
    id: i64,
    name: String,
    description: Option<String>,
}

impl From<Role> for EmployeeRole {
    fn from(role: Role) -> Self {
        Self { id: role.id.get(), name: role.name.into(), description: role.description }
    }
}

/// Permission in the records of employees and roles.
#[derive(Serialize, ToSchema)]
pub(super) struct PermissionRecord {
    id: i64,
    screen: NamedRecord,
    name: String,
    description: String,
}

impl From<GrantedPermission> for PermissionRecord {
    fn from(granted: GrantedPermission) -> Self {
        Self {
            id: granted.id.get(),
            screen: granted.screen.into(),
            name: granted.name,
            description: granted.description,
        }
    }
}

/// Employee, as shown to themselves and to staff who may view employees.
#[derive(Serialize, ToSchema)]
pub(super) struct EmployeeRecord {
    id: i64,
    login: String,
    /// Address that receives temporary passwords.
    email: String,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    phone: Option<String>,
    avatar: Option<Picture>,
    role: EmployeeRole,
    /// Branch of the employee. `null` for all branches.
    branch: Option<NamedRecord>,
    department: Option<NamedRecord>,
    /// Employee who created the account.
    creator: Option<NamedRecord>,
    /// `true` if the employee cannot log in.
    is_banned: bool,
    /// `true` if the employee is on sick leave.
    is_sick: bool,
    /// Total time worked with the service, in seconds.
    active_time: i64,
    /// Time of the last activity, accurate to about a minute.
    last_activity_at: Option<DateTime<Utc>>,
    /// Permissions of the employee's role.
    permissions: Vec<PermissionRecord>,
}

impl EmployeeRecord {
    /// Builds the record of an employee. `config` supplies the addresses of pictures.
    pub(super) fn of(employee: Employee, config: &Settings) -> Self {
        Self {
            id: employee.id.get(),
            login: employee.login.to_string(),
            email: employee.email.to_string(),
            first_name: employee.first_name.into(),
            last_name: employee.last_name.into(),
            middle_name: employee.middle_name.map(Into::into),
            phone: employee.phone.map(|phone| phone.to_string()),
            avatar: avatar(employee.avatar.as_ref(), config),
            role: employee.role.into(),
            branch: employee.branch.map(Into::into),
            department: employee.department.map(Into::into),
            creator: employee.creator.map(Into::into),
            is_banned: employee.is_banned,
            is_sick: employee.is_sick,
            active_time: employee.active_time.num_seconds(),
            last_activity_at: employee.last_activity_at,
            permissions: employee.permissions.into_iter().map(Into::into).collect(),
        }
    }
}
