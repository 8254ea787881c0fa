//! Integrations of a bank account of a branch.

use actix_web::{delete, get, post, put};
use kontor_organization::IntegrationService;
use kontor_organization::model::IntegrationOwner;
use utoipa_actix_web::service_config::ServiceConfig;

use super::integrations::{
    IntegrationState, NewParameter, ParameterList, ParameterResponse, UsedIntegrationList, UsedIntegrationResponse,
};
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::records::Message;
use kontor_web::{ApiError, Body, FourIds, PathId, Service, SignedInStaff, ThreeIds, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_requisite_integrations)
        .service(show_requisite_integration)
        .service(switch_requisite_integration)
        .service(list_requisite_parameters)
        .service(add_requisite_parameter)
        .service(remove_requisite_parameter);
}

fn owner(branch: &PathId, requisite: &PathId) -> Result<IntegrationOwner, ApiError> {
    Ok(IntegrationOwner::BankRequisite(branch.parse()?, requisite.parse()?))
}

/// List the integrations of a bank account
///
/// Returns all integrations for bank accounts, and shows which of them this account uses.
#[utoipa::path(tag = "Businesses", responses((status = 200, body = UsedIntegrationList)))]
#[get("/api/branches/{branchId}/bank_requisites/{bankId}/integrations")]
async fn list_requisite_integrations(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: TwoIds,
) -> Answer<UsedIntegrationList> {
    answer(service.list(&staff, owner(&path.0, &path.1)?).await?)
}

/// Get an integration of a bank account
#[utoipa::path(tag = "Businesses", responses((status = 200, body = UsedIntegrationResponse)))]
#[get("/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{integrationsId}")]
async fn show_requisite_integration(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: ThreeIds,
) -> Answer<UsedIntegrationResponse> {
    answer(service.read(&staff, owner(&path.0, &path.1)?, path.2.parse()?).await?)
}

/// Enable or disable an integration of a bank account
#[utoipa::path(
    tag = "Businesses",
    request_body = IntegrationState,
    responses((status = 200, body = UsedIntegrationResponse)),
)]
#[put("/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{integrationsId}")]
async fn switch_requisite_integration(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: ThreeIds,
    body: Body<IntegrationState>,
) -> Answer<UsedIntegrationResponse> {
    let owner = owner(&path.0, &path.1)?;
    answer(service.switch(&staff, owner, path.2.parse()?, body.0.is_active.0).await?)
}

/// List the integration parameters of a bank account
///
/// Secret values are masked.
#[utoipa::path(tag = "Businesses", responses((status = 200, body = ParameterList)))]
#[get("/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters")]
async fn list_requisite_parameters(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: ThreeIds,
) -> Answer<ParameterList> {
    answer(service.parameters(&staff, owner(&path.0, &path.1)?, path.2.parse()?).await?)
}

/// Add an integration parameter to a bank account
#[utoipa::path(tag = "Businesses", request_body = NewParameter, responses((status = 201, body = ParameterResponse)))]
#[post("/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters")]
async fn add_requisite_parameter(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: ThreeIds,
    body: Body<NewParameter>,
) -> Created<ParameterResponse> {
    let owner = owner(&path.0, &path.1)?;
    created(service.add_parameter(&staff, owner, path.2.parse()?, body.0.into()).await?)
}

/// Remove an integration parameter from a bank account
#[utoipa::path(tag = "Businesses", responses((status = 200, body = Message)))]
#[delete("/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters/{parameterId}")]
async fn remove_requisite_parameter(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: FourIds,
) -> Answer<Message> {
    let owner = owner(&path.0, &path.1)?;
    service.remove_parameter(&staff, owner, path.2.parse()?, path.3.parse()?).await?;
    answer(Message::new("The parameter was removed."))
}
