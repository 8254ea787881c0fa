//! Bank accounts of a customer.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post, put};
use kontor_customers::CustomerPartService;
use kontor_kernel::BankRequisite;
use kontor_organization::SuggestionService;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::bank_requisites::{BankRequisiteList, BankRequisiteResponse, ChangedBankRequisite, NewBankRequisite};
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::{Body, PathId, SignedInStaff, Throttle, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_counterparty_bank_requisites)
        .service(create_counterparty_bank_requisite)
        .service(show_counterparty_bank_requisite)
        .service(update_counterparty_bank_requisite);
}

/// List the bank accounts of a customer
///
/// Oldest first.
#[utoipa::path(tag = "Customers", responses((status = 200, body = BankRequisiteList)))]
#[get("/api/counterparties/{id}/bank_requisites")]
async fn list_counterparty_bank_requisites(
    staff: SignedInStaff,
    service: Data<CustomerPartService<BankRequisite>>,
    id: Path<PathId>,
) -> Answer<BankRequisiteList> {
    answer(service.list(&staff, id.parse()?).await?)
}

/// Add a bank account to a customer
#[utoipa::path(
    tag = "Customers",
    request_body = NewBankRequisite,
    responses(
        (status = 201, body = BankRequisiteResponse),
        (status = 429, description = "Too many bank look-ups. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparties/{id}/bank_requisites")]
async fn create_counterparty_bank_requisite(
    staff: SignedInStaff,
    service: Data<CustomerPartService<BankRequisite>>,
    id: Path<PathId>,
    body: Body<NewBankRequisite>,
    request: HttpRequest,
    throttle: Data<Throttle>,
    suggestions: Data<SuggestionService>,
) -> Created<BankRequisiteResponse> {
    let customer = id.parse()?;
    let draft = body.0.completed(&request, &staff, &throttle, &suggestions).await?;
    created(service.create(&staff, customer, draft).await?)
}

/// Get a bank account of a customer
#[utoipa::path(tag = "Customers", responses((status = 200, body = BankRequisiteResponse)))]
#[get("/api/counterparties/{id}/bank_requisites/{requisiteId}")]
async fn show_counterparty_bank_requisite(
    staff: SignedInStaff,
    service: Data<CustomerPartService<BankRequisite>>,
    path: TwoIds,
) -> Answer<BankRequisiteResponse> {
    answer(service.read(&staff, path.0.parse()?, path.1.parse()?).await?)
}

/// Update a bank account of a customer
///
/// Fields that are not sent keep their values.
#[utoipa::path(tag = "Customers", request_body = ChangedBankRequisite, responses((status = 200, body = BankRequisiteResponse)))]
#[put("/api/counterparties/{id}/bank_requisites/{requisiteId}")]
async fn update_counterparty_bank_requisite(
    staff: SignedInStaff,
    service: Data<CustomerPartService<BankRequisite>>,
    path: TwoIds,
    body: Body<ChangedBankRequisite>,
) -> Answer<BankRequisiteResponse> {
    answer(service.update(&staff, path.0.parse()?, path.1.parse()?, body.0.into()).await?)
}
