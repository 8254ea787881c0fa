//! Bank accounts of a branch.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post, put};
use kontor_organization::{BranchRequisiteService, SuggestionService};
use utoipa_actix_web::service_config::ServiceConfig;

use super::bank_requisites::{BankRequisiteList, BankRequisiteResponse, ChangedBankRequisite, NewBankRequisite};
use crate::endpoints::handlers;
use kontor_web::envelope::{Created, created};
use kontor_web::{Body, PathId, Service, SignedInStaff, Throttle};

handlers! {
    fn record_routes; BranchRequisiteService, "Businesses";

    /// List the bank accounts of a branch
    ///
    /// Oldest first.
    list "/api/branches/{id}/bank_requisites" as list_bank_requisites = list(id) -> BankRequisiteList;

    /// Get a bank account of a branch
    read "/api/branches/{id}/bank_requisites/{requisiteId}" as show_bank_requisite = read(ids) -> BankRequisiteResponse;

    /// Update a bank account of a branch
    ///
    /// Fields that are not sent keep their values.
    update "/api/branches/{id}/bank_requisites/{requisiteId}" as update_bank_requisite(ChangedBankRequisite)
        = update(ids, input) -> BankRequisiteResponse;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    record_routes(config);
    config.service(create_bank_requisite);
}

/// Add a bank account to a branch
#[utoipa::path(
    tag = "Businesses",
    request_body = NewBankRequisite,
    responses(
        (status = 201, body = BankRequisiteResponse),
        (status = 429, description = "Too many bank look-ups. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/branches/{id}/bank_requisites")]
async fn create_bank_requisite(
    staff: SignedInStaff,
    service: Service<BranchRequisiteService>,
    id: Path<PathId>,
    body: Body<NewBankRequisite>,
    request: HttpRequest,
    throttle: Data<Throttle>,
    suggestions: Data<SuggestionService>,
) -> Created<BankRequisiteResponse> {
    let branch = id.parse()?;
    let draft = body.0.completed(&request, &staff, &throttle, &suggestions).await?;
    created(service.create(&staff, branch, draft).await?)
}
