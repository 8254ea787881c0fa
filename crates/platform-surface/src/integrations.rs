//! Integrations of a bank account of a branch and of a warehouse, and the records that they share.

use actix_web::web::Path;
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::Word;
use kontor_organization::IntegrationService;
use kontor_organization::model::{
    Integration, IntegrationOwner, IntegrationParameter, ParameterDraft, UsedIntegration,
};
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, FourIds, PathId, Service, SignedInStaff, ThreeIds, TwoIds};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;

handlers! {
    IntegrationService, "Dictionaries";

    /// List available integrations
    list "/api/integrations" as list_integrations = all() -> IntegrationList;

    /// Get an integration
    read "/api/integrations/{integrationId}" as show_integration = one(id) -> IntegrationResponse;
}

#[derive(Serialize, ToSchema)]
struct IntegrationTypeRecord {
    id: i64,
    name: String,
}

#[derive(Serialize, ToSchema)]
struct IntegrationRecord {
    id: i64,
    name: String,
    /// Entry of `GET /api/integration_types`.
    integration_type: IntegrationTypeRecord,
    /// Kind of record that uses the integration: `warehouse` or `bank_requisite`.
    owner: &'static str,
}

impl From<Integration> for IntegrationRecord {
    fn from(integration: Integration) -> Self {
        let (id, name) = integration.kind;
        Self {
            id: integration.id.get(),
            name: integration.name.into(),
            integration_type: IntegrationTypeRecord { id, name: name.into() },
            owner: integration.owner.word(),
        }
    }
}

list!(IntegrationList { integrations: [IntegrationRecord], integrations_count });
one!(IntegrationResponse { integration: IntegrationRecord });

/// Integration as used by a record.
#[derive(Serialize, ToSchema)]
struct UsedIntegrationRecord {
    #[serde(flatten)]
    integration: IntegrationRecord,
    /// `true` if the record uses the integration.
    is_active: bool,
    /// Time when the use was last changed. `null` if it never was.
    updated_at: Option<DateTime<Utc>>,
}

impl From<UsedIntegration> for UsedIntegrationRecord {
    fn from(used: UsedIntegration) -> Self {
        Self { integration: used.integration.into(), is_active: used.is_active, updated_at: used.updated_at }
    }
}

list!(
    /// Integrations available for a record.
    pub(super) UsedIntegrationList { integrations: [UsedIntegrationRecord], integrations_count }
);
one!(
    /// Integration as used by a record.
    pub(super) UsedIntegrationResponse { integration: UsedIntegrationRecord }
);

/// New state of an integration of a record.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct IntegrationState {
    /// `true` enables the integration, `false` disables it.
    pub is_active: wire::Flag,
}

#[derive(Serialize, ToSchema)]
struct ParameterRecord {
    id: i64,
    key: String,
    /// Value of the parameter. Secret values are returned as `********`.
    value: String,
    is_secret: bool,
    created_at: DateTime<Utc>,
}

impl From<IntegrationParameter> for ParameterRecord {
    fn from(parameter: IntegrationParameter) -> Self {
        Self {
            id: parameter.id.get(),
            is_secret: parameter.value.is_none(),
            value: parameter.shown().to_owned(),
            key: parameter.key.into(),
            created_at: parameter.created_at,
        }
    }
}

list!(
    /// Parameters of an integration.
    pub(super) ParameterList { parameters: [ParameterRecord], parameters_count }
);
one!(
    /// Parameter of an integration.
    pub(super) ParameterResponse { parameter: ParameterRecord }
);

/// Parameter to add.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewParameter {
    key: wire::Line100,
    value: wire::Line2000,
    /// `true` if the value must never be shown again. `false` by default.
    #[deserr(default)]
    is_secret: Option<wire::Flag>,
}

impl From<NewParameter> for ParameterDraft {
    fn from(new: NewParameter) -> Self {
        Self { key: new.key.0, value: new.value.0, is_secret: new.is_secret.is_none_or(|flag| flag.0) }
    }
}

pub(super) fn requisite_routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_requisite_integrations)
        .service(show_requisite_integration)
        .service(switch_requisite_integration)
        .service(list_requisite_parameters)
        .service(add_requisite_parameter)
        .service(remove_requisite_parameter);
}

fn requisite_owner(branch: &PathId, requisite: &PathId) -> Result<IntegrationOwner, ApiError> {
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
    answer(service.list(&staff, requisite_owner(&path.0, &path.1)?).await?)
}

/// Get an integration of a bank account
#[utoipa::path(tag = "Businesses", responses((status = 200, body = UsedIntegrationResponse)))]
#[get("/api/branches/{branchId}/bank_requisites/{bankId}/integrations/{integrationsId}")]
async fn show_requisite_integration(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: ThreeIds,
) -> Answer<UsedIntegrationResponse> {
    answer(service.read(&staff, requisite_owner(&path.0, &path.1)?, path.2.parse()?).await?)
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
    let owner = requisite_owner(&path.0, &path.1)?;
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
    answer(service.parameters(&staff, requisite_owner(&path.0, &path.1)?, path.2.parse()?).await?)
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
    let owner = requisite_owner(&path.0, &path.1)?;
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
    let owner = requisite_owner(&path.0, &path.1)?;
    service.remove_parameter(&staff, owner, path.2.parse()?, path.3.parse()?).await?;
    answer(Message::new("The parameter was removed."))
}

pub(super) fn warehouse_routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_warehouse_integrations)
        .service(show_warehouse_integration)
        .service(switch_warehouse_integration)
        .service(list_warehouse_parameters)
        .service(add_warehouse_parameter)
        .service(remove_warehouse_parameter);
}

fn warehouse_owner(id: &PathId) -> Result<IntegrationOwner, ApiError> {
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
    answer(service.list(&staff, warehouse_owner(&id)?).await?)
}

/// Get an integration of a warehouse
#[utoipa::path(tag = "Warehouses", responses((status = 200, body = UsedIntegrationResponse)))]
#[get("/api/warehouses/{id}/integrations/{integration_id}")]
async fn show_warehouse_integration(
    staff: SignedInStaff,
    service: Service<IntegrationService>,
    path: TwoIds,
) -> Answer<UsedIntegrationResponse> {
    answer(service.read(&staff, warehouse_owner(&path.0)?, path.1.parse()?).await?)
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
    let used = service.switch(&staff, warehouse_owner(&path.0)?, path.1.parse()?, body.0.is_active.0).await?;
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
    answer(service.parameters(&staff, warehouse_owner(&path.0)?, path.1.parse()?).await?)
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
    let added = service.add_parameter(&staff, warehouse_owner(&path.0)?, path.1.parse()?, body.0.into()).await?;
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
    service.remove_parameter(&staff, warehouse_owner(&path.0)?, path.1.parse()?, path.2.parse()?).await?;
    answer(Message::new("The parameter was removed."))
}
