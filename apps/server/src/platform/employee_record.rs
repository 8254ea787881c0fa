//! The record of an employee.

use chrono::{DateTime, Utc};
use kontor_auth::model::{Employee, GrantedPermission, Reference, Role};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::records::Picture;
use crate::http::wire::NamedRecord;

/// Another record, by number and name.
pub(super) fn named<Id: Into<i64>>(reference: Reference<Id>) -> NamedRecord {
    NamedRecord::new(reference.id, reference.name)
}

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

/// A permission as it stands in the records of employees and roles.
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
            screen: named(granted.screen),
            name: granted.name,
            description: granted.description,
        }
    }
}

/// An employee, as he and those who may see employees see him.
#[derive(Serialize, ToSchema)]
pub(super) struct EmployeeRecord {
    id: i64,
    login: String,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    phone: Option<String>,
    avatar: Option<Picture>,
    role: EmployeeRole,
    branch: Option<NamedRecord>,
    department: Option<NamedRecord>,
    creator: Option<NamedRecord>,
    is_banned: bool,
    is_sick: bool,
    /// Time worked with the service so far, in seconds.
    active_time: i64,
    last_activity_at: Option<DateTime<Utc>>,
    permissions: Vec<PermissionRecord>,
}

impl From<Employee> for EmployeeRecord {
    fn from(employee: Employee) -> Self {
        Self {
            id: employee.id.get(),
            login: employee.login.to_string(),
            first_name: employee.first_name.into(),
            last_name: employee.last_name.into(),
            middle_name: employee.middle_name.map(Into::into),
            phone: employee.phone.map(|phone| phone.to_string()),
            avatar: None,
            role: employee.role.into(),
            branch: employee.branch.map(named),
            department: employee.department.map(named),
            creator: employee.creator.map(named),
            is_banned: employee.is_banned,
            is_sick: employee.is_sick,
            active_time: employee.active_time.num_seconds(),
            last_activity_at: employee.last_activity_at,
            permissions: employee.permissions.into_iter().map(Into::into).collect(),
        }
    }
}
