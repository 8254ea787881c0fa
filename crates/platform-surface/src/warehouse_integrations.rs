//! Integrations of a warehouse.

use actix_web::web::Path;
use actix_web::{get, post, put};
use kontor_organization::IntegrationService;
use kontor_organization::model::IntegrationOwner;
use utoipa_actix_web::service_config::ServiceConfig;

use super::integrations::{
    IntegrationState, NewParameter, ParameterList, ParameterResponse, UsedIntegrationList, UsedIntegrationResponse,
};
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::records::Message;
use kontor_web::{ApiError, Body, PathId, Service, SignedInStaff, ThreeIds, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_warehouse_integrations)
        .service(show_warehouse_integration)
        .service(switch_warehouse_integration)
        .service(list_warehouse_parameters)
        .service(add_warehouse_parameter)
        .service(remove_warehouse_parameter);
}

fn owner(id: &PathId) -> Result<IntegrationOwner, ApiError> {
    Ok(IntegrationOwner::Warehouse(id.parse()?))
}

/// List the integrations of a warehouse
///
/// Returns all integrations for warehouses, and shows which of them this warehouse uses.
#[utoipa::path(tag = "Warehouses", responses((status = 200, body = UsedIntegrationList)))]
#[get("/api/warehouses/{id}/integrations")]
async fn list_warehouse_integrations(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    id: Path<PathId>,
) -> Answer<UsedIntegrationList> {
    answer(service.list(&staff, owner(&id)?).await?)
}

/// Get an integration of a warehouse
#[utoipa::path(tag = "Warehouses", responses((status = 200, body = UsedIntegrationResponse)))]
#[get("/api/warehouses/{id}/integrations/{integration_id}")]
async fn show_warehouse_integration(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: TwoIds,
) -> Answer<UsedIntegrationResponse> {
    answer(service.read(&staff, owner(&path.0)?, path.1.parse()?).await?)
}

/// Enable or disable an integration of a warehouse
#[utoipa::path(
    tag = "Warehouses",
    request_body = IntegrationState,
    responses((status = 200, body = UsedIntegrationResponse)),
)]
#[put("/api/warehouses/{id}/integrations/{integration_id}")]
async fn switch_warehouse_integration(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: TwoIds,
    body: Body<IntegrationState>,
) -> Answer<UsedIntegrationResponse> {
    let used = service.switch(&staff, owner(&path.0)?, path.1.parse()?, body.0.is_active.0).await?;
    answer(used)
}

/// List the integration parameters of a warehouse
///
/// Secret values are masked.
#[utoipa::path(tag = "Warehouses", responses((status = 200, body = ParameterList)))]
#[get("/api/warehouses/{id}/integrations/{integration_id}/parameters")]
async fn list_warehouse_parameters(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: TwoIds,
) -> Answer<ParameterList> {
    answer(service.parameters(&staff, owner(&path.0)?, path.1.parse()?).await?)
}

/// Add an integration parameter to a warehouse
#[utoipa::path(tag = "Warehouses", request_body = NewParameter, responses((status = 201, body = ParameterResponse)))]
#[post("/api/warehouses/{id}/integrations/{integration_id}/parameters")]
async fn add_warehouse_parameter(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: TwoIds,
    body: Body<NewParameter>,
) -> Created<ParameterResponse> {
    let added = service.add_parameter(&staff, owner(&path.0)?, path.1.parse()?, body.0.into()).await?;
    created(added)
}

/// Remove an integration parameter from a warehouse
#[utoipa::path(tag = "Warehouses", responses((status = 200, body = Message)))]
#[post("/api/warehouses/{id}/integrations/{integration_id}/parameters/{parameter_id}")]
async fn remove_warehouse_parameter(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: ThreeIds,
) -> Answer<Message> {
    service.remove_parameter(&staff, owner(&path.0)?, path.1.parse()?, path.2.parse()?).await?;
    answer(Message::new("The parameter was removed."))
}
