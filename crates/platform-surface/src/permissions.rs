//! Permissions, and the screens that group them.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{delete, get, post, put};
use deserr::Deserr;
use kontor_auth::PermissionService;
use kontor_auth::model::{PermissionChange, PermissionDraft};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::employee_record::PermissionRecord;
use kontor_web::envelope::{list, one};
use kontor_web::records::Message;
use kontor_web::routes::below;
use kontor_web::wire::{self, InputErrors, NamedRecord, NonNullPatch, Patch};
use kontor_web::{ApiError, Body, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    below(config, "/api/permissions", |config| {
        config
            .service(list_permissions)
            .service(create_permission)
            .service(show_permission)
            .service(update_permission)
            .service(delete_permission);
    });
    below(config, "/api/screens", |config| {
        config.service(list_screens).service(show_screen);
    });
}

one!(OnePermission { permission: PermissionRecord });
list!(PermissionList { permissions: [PermissionRecord], permissions_count });

/// List permissions
///
/// Returns all permissions that roles can have: those of the service and those defined by the project.
#[utoipa::path(
    tag = "Roles and departments",
    responses((status = 200, body = PermissionList)),
)]
#[get("/api/permissions")]
async fn list_permissions(
    staff: SignedInStaff,
    service: Data<PermissionService>,
) -> Result<Json<PermissionList>, ApiError> {
    Ok(Json(service.list(&staff).await?.into()))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewPermission {
    name: wire::PermissionName,
    screen_id: wire::ScreenId,
    #[deserr(default)]
    description: Option<wire::Line500>,
}

/// Create a permission
///
/// Defines a permission for the project's own integrations. It grants no access within the service.
#[utoipa::path(
    tag = "Roles and departments",
    request_body = NewPermission,
    responses((status = 201, body = OnePermission)),
)]
#[post("/api/permissions")]
async fn create_permission(
    staff: SignedInStaff,
    service: Data<PermissionService>,
    body: Body<NewPermission>,
) -> Result<(Json<OnePermission>, StatusCode), ApiError> {
    let new = body.0;
    let draft = PermissionDraft {
        name: new.name.0,
        screen_id: new.screen_id.0,
        description: new.description.map(|text| text.0),
    };
    Ok((Json(service.create(&staff, draft).await?.into()), StatusCode::CREATED))
}

/// Get a permission
#[utoipa::path(
    tag = "Roles and departments",
    params(("id" = i64, Path)),
    responses((status = 200, body = OnePermission)),
)]
#[get("/api/permissions/{id}")]
async fn show_permission(
    staff: SignedInStaff,
    service: Data<PermissionService>,
    id: Path<PathId>,
) -> Result<Json<OnePermission>, ApiError> {
    Ok(Json(service.read(&staff, id.parse()?).await?.into()))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedPermission {
    #[deserr(default)]
    #[schema(value_type = Option<wire::PermissionName>, nullable = false)]
    name: NonNullPatch<wire::PermissionName>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::ScreenId>, nullable = false)]
    screen_id: NonNullPatch<wire::ScreenId>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line500>)]
    description: Patch<wire::Line500>,
}

/// Update a permission
///
/// Only permissions defined by the project can be updated. Fields that are not sent keep their values.
#[utoipa::path(
    tag = "Roles and departments",
    params(("id" = i64, Path)),
    request_body = ChangedPermission,
    responses((status = 200, body = OnePermission)),
)]
#[put("/api/permissions/{id}")]
async fn update_permission(
    staff: SignedInStaff,
    service: Data<PermissionService>,
    id: Path<PathId>,
    body: Body<ChangedPermission>,
) -> Result<Json<OnePermission>, ApiError> {
    let changed = body.0;
    let change = PermissionChange {
        name: changed.name.into(),
        screen_id: changed.screen_id.into(),
        description: changed.description.into(),
    };
    Ok(Json(service.update(&staff, id.parse()?, change).await?.into()))
}

/// Delete a permission
///
/// The permission must be defined by the project and must not be used by a role.
#[utoipa::path(
    tag = "Roles and departments",
    params(("id" = i64, Path)),
    responses((status = 200, body = Message), (status = 422, description = "Roles use the permission.")),
)]
#[delete("/api/permissions/{id}")]
async fn delete_permission(
    staff: SignedInStaff,
    service: Data<PermissionService>,
    id: Path<PathId>,
) -> Result<Json<Message>, ApiError> {
    service.delete(&staff, id.parse()?).await?;
    Ok(Json(Message::new("The permission was deleted.")))
}

one!(OneScreen { screen: NamedRecord });
list!(ScreenList { screens: [NamedRecord], screens_count });

/// List screens
///
/// Each screen groups the permissions of one resource.
#[utoipa::path(
    tag = "Roles and departments",
    responses((status = 200, body = ScreenList)),
)]
#[get("/api/screens")]
async fn list_screens(staff: SignedInStaff, service: Data<PermissionService>) -> Result<Json<ScreenList>, ApiError> {
    Ok(Json(service.screens(&staff).await?.into()))
}

/// Get a screen
#[utoipa::path(
    tag = "Roles and departments",
    params(("id" = i64, Path)),
    responses((status = 200, body = OneScreen)),
)]
#[get("/api/screens/{id}")]
async fn show_screen(
    staff: SignedInStaff,
    service: Data<PermissionService>,
    id: Path<PathId>,
) -> Result<Json<OneScreen>, ApiError> {
    Ok(Json(service.screen(&staff, id.parse()?).await?.into()))
}
