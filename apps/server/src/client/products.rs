//! Products as customers see them.

use actix_web::get;
use actix_web::web::{Data, Json, Path};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::storefront::{
    PriceRange, Product, ProductCard, ProductFilter, ProductOrder, StorefrontError, StorefrontService, Tag,
};
use kontor_kernel::{Money, Violations};
use rust_decimal::RoundingStrategy;
use rust_decimal::prelude::{Decimal, ToPrimitive};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::paging::{Paginator, page_request};
use crate::http::wire::{self, InputErrors, Many, NamedRecord, PhotoRecord};
use crate::http::{ApiError, CallingApp, ClientIp, PathId, Query};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_products).service(show_product).service(show_prices);
}

impl From<StorefrontError> for ApiError {
    fn from(error: StorefrontError) -> Self {
        match error {
            StorefrontError::NotFound => Self::not_found(),
            StorefrontError::Store(error) => error.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct Parameters {
    wholesale: bool,
    pieces_per_pack: u32,
    quantity_pack: u32,
}

#[derive(Serialize, ToSchema)]
struct ProductRecord {
    id: i64,
    name: String,
    article: Option<String>,
    /// `1` service, `2` goods.
    kind_id: i64,
    /// With the discount that is in force.
    price: String,
    /// Without it; `null` when there is none.
    old_price: Option<String>,
    /// Pieces that can be ordered; a service needs no stock.
    quantity: u64,
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
            is_favourite: false,
            photos: product.photos.iter().map(Into::into).collect(),
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
struct TagRecord {
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
struct StorageUnitRecord {
    id: i64,
    name: String,
    abbreviation: String,
}

#[derive(Serialize, ToSchema)]
struct ProductCardRecord {
    #[serde(flatten)]
    product: ProductRecord,
    country: Option<NamedRecord>,
    storage_unit: Option<StorageUnitRecord>,
    share_link: Option<String>,
    /// HTML.
    description: Option<String>,
    /// HTML; an empty text when there is none.
    characteristics: String,
    tags: Vec<TagRecord>,
    views_count: u64,
}

impl From<ProductCard> for ProductCardRecord {
    fn from(card: ProductCard) -> Self {
        Self {
            product: card.product.into(),
            country: card.country.map(Into::into),
            storage_unit: card.storage_unit.map(|unit| StorageUnitRecord {
                id: unit.id.get(),
                name: unit.name.into(),
                abbreviation: unit.abbreviation.into(),
            }),
            share_link: card.share_link,
            description: card.description.map(Into::into),
            characteristics: card.characteristics.map(Into::into).unwrap_or_default(),
            tags: card.tags.into_iter().map(Into::into).collect(),
            views_count: card.views_count,
        }
    }
}

#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ProductQuery {
    /// Part of the name or of the article.
    #[deserr(default)]
    #[param(value_type = Option<String>, min_length = 1, max_length = 255)]
    query: Option<wire::Name>,
    #[deserr(default)]
    #[param(rename = "category_id[]", value_type = Option<Vec<i64>>)]
    category_id: Many<wire::CategoryId>,
    #[deserr(default)]
    #[param(rename = "brand_id[]", value_type = Option<Vec<i64>>)]
    brand_id: Many<wire::BrandId>,
    #[deserr(default)]
    #[param(rename = "country_id[]", value_type = Option<Vec<i64>>)]
    country_id: Many<wire::CountryId>,
    #[deserr(default)]
    #[param(rename = "tag_id[]", value_type = Option<Vec<i64>>)]
    tag_id: Many<wire::TagId>,
    /// `name_asc`, `name_desc`, `popularity_asc`, `popularity_desc`, `price_asc` or `price_desc`.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    order_by: Option<wire::Line64>,
    #[deserr(default)]
    #[param(value_type = Option<f64>, minimum = 0)]
    price_from: Option<wire::Line64>,
    #[deserr(default)]
    #[param(value_type = Option<f64>, minimum = 1)]
    price_to: Option<wire::Line64>,
    /// Only products that a discount makes cheaper right now.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    sale: Option<wire::Flag>,
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    page: Option<wire::Integer>,
    /// At most 100, without it 10.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    per_page: Option<wire::Integer>,
}

/// A bound of prices is any number; only whole minor units lie within it.
fn bound(text: &str, least: u32, rounding: RoundingStrategy) -> Result<Money, String> {
    let number = Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text));
    let number = number.map_err(|_| "must be a number".to_owned())?;
    if number < Decimal::from(least) {
        return Err(format!("must be at least {least}"));
    }
    Money::from_decimal(number.round_dp_with_strategy(2, rounding)).map_err(|error| error.to_string())
}

impl ProductQuery {
    /// The filter and the order; everything that is wrong is reported together.
    fn filter(&self, violations: &mut Violations) -> (ProductFilter, Option<ProductOrder>) {
        let from = |text: &wire::Line64| bound(&text.0, 0, RoundingStrategy::ToPositiveInfinity);
        let to = |text: &wire::Line64| bound(&text.0, 1, RoundingStrategy::ToZero);
        let named = |name: &wire::Line64| {
            let known = ProductOrder::ALL.map(|(name, _)| name).join(", ");
            ProductOrder::named(&name.0).ok_or_else(|| format!("must be one of {known}"))
        };
        let filter = ProductFilter {
            query: self.query.as_ref().map(|query| query.0.clone()),
            category_ids: self.category_id.0.iter().map(|id| id.0).collect(),
            brand_ids: self.brand_id.0.iter().map(|id| id.0).collect(),
            country_ids: self.country_id.0.iter().map(|id| id.0).collect(),
            tag_ids: self.tag_id.0.iter().map(|id| id.0).collect(),
            price_from: self.price_from.as_ref().and_then(|text| violations.check("price_from", from(text))),
            price_to: self.price_to.as_ref().and_then(|text| violations.check("price_to", to(text))),
            on_sale: self.sale.as_ref().is_some_and(|sale| sale.0),
        };
        for (field, count) in [
            ("category_id", filter.category_ids.len()),
            ("brand_id", filter.brand_ids.len()),
            ("country_id", filter.country_ids.len()),
            ("tag_id", filter.tag_ids.len()),
        ] {
            if count > MOST_IDS {
                violations.add(field, format!("must have at most {MOST_IDS} values"));
            }
        }
        let order = self.order_by.as_ref().and_then(|name| violations.check("order_by", named(name)));
        (filter, order)
    }
}

/// More values of one filter make no sense and long statements.
const MOST_IDS: usize = 200;

#[derive(Serialize, ToSchema)]
struct ProductList {
    products: Paginator<ProductRecord>,
}

/// What the application offers.
#[utoipa::path(
    tag = "Client: catalog",
    security(("app_token" = [])),
    params(ProductQuery),
    responses((status = 200, body = ProductList)),
)]
#[get("/api/counterparty/products")]
async fn list_products(
    app: CallingApp,
    service: Data<StorefrontService>,
    query: Query<ProductQuery>,
) -> Result<Json<ProductList>, ApiError> {
    let query = query.0;
    let mut violations = Violations::default();
    let (filter, order) = query.filter(&mut violations);
    let page = page_request(query.page.as_ref(), query.per_page.as_ref(), 10, 100);
    let page = page.map_err(|wrong| violations.merge(wrong)).ok();
    violations.clone().into_result()?;
    let page = page.ok_or(ApiError::Invalid(violations))?;
    let products = service.products(*app, filter, order, page).await?.map(ProductRecord::from).into();
    Ok(Json(ProductList { products }))
}

