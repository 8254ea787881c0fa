//! Bank accounts of a customer.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post, put};
use kontor_customers::CustomerPartService;
use kontor_kernel::BankRequisite;
use kontor_organization::SuggestionService;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::bank_requisites::{BankRequisiteList, BankRequisiteResponse, ChangedBankRequisite, NewBankRequisite};
use crate::endpoints::handlers;
use kontor_web::envelope::{Created, created};
use kontor_web::{Body, PathId, Service, SignedInStaff, Throttle};

handlers! {
    fn record_routes; CustomerPartService<BankRequisite>, "Customers";

    /// List the bank accounts of a customer
    ///
    /// Oldest first.
    list "/api/counterparties/{id}/bank_requisites" as list_counterparty_bank_requisites = list(id)
        -> BankRequisiteList;

    /// Get a bank account of a customer
    read "/api/counterparties/{id}/bank_requisites/{requisiteId}" as show_counterparty_bank_requisite = read(ids)
        -> BankRequisiteResponse;

    /// Update a bank account of a customer
    ///
    /// Fields that are not sent keep their values.
    update "/api/counterparties/{id}/bank_requisites/{requisiteId}" as update_counterparty_bank_requisite(ChangedBankRequisite)
        = update(ids, input) -> BankRequisiteResponse;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    record_routes(config);
    config.service(create_counterparty_bank_requisite);
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
    service: Service<CustomerPartService<BankRequisite>>,
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
