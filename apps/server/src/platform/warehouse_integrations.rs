//! The integrations of a warehouse.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{get, post, put};
use kontor_organization::IntegrationService;
use kontor_organization::model::IntegrationOwner;
use utoipa_actix_web::service_config::ServiceConfig;

use super::integrations::{
    NewParameter, OneParameter, OneUsedIntegration, ParameterList, SwitchedIntegration, UsedIntegrationList,
};
use crate::http::records::Message;
use crate::http::{ApiError, Body, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_warehouse_integrations)
        .service(switch_warehouse_integration)
        .service(list_warehouse_parameters)
        .service(add_warehouse_parameter)
        .service(remove_warehouse_parameter);
}

fn owner(id: &PathId) -> Result<IntegrationOwner, ApiError> {
    Ok(IntegrationOwner::Warehouse(id.parse()?))
}

/// The integrations for warehouses, and which of them this one uses.
#[utoipa::path(
    tag = "Warehouses",
    params(("id" = i64, Path)),
    responses((status = 200, body = UsedIntegrationList)),
)]
#[get("/api/warehouses/{id}/integrations")]
async fn list_warehouse_integrations(
    staff: SignedInStaff,
    service: Data<IntegrationService>,
    id: Path<PathId>,
) -> Result<Json<UsedIntegrationList>, ApiError> {
    Ok(Json(service.list(&staff, owner(&id)?).await?.into()))
}

/// Makes a warehouse use an integration, or no longer.
#[utoipa::path(
    tag = "Warehouses",
    params(("id" = i64, Path), ("integration_id" = i64, Path)),
    request_body = SwitchedIntegration,
    responses((status = 200, body = OneUsedIntegration)),
)]
#[put("/api/warehouses/{id}/integrations/{integration_id}")]
async fn switch_warehouse_integration(
    staff: SignedInStaff,
    service: Data<IntegrationService>,
    path: Path<(PathId, PathId)>,
    body: Body<SwitchedIntegration>,
) -> Result<Json<OneUsedIntegration>, ApiError> {
    let used = service.switch(&staff, owner(&path.0)?, path.1.parse()?, body.0.is_active.0).await?;
    Ok(Json(used.into()))
}

/// The parameters of an integration of a warehouse, secrets masked.
#[utoipa::path(
    tag = "Warehouses",
    params(("id" = i64, Path), ("integration_id" = i64, Path)),
    responses((status = 200, body = ParameterList)),
)]
#[get("/api/warehouses/{id}/integrations/{integration_id}/parameters")]
async fn list_warehouse_parameters(
    staff: SignedInStaff,
    service: Data<IntegrationService>,
    path: Path<(PathId, PathId)>,
) -> Result<Json<ParameterList>, ApiError> {
    Ok(Json(service.parameters(&staff, owner(&path.0)?, path.1.parse()?).await?.into()))
}

/// Adds a parameter to an integration of a warehouse.
#[utoipa::path(
    tag = "Warehouses",
    params(("id" = i64, Path), ("integration_id" = i64, Path)),
    request_body = NewParameter,
    responses((status = 201, body = OneParameter)),
)]
#[post("/api/warehouses/{id}/integrations/{integration_id}/parameters")]
async fn add_warehouse_parameter(
    staff: SignedInStaff,
    service: Data<IntegrationService>,
    path: Path<(PathId, PathId)>,
    body: Body<NewParameter>,
) -> Result<(Json<OneParameter>, StatusCode), ApiError> {
    let added = service.add_parameter(&staff, owner(&path.0)?, path.1.parse()?, body.0.into()).await?;
    Ok((Json(added.into()), StatusCode::CREATED))
}

/// Removes a parameter of an integration of a warehouse.
#[utoipa::path(
    tag = "Warehouses",
    params(("id" = i64, Path), ("integration_id" = i64, Path), ("parameter_id" = i64, Path)),
    responses((status = 200, body = Message)),
)]
#[post("/api/warehouses/{id}/integrations/{integration_id}/parameters/{parameter_id}")]
async fn remove_warehouse_parameter(
    staff: SignedInStaff,
    service: Data<IntegrationService>,
    path: Path<(PathId, PathId, PathId)>,
) -> Result<Json<Message>, ApiError> {
    service.remove_parameter(&staff, owner(&path.0)?, path.1.parse()?, path.2.parse()?).await?;
    Ok(Json(Message::new("The parameter was removed.")))
}
