//! Roles of a project's staff, their permissions, the screens that group permissions, and departments.

use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::model::{PermissionChange, PermissionDraft, RoleChange, RoleDraft, StaffRole};
use kontor_auth::{PermissionService, RoleService};
use kontor_organization::DepartmentService;
use kontor_organization::model::{Department, DepartmentChange, DepartmentDraft};
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors, NamedRecord, change_body, into_domain};
use serde::Serialize;
use utoipa::ToSchema;

use super::employees::PermissionRecord;
use crate::endpoints::handlers;

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

handlers! {
    fn screen_routes; PermissionService, "Roles and departments";

    /// List screens
    ///
    /// Each screen groups the permissions of one resource.
    list "/api/screens" as list_screens = screens() -> ScreenList;

    /// Get a screen
    read "/api/screens/{id}" as show_screen = screen(id) -> ScreenResponse;
}

handlers! {
    fn permission_routes; PermissionService, "Roles and departments";

    /// List permissions
    ///
    /// Returns all permissions that roles can have: those of the service and those defined by the project.
    list "/api/permissions" as list_permissions -> PermissionList;

    /// Create a permission
    ///
    /// Defines a permission for the project's own integrations. It grants no access within the service.
    create "/api/permissions" as create_permission(NewPermission) -> PermissionResponse;

    /// Get a permission
    read "/api/permissions/{id}" as show_permission -> PermissionResponse;

    /// Update a permission
    ///
    /// Only permissions defined by the project can be updated. Fields that are not sent keep their values.
    update "/api/permissions/{id}" as update_permission(ChangedPermission) -> PermissionResponse;

    /// Delete a permission
    ///
    /// The permission must be defined by the project and must not be used by a role.
    delete "/api/permissions/{id}" as delete_permission -> "The permission was deleted.",
        422 "Roles use the permission.";
}

one!(PermissionResponse { permission: PermissionRecord });
list!(PermissionList { permissions: [PermissionRecord], permissions_count });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewPermission {
    name: wire::PermissionName,
    screen_id: wire::ScreenId,
    #[deserr(default)]
    description: Option<wire::Line500>,
}

into_domain!(NewPermission => PermissionDraft { name, screen_id, description });

change_body! {
    ChangedPermission => PermissionChange {
        name: wire::PermissionName,
        screen_id: wire::ScreenId,
        description: wire::Line500 | null,
    }
}

one!(ScreenResponse { screen: NamedRecord });
list!(ScreenList { screens: [NamedRecord], screens_count });

handlers! {
    fn department_routes;
    DepartmentService, "Roles and departments";

    /// List departments
    ///
    /// Returns every department of the project.
    list "/api/departments" as list_departments -> DepartmentList;

    /// Create a department
    create "/api/departments" as create_department(NewDepartment) -> DepartmentResponse;

    /// Get a department
    read "/api/departments/{id}" as show_department -> DepartmentResponse;

    /// Update a department
    ///
    /// Fields that are not sent keep their values.
    update "/api/departments/{id}" as update_department(ChangedDepartment) -> DepartmentResponse;

    /// Delete a department
    ///
    /// The department must have no employees.
    delete "/api/departments/{id}" as delete_department -> "The department was deleted.";
}

one!(DepartmentResponse { department: DepartmentRecord });
list!(DepartmentList { departments: [DepartmentRecord], departments_count });

#[derive(Serialize, ToSchema)]
struct DepartmentRecord {
    id: i64,
    name: String,
    description: Option<String>,
    /// Branch of the department. `null` if it belongs to the whole project.
    branch: Option<NamedRecord>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Department> for DepartmentRecord {
    fn from(department: Department) -> Self {
        Self {
            id: department.id.get(),
            name: department.name.into(),
            description: department.description.map(Into::into),
            branch: department.branch.map(|(id, name)| NamedRecord::new(id, name)),
            created_at: department.created_at,
            updated_at: department.updated_at,
        }
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewDepartment {
    name: wire::Name,
    #[deserr(default)]
    description: Option<wire::Line500>,
    /// Branch of the department. Without it, the department belongs to the whole project.
    #[deserr(default)]
    branch_id: Option<wire::BranchId>,
}

into_domain!(NewDepartment => DepartmentDraft { name, description, branch_id });

change_body! {
    ChangedDepartment => DepartmentChange {
        name: wire::Name,
        description: wire::Line500 | null,
        /// `null` assigns the department to the whole project.
        branch_id: wire::BranchId | null,
    }
}
