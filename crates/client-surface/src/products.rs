//! Products of the storefront.

use actix_web::web::{Data, Path};
use actix_web::{HttpMessage, HttpRequest, get};
use chrono::{DateTime, Utc};
use kontor_catalog::storefront::{
    FacetValue, Facets, PriceRange, Product, ProductCard, ProductOrder, StorefrontService, Tag,
};
use kontor_kernel::Money;
use kontor_web::envelope::{Answer, answer, one};
use kontor_web::paging::paginated;
use kontor_web::records::StorageUnitRecord;
use kontor_web::response_cache::{SortedByViews, ViewCountShown, Viewed};
use kontor_web::wire::{NamedRecord, PhotoRecord};
use kontor_web::{ApiError, CallingApp, CallingVisitor, ClientIp, PathId, Query, Unpaged};
use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::queries::ProductQuery;

/// Value of a filter.
#[derive(Serialize, ToSchema)]
struct FacetValueRecord {
    /// Id to filter by.
    id: i64,
    name: String,
    /// Number of products in the list with this value.
    count: u64,
}

impl<Id: Into<i64>> From<FacetValue<Id>> for FacetValueRecord {
    fn from(value: FacetValue<Id>) -> Self {
        Self { id: value.record.id.into(), name: value.record.name.into(), count: value.count }
    }
}

/// Range of prices.
#[derive(Serialize, ToSchema)]
struct PriceFacet {
    /// Lowest price, decimal string.
    min: String,
    /// Highest price, decimal string.
    max: String,
}

impl From<PriceRange> for PriceFacet {
    fn from(range: PriceRange) -> Self {
        Self { min: range.lowest.to_string(), max: range.highest.to_string() }
    }
}

/// Values of the filters with their product counts, most frequent first, at most 100 for each filter. The counts of a
/// filter ignore the filter itself.
#[derive(Serialize, ToSchema)]
pub(super) struct FacetsRecord {
    categories: Vec<FacetValueRecord>,
    brands: Vec<FacetValueRecord>,
    countries: Vec<FacetValueRecord>,
    tags: Vec<FacetValueRecord>,
    /// `null` if there are no products.
    price: Option<PriceFacet>,
    /// `false` if the list has more than 10,000 products. In that case only 10,000 are counted.
    is_complete: bool,
}

impl From<Facets> for FacetsRecord {
    fn from(facets: Facets) -> Self {
        fn records<Id: Into<i64>>(values: Vec<FacetValue<Id>>) -> Vec<FacetValueRecord> {
            values.into_iter().map(Into::into).collect()
        }
        Self {
            categories: records(facets.categories),
            brands: records(facets.brands),
            countries: records(facets.countries),
            tags: records(facets.tags),
            price: facets.price.map(Into::into),
            is_complete: facets.is_complete,
        }
    }
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_products).service(show_product);
}

pub(super) fn price_routes(config: &mut ServiceConfig<'_>) {
    config.service(show_prices);
}

#[derive(Serialize, ToSchema)]
struct Parameters {
    /// `true` if the product is sold wholesale.
    wholesale: bool,
    /// Units in one pack.
    pieces_per_pack: u32,
    /// Packs in one unit of sale.
    quantity_pack: u32,
}

#[derive(Serialize, ToSchema)]
pub(super) struct ProductRecord {
    id: i64,
    name: String,
    article: Option<String>,
    /// `1` service, `2` goods.
    kind_id: i64,
    /// Current price with discount, decimal string.
    price: String,
    /// Price without discount, decimal string. `null` if there is no discount.
    old_price: Option<String>,
    /// Units that can be ordered. `0` for a service, which needs no stock.
    quantity: u64,
    /// `true` if the product is a favourite of the customer. Requires a customer token.
    is_favourite: bool,
    photos: Vec<PhotoRecord>,
    category: Option<NamedRecord>,
    brand: Option<NamedRecord>,
    parameters: Parameters,
}

