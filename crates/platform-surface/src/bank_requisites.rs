//! Bank accounts of a branch, and their records, which customers have, too.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::{BankRequisite, BankRequisiteChange, BankRequisiteDraft, Bik};
use kontor_organization::model::BankDetails;
use kontor_organization::{BranchRequisiteService, SuggestionError, SuggestionService};
use kontor_web::envelope::{Created, created, list, one};
use kontor_web::wire::{self, InputErrors, change_body};
use kontor_web::{ApiError, Body, PathId, Service, SignedInStaff, Throttle};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::suggestions::count;
use crate::endpoints::handlers;

#[derive(Serialize, ToSchema)]
struct BankRequisiteRecord {
    id: i64,
    /// BIK of the bank, 9 digits.
    bik: String,
    bank_name: String,
    /// Account of the bank at the central bank.
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

one!(
    /// Bank account.
    pub(super) BankRequisiteResponse { bank_requisite: BankRequisiteRecord }
);
list!(
    /// Bank accounts of one owner.
    pub(super) BankRequisiteList { bank_requisites: [BankRequisiteRecord], bank_requisites_count }
);

/// Bank account to add.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewBankRequisite {
    bik: wire::Bik,
    /// If absent, the name is looked up by the BIK, and an absent correspondent account with it. Required if the
    /// look-up finds nothing.
    #[deserr(default)]
    bank_name: Option<wire::Name>,
    /// Account of the bank at the central bank. Its check digit must match the BIK.
    #[deserr(default)]
    correspondent_account: Option<wire::BankAccount>,
    /// Account number. Its check digit must match the BIK.
    account: wire::BankAccount,
    #[deserr(default)]
    comment: Option<wire::Line500>,
}

impl NewBankRequisite {
    /// Returns the account with absent bank data looked up. A look-up counts toward the limit of bank searches.
    pub(super) async fn completed(
        self,
        request: &HttpRequest,
        staff: &SignedInStaff,
        throttle: &Throttle,
        suggestions: &SuggestionService,
    ) -> Result<BankRequisiteDraft, ApiError> {
        let bik = self.bik.0;
        let sent = self.correspondent_account.map(|account| account.0);
        let (bank_name, correspondent_account) = if let Some(name) = self.bank_name {
            (name.0, sent)
        } else {
            count(throttle, request, staff).await?;
            let bank = bank_details(suggestions, &bik).await?;
            (bank.name, sent.or(bank.correspondent_account))
        };
        let (account, comment) = (self.account.0, self.comment.map(|comment| comment.0));
        Ok(BankRequisiteDraft { bik, bank_name, correspondent_account, account, comment })
    }
}

async fn bank_details(suggestions: &SuggestionService, bik: &Bik) -> Result<BankDetails, ApiError> {
    let why = match suggestions.bank(bik).await {
        Ok(Some(bank)) => return Ok(bank),
        Ok(None) => "is required: no bank with this BIK was found",
        Err(SuggestionError::NotConfigured) => "is required: bank look-up is not configured",
        Err(SuggestionError::Unavailable(reason)) => {
            tracing::warn!(%reason, "suggestions are unavailable");
            "is required: bank look-up is unavailable"
        }
    };
    Err(ApiError::invalid("bank_name", why))
}

change_body! {
    /// Change of a bank account.
    pub(super) ChangedBankRequisite => BankRequisiteChange {
        bik: wire::Bik,
        bank_name: wire::Name,
        correspondent_account: wire::BankAccount | null,
        account: wire::BankAccount,
        comment: wire::Line500 | null,
    }
}

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

pub(super) fn branch_routes(config: &mut ServiceConfig<'_>) {
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
