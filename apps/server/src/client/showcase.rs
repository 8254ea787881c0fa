//! What a storefront shows beside its products.

use actix_web::get;
use actix_web::web::{Data, Json};
use chrono::{DateTime, Utc};
use kontor_catalog::storefront::{Country, ShowcaseService, Slide};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::products::TagRecord;
use crate::http::wire::PhotoRecord;
use crate::http::{ApiError, CallingApp};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
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

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CountryList {
    countries: Vec<CountryRecord>,
    countries_count: usize,
}

/// Every country of the system.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = CountryList)))]
#[get("/api/counterparty/countries")]
async fn list_countries(_app: CallingApp, service: Data<ShowcaseService>) -> Result<Json<CountryList>, ApiError> {
    let countries: Vec<CountryRecord> = service.countries().await?.into_iter().map(Into::into).collect();
    Ok(Json(CountryList { countries_count: countries.len(), countries }))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TagList {
    tags: Vec<TagRecord>,
    tags_count: usize,
}

/// Every tag of the project, whether the application shows products with it or not.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = TagList)))]
#[get("/api/counterparty/tags")]
async fn list_tags(app: CallingApp, service: Data<ShowcaseService>) -> Result<Json<TagList>, ApiError> {
    let tags: Vec<TagRecord> = service.tags(*app).await?.into_iter().map(Into::into).collect();
    Ok(Json(TagList { tags_count: tags.len(), tags }))
}

#[derive(Serialize, ToSchema)]
struct SlideRecord {
    id: i64,
    title: String,
    /// HTML without scripts, handlers and styles.
    description: Option<String>,
    photo: Option<PhotoRecord>,
    /// An address of the web or a path of the site.
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

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SlideList {
    slides: Vec<SlideRecord>,
    slides_count: usize,
}

/// The slides of the application that are shown now, by position.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = SlideList)))]
#[get("/api/counterparty/slides")]
async fn list_slides(app: CallingApp, service: Data<ShowcaseService>) -> Result<Json<SlideList>, ApiError> {
    let slides: Vec<SlideRecord> = service.slides(*app).await?.into_iter().map(Into::into).collect();
    Ok(Json(SlideList { slides_count: slides.len(), slides }))
}
