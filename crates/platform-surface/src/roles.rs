//! Roles of a project's staff.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::RoleService;
use kontor_auth::model::{RoleChange, RoleDraft, StaffRole};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::employee_record::PermissionRecord;
use kontor_web::envelope::{list, one};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors, NonNullPatch, Patch};
use kontor_web::{ApiError, Body, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_roles).service(create_role).service(show_role).service(update_role).service(delete_role);
}

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

one!(OneRole { role: RoleRecord });
list!(RoleList { roles: [RoleRecord], roles_count });

/// List roles
///
/// Returns every role of the project with its permissions.
#[utoipa::path(
    tag = "Roles and departments",
    responses((status = 200, body = RoleList)),
)]
#[get("/api/roles")]
async fn list_roles(staff: SignedInStaff, service: Data<RoleService>) -> Result<Json<RoleList>, ApiError> {
    Ok(Json(service.list(&staff).await?.into()))
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

/// Create a role
#[utoipa::path(
    tag = "Roles and departments",
    request_body = NewRole,
    responses((status = 201, body = OneRole)),
)]
#[post("/api/roles")]
async fn create_role(
    staff: SignedInStaff,
    service: Data<RoleService>,
    body: Body<NewRole>,
) -> Result<(Json<OneRole>, StatusCode), ApiError> {
    let new = body.0;
    let draft = RoleDraft {
        name: new.name.0,
        description: new.description.map(|text| text.0),
        permissions: new.permissions.unwrap_or_default().into_iter().map(|id| id.0).collect(),
    };
    Ok((Json(service.create(&staff, draft).await?.into()), StatusCode::CREATED))
}

/// Get a role
#[utoipa::path(
    tag = "Roles and departments",
    params(("id" = i64, Path)),
    responses((status = 200, body = OneRole)),
)]
#[get("/api/roles/{id}")]
async fn show_role(
    staff: SignedInStaff,
    service: Data<RoleService>,
    id: Path<PathId>,
) -> Result<Json<OneRole>, ApiError> {
    Ok(Json(service.read(&staff, id.parse()?).await?.into()))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedRole {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line500>)]
    description: Patch<wire::Line500>,
    /// Ids of the permissions of the role. Replaces all its permissions.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::PermissionId>>, nullable = false)]
    permissions: NonNullPatch<Vec<wire::PermissionId>>,
}

/// Update a role
///
/// The change applies at once to all employees with the role. Fields that are not sent keep their values.
#[utoipa::path(
    tag = "Roles and departments",
    params(("id" = i64, Path)),
    request_body = ChangedRole,
    responses(
        (status = 200, body = OneRole),
        (status = 409, description = "Another request changed the role at the same time."),
    ),
)]
#[put("/api/roles/{id}")]
async fn update_role(
    staff: SignedInStaff,
    service: Data<RoleService>,
    id: Path<PathId>,
    body: Body<ChangedRole>,
) -> Result<Json<OneRole>, ApiError> {
    let changed = body.0;
    let change = RoleChange {
        name: changed.name.into(),
        description: changed.description.into(),
        permissions: changed.permissions.into(),
    };
    Ok(Json(service.update(&staff, id.parse()?, change).await?.into()))
}

/// Delete a role
///
/// The role must not be assigned to an employee.
#[utoipa::path(
    tag = "Roles and departments",
    params(("id" = i64, Path)),
    responses(
        (status = 200, body = Message),
        (status = 422, description = "The role is assigned to employees."),
        (status = 409, description = "Another request changed the role at the same time."),
    ),
)]
#[delete("/api/roles/{id}")]
async fn delete_role(
    staff: SignedInStaff,
    service: Data<RoleService>,
    id: Path<PathId>,
) -> Result<Json<Message>, ApiError> {
    service.delete(&staff, id.parse()?).await?;
    Ok(Json(Message::new("The role was deleted.")))
}
