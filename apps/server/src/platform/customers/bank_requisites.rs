//! Accounts of a customer in banks.

use actix_web::web::{Data, Path};
use actix_web::{get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_customers::CustomerPartService;
use kontor_customers::model::{BankRequisite, BankRequisiteChange, BankRequisiteDraft};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::envelope::{Answer, Created, answer, created, list, one};
use crate::http::wire::{self, Given, InputErrors, Patch};
use crate::http::{Body, PathId, SignedInStaff, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_counterparty_bank_requisites)
        .service(create_counterparty_bank_requisite)
        .service(update_counterparty_bank_requisite);
}

#[derive(Serialize, ToSchema)]
struct BankRequisiteRecord {
    id: i64,
    bik: String,
    bank_name: String,
    correspondent_account: Option<String>,
    account: String,
    comment: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<BankRequisite> for BankRequisiteRecord {
    fn from(requisite: BankRequisite) -> Self {
        let content = requisite.content;
        Self {
            id: requisite.id.get(),
            bik: content.bik.to_string(),
            bank_name: content.bank_name.into(),
            correspondent_account: content.correspondent_account.map(|account| account.to_string()),
            account: content.account.to_string(),
            comment: content.comment.map(Into::into),
            created_at: requisite.created_at,
            updated_at: requisite.updated_at,
        }
    }
}

one!(OneBankRequisite { bank_requisite: BankRequisiteRecord });
list!(BankRequisiteList { bank_requisites: [BankRequisiteRecord], bank_requisites_count });

/// The accounts of a customer, oldest first.
#[utoipa::path(tag = "Customers", responses((status = 200, body = BankRequisiteList)))]
#[get("/api/counterparties/{id}/bank_requisites")]
async fn list_counterparty_bank_requisites(
    staff: SignedInStaff,
    service: Data<CustomerPartService<BankRequisite>>,
    id: Path<PathId>,
) -> Answer<BankRequisiteList> {
    answer(service.list(&staff, id.parse()?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewBankRequisite {
    bik: wire::Bik,
    bank_name: wire::Name,
    /// Of the bank with the central bank. Its check digit must fit the BIK.
    #[deserr(default)]
    correspondent_account: Option<wire::BankAccount>,
    /// Of the customer. Its check digit must fit the BIK.
    account: wire::BankAccount,
    #[deserr(default)]
    comment: Option<wire::Line500>,
}

impl From<NewBankRequisite> for BankRequisiteDraft {
    fn from(new: NewBankRequisite) -> Self {
        Self {
            bik: new.bik.0,
            bank_name: new.bank_name.0,
            correspondent_account: new.correspondent_account.map(|account| account.0),
            account: new.account.0,
            comment: new.comment.map(|comment| comment.0),
        }
    }
}

/// Notes another account of a customer.
#[utoipa::path(tag = "Customers", request_body = NewBankRequisite, responses((status = 201, body = OneBankRequisite)))]
#[post("/api/counterparties/{id}/bank_requisites")]
async fn create_counterparty_bank_requisite(
    staff: SignedInStaff,
    service: Data<CustomerPartService<BankRequisite>>,
    id: Path<PathId>,
    body: Body<NewBankRequisite>,
) -> Created<OneBankRequisite> {
    created(service.create(&staff, id.parse()?, body.0.into()).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedBankRequisite {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Bik>, nullable = false)]
    bik: Given<wire::Bik>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    bank_name: Given<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::BankAccount>)]
    correspondent_account: Patch<wire::BankAccount>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::BankAccount>, nullable = false)]
    account: Given<wire::BankAccount>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line500>)]
    comment: Patch<wire::Line500>,
}

impl From<ChangedBankRequisite> for BankRequisiteChange {
    fn from(changed: ChangedBankRequisite) -> Self {
        Self {
            bik: changed.bik.into(),
            bank_name: changed.bank_name.into(),
            correspondent_account: changed.correspondent_account.into(),
            account: changed.account.into(),
            comment: changed.comment.into(),
        }
    }
}

/// Changes an account of a customer. Fields that are not sent stay as they are.
#[utoipa::path(tag = "Customers", request_body = ChangedBankRequisite, responses((status = 200, body = OneBankRequisite)))]
#[put("/api/counterparties/{id}/bank_requisites/{requisiteId}")]
async fn update_counterparty_bank_requisite(
    staff: SignedInStaff,
    service: Data<CustomerPartService<BankRequisite>>,
    path: TwoIds,
    body: Body<ChangedBankRequisite>,
) -> Answer<OneBankRequisite> {
    answer(service.update(&staff, path.0.parse()?, path.1.parse()?, body.0.into()).await?)
}