impl From<Product> for ProductRecord {
    fn from(product: Product) -> Self {
        let packaging = product.packaging;
        Self {
            id: product.id.get(),
            name: product.name.into(),
            article: product.article.map(Into::into),
            kind_id: product.kind.id(),
            price: product.price.to_string(),
            old_price: product.old_price.map(|price| price.to_string()),
            quantity: product.quantity,
            is_favourite: product.is_favourite,
            photos: product.photos.into_iter().map(Into::into).collect(),
            category: product.category.map(Into::into),
            brand: product.brand.map(Into::into),
            parameters: Parameters {
                wholesale: packaging.wholesale,
                pieces_per_pack: packaging.pieces_per_pack.get(),
                quantity_pack: packaging.quantity_pack.get(),
            },
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct TagRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    created_at: DateTime<Utc>,
}

impl From<Tag> for TagRecord {
    fn from(tag: Tag) -> Self {
        let photo = tag.photo.as_ref().map(Into::into);
        Self { id: tag.id.get(), name: tag.name.into(), photo, created_at: tag.created_at }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct ProductCardRecord {
    #[serde(flatten)]
    product: ProductRecord,
    country: Option<NamedRecord>,
    storage_unit: Option<StorageUnitRecord>,
    /// Link by which customers share the product.
    share_link: Option<String>,
    /// HTML without scripts, event handlers and styles.
    description: Option<String>,
    /// HTML without scripts, event handlers and styles. Empty if there are none.
    characteristics: String,
    tags: Vec<TagRecord>,
    /// Number of views.
    views_count: u64,
}

impl From<ProductCard> for ProductCardRecord {
    fn from(card: ProductCard) -> Self {
        Self {
            product: card.product.into(),
            country: card.country.map(Into::into),
            storage_unit: card.storage_unit.map(Into::into),
            share_link: card.share_link,
            description: card.description.map(Into::into),
            characteristics: card.characteristics.map(Into::into).unwrap_or_default(),
            tags: card.tags.into_iter().map(Into::into).collect(),
            views_count: card.views_count,
        }
    }
}

paginated!(
    /// One page of products.
    pub(super) ProductPage [ProductRecord]
);
one!(pub(super) ProductList { products: ProductPage });

/// One page of products, with the values of the filters if requested.
#[derive(Serialize, ToSchema)]
pub(super) struct FilteredProducts {
    products: ProductPage,
    /// Present if requested with `facets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    facets: Option<FacetsRecord>,
}

/// List the application's products
///
/// With a customer token, `is_favourite` is filled in and the search is saved to the customer's history.
#[utoipa::path(tag = "Client: catalog", params(ProductQuery), responses((status = 200, body = FilteredProducts)))]
#[get("/api/counterparty/products")]
async fn list_products(
    visitor: CallingVisitor,
    service: Data<StorefrontService>,
    query: Query<ProductQuery>,
    request: HttpRequest,
) -> Answer<FilteredProducts> {
    let (filter, order, page) = query.0.list()?;
    let counted = query.0.wants_facets().then(|| filter.clone());
    if order.is_some_and(ProductOrder::is_by_popularity) {
        request.extensions_mut().insert(SortedByViews);
    }
    let products = service.products(*visitor, filter, order, page).await?.map(ProductRecord::from).into();
    let facets = match counted {
        Some(filter) => Some(service.facets(visitor.app, filter).await?.into()),
        None => None,
    };
    answer(FilteredProducts { products, facets })
}

one!(pub(super) ProductResponse { product: ProductCardRecord });

/// Get a product
///
/// Counts a view, at most once in 10 minutes per IP address.
#[utoipa::path(
    tag = "Client: catalog",
    responses((status = 200, body = ProductResponse), (status = 404, description = "Product not found in the application.")),
)]
#[get("/api/counterparty/products/{id}")]
async fn show_product(
    visitor: CallingVisitor,
    service: Data<StorefrontService>,
    id: Path<PathId>,
    viewer: ClientIp,
    request: HttpRequest,
) -> Answer<ProductResponse> {
    let card = service.product(*visitor, id.parse()?, &viewer.subject()).await?;
    let looked = ViewCountShown {
        viewed: Viewed::Product(card.product.id),
        shown: card.views_count,
        unstored: card.unstored_views,
    };
    request.extensions_mut().insert(looked);
    answer(card)
}

#[derive(Serialize, ToSchema)]
struct Prices {
    /// Lowest price.
    min_price: f64,
    /// Highest price.
    max_price: f64,
}

impl From<PriceRange> for Prices {
    fn from(range: PriceRange) -> Self {
        let number = |price: Money| price.to_decimal().to_f64().unwrap_or_default();
        Self { min_price: number(range.lowest), max_price: number(range.highest) }
    }
}

/// Get the price range of products
///
/// Takes the same filters as the product list. `page` and `per_page` have no effect.
#[utoipa::path(tag = "Client: catalog", params(ProductQuery), responses((status = 200, body = Prices)))]
#[get("/api/counterparty/prices")]
async fn show_prices(
    app: CallingApp,
    service: Data<StorefrontService>,
    query: Unpaged<ProductQuery>,
) -> Answer<Prices> {
    let (filter, _) = query.0.filter()?;
    if query.0.wants_facets() {
        return Err(ApiError::invalid("facets", "is supported only for lists of products"));
    }
    answer(service.price_range(*app, filter).await?)
}
