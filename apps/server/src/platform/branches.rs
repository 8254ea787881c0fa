//! Branches: the businesses of a project.

use actix_web::web::Data;
use actix_web::{get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_organization::BranchService;
use kontor_organization::model::{Branch, BranchDraft};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::envelope::{Answer, Created, answer, created, list, one};
use crate::http::wire::{self, InputErrors};
use crate::http::{Body, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_branches).service(create_branch);
}

#[derive(Serialize, ToSchema)]
struct BranchRecord {
    id: i64,
    name: String,
    inn: Option<String>,
    kpp: Option<String>,
    address: Option<String>,
    phone: Option<String>,
    email: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Branch> for BranchRecord {
    fn from(branch: Branch) -> Self {
        let details = branch.details;
        Self {
            id: branch.id.get(),
            name: details.name.into(),
            inn: details.inn.map(Into::into),
            kpp: details.kpp.map(Into::into),
            address: details.address.map(Into::into),
            phone: details.phone.map(|phone| phone.to_string()),
            email: details.email.map(|email| email.to_string()),
            created_at: branch.created_at,
            updated_at: branch.updated_at,
        }
    }
}

list!(BranchList { branches: [BranchRecord], branches_count });
one!(OneBranch { branch: BranchRecord });

/// Every branch of the project.
#[utoipa::path(tag = "Businesses", responses((status = 200, body = BranchList)))]
#[get("/api/branches")]
async fn list_branches(staff: SignedInStaff, service: Data<BranchService>) -> Answer<BranchList> {
    answer(service.list(&staff).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewBranch {
    name: wire::Name,
    #[deserr(default)]
    inn: Option<wire::Line12>,
    #[deserr(default)]
    kpp: Option<wire::Line9>,
    #[deserr(default)]
    address: Option<wire::Line500>,
    #[deserr(default)]
    phone: Option<wire::Phone>,
    #[deserr(default)]
    email: Option<wire::Email>,
}

impl From<NewBranch> for BranchDraft {
    fn from(new: NewBranch) -> Self {
        Self {
            name: new.name.0,
            inn: new.inn.map(|inn| inn.0),
            kpp: new.kpp.map(|kpp| kpp.0),
            address: new.address.map(|address| address.0),
            phone: new.phone.map(|phone| phone.0),
            email: new.email.map(|email| email.0),
        }
    }
}

/// Adds a branch.
#[utoipa::path(tag = "Businesses", request_body = NewBranch, responses((status = 201, body = OneBranch)))]
#[post("/api/branches")]
async fn create_branch(
    staff: SignedInStaff,
    service: Data<BranchService>,
    body: Body<NewBranch>,
) -> Created<OneBranch> {
    created(service.create(&staff, body.0.into()).await?)
}
