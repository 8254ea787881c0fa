//! Roles of a project's staff.

use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::RoleService;
use kontor_auth::model::{RoleChange, RoleDraft, StaffRole};
use serde::Serialize;
use utoipa::ToSchema;

use super::employee_record::PermissionRecord;
use crate::endpoints::handlers;
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors, change_body};

handlers! {
    RoleService, "Roles and departments";

    /// List roles
    ///
    /// Returns every role of the project with its permissions.
    list "/api/roles" as list_roles -> RoleList;

    /// Create a role
    create "/api/roles" as create_role(NewRole) -> RoleResponse;

    /// Get a role
    read "/api/roles/{id}" as show_role -> RoleResponse;

    /// Update a role
    ///
    /// The change applies at once to all employees with the role. Fields that are not sent keep their values.
    update "/api/roles/{id}" as update_role(ChangedRole) -> RoleResponse,
        409 "Another request changed the role at the same time.";

    /// Delete a role
    ///
    /// The role must not be assigned to an employee.
    delete "/api/roles/{id}" as delete_role -> "The role was deleted.",
        422 "The role is assigned to employees.",
        409 "Another request changed the role at the same time.";
}

one!(RoleResponse { role: RoleRecord });
list!(RoleList { roles: [RoleRecord], roles_count });

#[derive(Serialize, ToSchema)]
struct RoleRecord {
    id: i64,
    name: String,
    description: Option<String>,
    /// `true` if the role has all permissions and cannot be changed.
    is_owner: bool,
    permissions: Vec<PermissionRecord>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<StaffRole> for RoleRecord {
    fn from(role: StaffRole) -> Self {
        Self {
            id: role.id.get(),
            name: role.name.into(),
            description: role.description.map(Into::into),
            is_owner: role.is_owner,
            permissions: role.permissions.into_iter().map(Into::into).collect(),
            created_at: role.created_at,
            updated_at: role.updated_at,
        }
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewRole {
    name: wire::Name,
    #[deserr(default)]
    description: Option<wire::Line500>,
    /// Ids of the permissions of the role. None by default. Callers cannot grant permissions that they do not hold.
    #[deserr(default)]
    permissions: Option<Vec<wire::PermissionId>>,
}

impl From<NewRole> for RoleDraft {
    fn from(new: NewRole) -> Self {
        Self {
            name: new.name.0,
            description: new.description.map(|text| text.0),
            permissions: new.permissions.unwrap_or_default().into_iter().map(|id| id.0).collect(),
        }
    }
}

change_body! {
    ChangedRole => RoleChange {
        name: wire::Name,
        description: wire::Line500 | null,
        /// Ids of the permissions of the role. Replaces all its permissions.
        permissions: Vec<wire::PermissionId>,
    }
}
