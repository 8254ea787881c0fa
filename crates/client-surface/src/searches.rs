//! Search history of customers.

use actix_web::get;
use actix_web::web::Data;
use chrono::{DateTime, Utc};
use kontor_catalog::storefront::{SearchHistory, SearchRequest};
use kontor_kernel::Visitor;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, list};
use kontor_web::{CallingVisitor, SignedInCustomer};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_searches).service(list_popular_searches);
}

#[derive(Serialize, ToSchema)]
struct SearchRequestRecord {
    id: i64,
    value: String,
    created_at: DateTime<Utc>,
}

impl From<SearchRequest> for SearchRequestRecord {
    fn from(request: SearchRequest) -> Self {
        Self { id: request.id.get(), value: request.value.into(), created_at: request.created_at }
    }
}

list!(SearchRequestList { search_requests: [SearchRequestRecord], search_requests_count });

async fn searches(service: &SearchHistory, visitor: Visitor) -> Answer<SearchRequestList> {
    answer(service.of(visitor).await?)
}

/// List the customer's recent searches
///
/// Returns the last 50 product searches, newest first. Equal texts are listed once.
#[utoipa::path(tag = "Client: catalog", responses((status = 200, body = SearchRequestList)))]
#[get("/api/counterparty/search/history")]
async fn list_searches(customer: SignedInCustomer, service: Data<SearchHistory>) -> Answer<SearchRequestList> {
    searches(&service, (*customer).into()).await
}

/// List popular searches
///
/// Returns the same list as `history`. Without a customer token the list is empty.
#[utoipa::path(tag = "Client: catalog", responses((status = 200, body = SearchRequestList)))]
#[get("/api/counterparty/search/popular")]
async fn list_popular_searches(visitor: CallingVisitor, service: Data<SearchHistory>) -> Answer<SearchRequestList> {
    searches(&service, *visitor).await
}
