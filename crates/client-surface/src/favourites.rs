//! Favourite products and search history of customers.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{delete, get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::storefront::{FavouriteService, SearchHistory, SearchRequest};
use kontor_kernel::Visitor;
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, CallingVisitor, PathId, Query, Service, SignedInCustomer};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::products::{ProductList, ProductRecord, ProductResponse};
use super::queries::FavouriteQuery;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_favourites).service(add_favourite).service(show_favourite).service(remove_favourite);
}

/// List favourite products
///
/// Returns favourites that the application sells now, last added first.
#[utoipa::path(tag = "Client: catalog", params(FavouriteQuery), responses((status = 200, body = ProductList)))]
#[get("/api/counterparty/products/favourites")]
async fn list_favourites(
    customer: SignedInCustomer,
    service: Service<FavouriteService>,
    query: Query<FavouriteQuery>,
) -> Answer<ProductList> {
    answer(service.list(*customer, query.0.page()?).await?.map(ProductRecord::from))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewFavourite {
    /// Id of the product.
    product_id: wire::NomenclatureId,
}

/// Add a product to favourites
///
/// The product may be sold out. A product that is a favourite already keeps its position.
#[utoipa::path(
    tag = "Client: catalog",
    request_body = NewFavourite,
    responses(
        (status = 201, body = ProductResponse),
        (status = 200, description = "The product is already a favourite.", body = ProductResponse),
        (status = 422, description = "The application does not sell this product."),
    ),
)]
#[post("/api/counterparty/products/favourites")]
async fn add_favourite(
    customer: SignedInCustomer,
    service: Service<FavouriteService>,
    body: Body<NewFavourite>,
) -> Result<(Json<ProductResponse>, StatusCode), ApiError> {
    let (card, added) = service.add(*customer, body.0.product_id.0).await?;
    let status = if added { StatusCode::CREATED } else { StatusCode::OK };
    Ok((Json(card.into()), status))
}

/// Get a favourite product
///
/// Works for every product that the application sells, sold out or not, and for products that are not favourites.
#[utoipa::path(
    tag = "Client: catalog",
    responses(
        (status = 200, body = ProductResponse),
        (status = 404, description = "The application does not sell this product."),
    ),
)]
#[get("/api/counterparty/products/favourites/{product_id}")]
async fn show_favourite(
    customer: SignedInCustomer,
    service: Service<FavouriteService>,
    id: Path<PathId>,
) -> Answer<ProductResponse> {
    answer(service.read(*customer, id.parse()?).await?)
}

/// Remove a product from favourites
///
/// `product_id` is the id of the product.
#[utoipa::path(
    tag = "Client: catalog",
    responses(
        (status = 200, body = Message),
        (status = 404, description = "The product is not a favourite of the customer."),
    ),
)]
#[delete("/api/counterparty/products/favourites/{product_id}")]
async fn remove_favourite(
    customer: SignedInCustomer,
    service: Service<FavouriteService>,
    id: Path<PathId>,
) -> Answer<Message> {
    service.remove(*customer, id.parse()?).await?;
    answer(Message::new("The product was removed from favourites."))
}

pub(super) fn search_routes(config: &mut ServiceConfig<'_>) {
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
