//! Bank accounts of a branch.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post, put};
use kontor_organization::{BranchRequisiteService, SuggestionService};
use utoipa_actix_web::service_config::ServiceConfig;

use super::bank_requisites::{BankRequisiteList, BankRequisiteResponse, ChangedBankRequisite, NewBankRequisite};
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::{Body, PathId, SignedInStaff, Throttle, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_bank_requisites)
        .service(create_bank_requisite)
        .service(show_bank_requisite)
        .service(update_bank_requisite);
}

/// List the bank accounts of a branch
///
/// Oldest first.
#[utoipa::path(tag = "Businesses", responses((status = 200, body = BankRequisiteList)))]
#[get("/api/branches/{id}/bank_requisites")]
async fn list_bank_requisites(
    staff: SignedInStaff,
    service: Data<BranchRequisiteService>,
    id: Path<PathId>,
) -> Answer<BankRequisiteList> {
    answer(service.list(&staff, id.parse()?).await?)
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
    service: Data<BranchRequisiteService>,
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

/// Get a bank account of a branch
#[utoipa::path(tag = "Businesses", responses((status = 200, body = BankRequisiteResponse)))]
#[get("/api/branches/{id}/bank_requisites/{requisiteId}")]
async fn show_bank_requisite(
    staff: SignedInStaff,
    service: Data<BranchRequisiteService>,
    path: TwoIds,
) -> Answer<BankRequisiteResponse> {
    answer(service.read(&staff, path.0.parse()?, path.1.parse()?).await?)
}

/// Update a bank account of a branch
///
/// Fields that are not sent keep their values.
#[utoipa::path(
    tag = "Businesses",
    request_body = ChangedBankRequisite,
    responses((status = 200, body = BankRequisiteResponse)),
)]
#[put("/api/branches/{id}/bank_requisites/{requisiteId}")]
async fn update_bank_requisite(
    staff: SignedInStaff,
    service: Data<BranchRequisiteService>,
    path: TwoIds,
    body: Body<ChangedBankRequisite>,
) -> Answer<BankRequisiteResponse> {
    answer(service.update(&staff, path.0.parse()?, path.1.parse()?, body.0.into()).await?)
}
