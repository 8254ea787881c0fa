//! Suggestions of addresses, banks and companies for staff.

use actix_web::web::Data;
use actix_web::{HttpRequest, post};
use deserr::Deserr;
use kontor_organization::SuggestionService;
use kontor_organization::model::{BankSuggestion, CompanyField, CompanyQuery, CompanySuggestion};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, list};
use kontor_web::limits::SUGGEST_STAFF;
use kontor_web::named::NamedErrorBody;
use kontor_web::suggestions::{AddressList, SuggestionInput};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, SignedInStaff, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(search_address).service(search_bank).service(search_company);
}

/// Counts a request to the provider toward the rate limit.
pub(super) async fn count(throttle: &Throttle, request: &HttpRequest, staff: &SignedInStaff) -> Result<(), ApiError> {
    throttle.hit(request, &[(SUGGEST_STAFF, &staff.user_id.to_string())]).await
}

/// Search addresses
#[utoipa::path(
    tag = "Suggestions",
    request_body = SuggestionInput,
    responses(
        (status = 200, body = AddressList),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
        (status = 503, description = "`suggestions_unavailable` or `suggestions_not_configured`", body = NamedErrorBody),
    ),
)]
#[post("/api/search_address")]
async fn search_address(
    request: HttpRequest,
    staff: SignedInStaff,
    throttle: Data<Throttle>,
    suggestions: Data<SuggestionService>,
    body: Body<SuggestionInput>,
) -> Answer<AddressList> {
    count(&throttle, &request, &staff).await?;
    answer(suggestions.addresses(body.0.query.0).await?)
}

#[derive(Serialize, ToSchema)]
struct BankRecord {
    name: String,
    bic: Option<String>,
    swift: Option<String>,
    inn: Option<String>,
    kpp: Option<String>,
    correspondent_account: Option<String>,
    address: Option<String>,
    /// `false` for a bank that is closed or being closed.
    is_active: bool,
}

impl From<BankSuggestion> for BankRecord {
    fn from(bank: BankSuggestion) -> Self {
        Self {
            name: bank.name,
            bic: bank.bic,
            swift: bank.swift,
            inn: bank.inn,
            kpp: bank.kpp,
            correspondent_account: bank.correspondent_account,
            address: bank.address,
            is_active: bank.is_active,
        }
    }
}

list!(BankList { banks: [BankRecord], banks_count });

/// Search banks
///
/// Searches by name, BIC, SWIFT or taxpayer number.
#[utoipa::path(
    tag = "Suggestions",
    request_body = SuggestionInput,
    responses(
        (status = 200, body = BankList),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
        (status = 503, description = "`suggestions_unavailable` or `suggestions_not_configured`", body = NamedErrorBody),
    ),
)]
#[post("/api/search_bank")]
async fn search_bank(
    request: HttpRequest,
    staff: SignedInStaff,
    throttle: Data<Throttle>,
    suggestions: Data<SuggestionService>,
    body: Body<SuggestionInput>,
) -> Answer<BankList> {
    count(&throttle, &request, &staff).await?;
    answer(suggestions.banks(body.0.query.0).await?)
}

/// Company to search.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct CompanyInput {
    /// 1 to 300 characters in one line. For a search by number, 1 to 15 digits.
    query: wire::Line300,
    /// `name` (default), or exact `inn` or `ogrn`.
    #[deserr(default)]
    field: Option<wire::CompanyField>,
}

#[derive(Serialize, ToSchema)]
struct CompanyRecord {
    name: String,
    full_name: Option<String>,
    inn: Option<String>,
    kpp: Option<String>,
    ogrn: Option<String>,
    /// `true` for an individual entrepreneur.
    is_individual: bool,
    management: Option<String>,
    address: Option<String>,
    /// `false` for a company that is closed, being closed or bankrupt.
    is_active: bool,
}

impl From<CompanySuggestion> for CompanyRecord {
    fn from(company: CompanySuggestion) -> Self {
        Self {
            name: company.name,
            full_name: company.full_name,
            inn: company.inn,
            kpp: company.kpp,
            ogrn: company.ogrn,
            is_individual: company.is_individual,
            management: company.management,
            address: company.address,
            is_active: company.is_active,
        }
    }
}

list!(CompanyList { companies: [CompanyRecord], companies_count });

/// Search companies
///
/// Searches by name, or by an exact number.
#[utoipa::path(
    tag = "Suggestions",
    request_body = CompanyInput,
    responses(
        (status = 200, body = CompanyList),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
        (status = 503, description = "`suggestions_unavailable` or `suggestions_not_configured`", body = NamedErrorBody),
    ),
)]
#[post("/api/search_company")]
async fn search_company(
    request: HttpRequest,
    staff: SignedInStaff,
    throttle: Data<Throttle>,
    suggestions: Data<SuggestionService>,
    body: Body<CompanyInput>,
) -> Answer<CompanyList> {
    let field = body.0.field.map_or_else(CompanyField::default, |field| field.0);
    let query = CompanyQuery::new(body.0.query.0, field).map_err(|error| ApiError::invalid("query", error))?;
    count(&throttle, &request, &staff).await?;
    answer(suggestions.companies(query).await?)
}
