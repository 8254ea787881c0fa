// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::Secret;

/// Current user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CurrentUser {
    pub user: EmployeeRecord,
}

/// Employee, as shown to themselves and to staff who may view employees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmployeeRecord {
    /// Total time worked with the service, in seconds.
    pub active_time: i64,
    pub avatar: Option<Picture>,
    /// Branch of the employee. `null` for all branches.
    pub branch: Option<NamedRecord>,
    /// Employee who created the account.
    pub creator: Option<NamedRecord>,
    pub department: Option<NamedRecord>,
    /// Address that receives temporary passwords.
    pub email: String,
    pub first_name: String,
    pub id: i64,
    /// `true` if the employee cannot log in.
    pub is_banned: bool,
    /// `true` if the employee is on sick leave.
    pub is_sick: bool,
    /// Time of the last activity, accurate to about a minute.
    pub last_activity_at: Option<DateTime<Utc>>,
    pub last_name: String,
    pub login: String,
    pub middle_name: Option<String>,
    /// Permissions of the employee's role.
    pub permissions: Vec<PermissionRecord>,
    pub phone: Option<String>,
    pub role: EmployeeRole,
}

/// Employee role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmployeeRole {
    pub description: Option<String>,
    pub id: i64,
    pub name: String,
}

/// Password request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PasswordRequest {
    pub login: String,
}

/// Permission in the records of employees and roles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PermissionRecord {
    pub description: String,
    pub id: i64,
    pub name: String,
    pub screen: NamedRecord,
}

/// Signed in user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SignedInUser {
    pub user: UserWithToken,
}

/// Staff login.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffLogin {
    pub login: String,
    pub password: Secret,
}

/// User with token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserWithToken {
    /// Total time worked with the service, in seconds.
    pub active_time: i64,
    pub avatar: Option<Picture>,
    /// Branch of the employee. `null` for all branches.
    pub branch: Option<NamedRecord>,
    /// Employee who created the account.
    pub creator: Option<NamedRecord>,
    pub department: Option<NamedRecord>,
    /// Address that receives temporary passwords.
    pub email: String,
    pub first_name: String,
    pub id: i64,
    /// `true` if the employee cannot log in.
    pub is_banned: bool,
    /// `true` if the employee is on sick leave.
    pub is_sick: bool,
    /// Time of the last activity, accurate to about a minute.
    pub last_activity_at: Option<DateTime<Utc>>,
    pub last_name: String,
    pub login: String,
    pub middle_name: Option<String>,
    /// Permissions of the employee's role.
    pub permissions: Vec<PermissionRecord>,
    pub phone: Option<String>,
    pub role: EmployeeRole,
    pub access_token: AccessTokenRecord,
}
