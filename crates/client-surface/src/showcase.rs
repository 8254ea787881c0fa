//! Content of the storefront besides the products: categories, brands, tags, countries, slides and shops.

use actix_web::get;
use actix_web::web::{Data, Path};
use chrono::{DateTime, Utc};
use kontor_catalog::storefront::{
    Country, ShowcaseService, Slide, StorefrontBrand, StorefrontCategory, StorefrontService,
};
use kontor_organization::ShopService;
use kontor_organization::model::Shop;
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::records::{Picture, picture};
use kontor_web::wire::{NamedRecord, PhotoRecord};
use kontor_web::{CallingApp, PathId, Service, Unpaged};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::products::TagRecord;
use super::queries::{StorefrontBrandQuery, StorefrontCategoryQuery, limit};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_categories).service(list_brands);
    config.service(list_countries).service(list_tags).service(list_slides);
}

#[derive(Serialize, ToSchema)]
pub(super) struct CountryRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    created_at: DateTime<Utc>,
}

impl From<Country> for CountryRecord {
    fn from(country: Country) -> Self {
        let photo = country.photo.as_ref().map(Into::into);
        Self { id: country.id.get(), name: country.name.into(), photo, created_at: country.created_at }
    }
}

list!(CountryList { countries: [CountryRecord], countries_count });

/// List countries
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = CountryList)))]
#[get("/api/counterparty/countries")]
async fn list_countries(_app: CallingApp, service: Service<ShowcaseService>) -> Answer<CountryList> {
    answer(service.countries().await?)
}

list!(TagList { tags: [TagRecord], tags_count });

/// List tags
///
/// Returns every tag of the project, including tags without products in the application.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = TagList)))]
#[get("/api/counterparty/tags")]
async fn list_tags(app: CallingApp, service: Service<ShowcaseService>) -> Answer<TagList> {
    answer(service.tags(*app).await?)
}

#[derive(Serialize, ToSchema)]
struct SlideRecord {
    id: i64,
    title: String,
    /// HTML without scripts, event handlers and styles.
    description: Option<String>,
    photo: Option<PhotoRecord>,
    /// URL or a path of the site.
    link: Option<String>,
    position: i64,
    created_at: DateTime<Utc>,
}

impl From<Slide> for SlideRecord {
    fn from(slide: Slide) -> Self {
        Self {
            id: slide.id.get(),
            title: slide.title.into(),
            description: slide.description.map(Into::into),
            photo: slide.photo.as_ref().map(Into::into),
            link: slide.link.map(|link| link.to_string()),
            position: slide.position,
            created_at: slide.created_at,
        }
    }
}

list!(SlideList { slides: [SlideRecord], slides_count });

/// List current slides
///
/// Returns the slides that the application shows now, ordered by position.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = SlideList)))]
#[get("/api/counterparty/slides")]
async fn list_slides(app: CallingApp, service: Service<ShowcaseService>) -> Answer<SlideList> {
    answer(service.slides(*app).await?)
}

#[derive(Serialize, ToSchema)]
pub(super) struct StorefrontCategoryRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    /// Parent category. `null` for a root category.
    parent: Option<NamedRecord>,
}

impl From<StorefrontCategory> for StorefrontCategoryRecord {
    fn from(category: StorefrontCategory) -> Self {
        Self {
            id: category.id.get(),
            name: category.name.into(),
            photo: category.photo.as_ref().map(Into::into),
            parent: category.parent.map(Into::into),
        }
    }
}

list!(StorefrontCategoryList { categories: [StorefrontCategoryRecord], categories_count });

/// List the application's categories
///
/// Without `parent_id`, returns the root categories, ordered by position. With it, returns the direct children of that
/// category, ordered by name.
#[utoipa::path(
    tag = "Client: dictionaries",
    params(StorefrontCategoryQuery),
    responses((status = 200, body = StorefrontCategoryList)),
)]
#[get("/api/counterparty/categories")]
async fn list_categories(
    app: CallingApp,
    service: Data<StorefrontService>,
    query: Unpaged<StorefrontCategoryQuery>,
) -> Answer<StorefrontCategoryList> {
    let limit = limit(query.0.limit.as_ref())?;
    answer(service.categories(*app, query.0.parent_id.map(|id| id.0), limit).await?)
}

#[derive(Serialize, ToSchema)]
pub(super) struct StorefrontBrandRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    created_at: DateTime<Utc>,
}

impl From<StorefrontBrand> for StorefrontBrandRecord {
    fn from(brand: StorefrontBrand) -> Self {
        let photo = brand.photo.as_ref().map(Into::into);
        Self { id: brand.id.get(), name: brand.name.into(), photo, created_at: brand.created_at }
    }
}

list!(StorefrontBrandList { brands: [StorefrontBrandRecord], brands_count });

/// List the application's brands
///
/// Brands are ordered by priority, highest first.
#[utoipa::path(
    tag = "Client: dictionaries",
    params(StorefrontBrandQuery),
    responses((status = 200, body = StorefrontBrandList)),
)]
#[get("/api/counterparty/brands")]
async fn list_brands(
    app: CallingApp,
    service: Data<StorefrontService>,
    query: Unpaged<StorefrontBrandQuery>,
) -> Answer<StorefrontBrandList> {
    answer(service.brands(*app, limit(query.0.limit.as_ref())?).await?)
}

pub(super) fn shop_routes(config: &mut ServiceConfig<'_>) {
    config.service(list_shops).service(show_shop);
}

#[derive(Serialize, ToSchema)]
pub(super) struct ShopRecord {
    id: i64,
    name: String,
    address: String,
    phone: Option<String>,
    photo: Option<Picture>,
    /// Degrees north, decimal string.
    latitude: Option<String>,
    /// Degrees east, decimal string.
    longitude: Option<String>,
    created_at: DateTime<Utc>,
}

impl From<Shop> for ShopRecord {
    fn from(shop: Shop) -> Self {
        Self {
            id: shop.id.get(),
            name: shop.name.into(),
            address: shop.address,
            phone: shop.phone,
            photo: picture(shop.photo),
            latitude: shop.latitude,
            longitude: shop.longitude,
            created_at: shop.created_at,
        }
    }
}

list!(ShopList { shops: [ShopRecord], shops_count });
one!(ShopResponse { shop: ShopRecord });

/// List open shops
///
/// Returns the open shops of the project.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = ShopList)))]
#[get("/api/counterparty/shops")]
async fn list_shops(app: CallingApp, service: Service<ShopService>) -> Answer<ShopList> {
    answer(service.list(*app).await?)
}

/// Get an open shop
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = ShopResponse)))]
#[get("/api/counterparty/shops/{id}")]
async fn show_shop(app: CallingApp, service: Service<ShopService>, id: Path<PathId>) -> Answer<ShopResponse> {
    answer(service.read(*app, id.parse()?).await?)
}