#[derive(Serialize, ToSchema)]
struct OneProduct {
    product: ProductCardRecord,
}

/// One product. Looking at it counts as a view, once in 10 minutes per address.
#[utoipa::path(
    tag = "Client: catalog",
    security(("app_token" = [])),
    params(("id" = i64, Path)),
    responses((status = 200, body = OneProduct), (status = 404, description = "The application offers no such product.")),
)]
#[get("/api/counterparty/products/{id}")]
async fn show_product(
    app: CallingApp,
    service: Data<StorefrontService>,
    id: Path<PathId>,
    viewer: ClientIp,
) -> Result<Json<OneProduct>, ApiError> {
    let product = service.product(*app, id.parse()?, viewer.0).await?.into();
    Ok(Json(OneProduct { product }))
}

#[derive(Serialize, ToSchema)]
struct Prices {
    min_price: f64,
    max_price: f64,
}

impl From<PriceRange> for Prices {
    fn from(range: PriceRange) -> Self {
        let number = |price: Money| price.to_decimal().to_f64().unwrap_or_default();
        Self { min_price: number(range.lowest), max_price: number(range.highest) }
    }
}

/// The cheapest and the dearest price of the list with the same filters; `page` and `per_page` play no part.
#[utoipa::path(
    tag = "Client: catalog",
    security(("app_token" = [])),
    params(ProductQuery),
    responses((status = 200, body = Prices)),
)]
#[get("/api/counterparty/prices")]
async fn show_prices(
    app: CallingApp,
    service: Data<StorefrontService>,
    query: Query<ProductQuery>,
) -> Result<Json<Prices>, ApiError> {
    let mut violations = Violations::default();
    let (filter, _) = query.0.filter(&mut violations);
    violations.into_result()?;
    Ok(Json(service.price_range(*app, filter).await?.into()))
}
