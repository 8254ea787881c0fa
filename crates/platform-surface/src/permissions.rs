//! Permissions, and the screens that group them.

use actix_web::{delete, get, post, put};
use deserr::Deserr;
use kontor_auth::PermissionService;
use kontor_auth::model::{PermissionChange, PermissionDraft};
use utoipa::ToSchema;

use super::employee_record::PermissionRecord;
use crate::endpoints::handlers;
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors, NamedRecord, change_body, into_domain};

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
    PermissionService, "Roles and departments";

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
