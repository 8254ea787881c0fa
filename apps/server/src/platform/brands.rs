//! Brands of a project.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json};
use actix_web::{get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::model::{Brand, BrandDraft};
use kontor_catalog::{BrandError, BrandService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::wire::{self, InputErrors, PhotoRecord};
use crate::http::{ApiError, Body, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_brands).service(create_brand);
}

impl From<BrandError> for ApiError {
    fn from(error: BrandError) -> Self {
        match error {
            BrandError::Denied(denied) => denied.into(),
            BrandError::NameTaken => Self::invalid("name", "is the name of another brand"),
            BrandError::Store(error) => error.into(),
        }
    }
}

/// A brand.
#[derive(Serialize, ToSchema)]
pub(super) struct BrandRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    created_at: DateTime<Utc>,
}

impl From<Brand> for BrandRecord {
    fn from(brand: Brand) -> Self {
        Self {
            id: brand.id.get(),
            name: brand.details.name.into(),
            photo: brand.details.photo.as_ref().map(Into::into),
            created_at: brand.created_at,
        }
    }
}

/// A list of brands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BrandList {
    brands: Vec<BrandRecord>,
    brands_count: usize,
}

impl From<Vec<Brand>> for BrandList {
    fn from(brands: Vec<Brand>) -> Self {
        Self { brands_count: brands.len(), brands: brands.into_iter().map(Into::into).collect() }
    }
}

/// One brand.
#[derive(Serialize, ToSchema)]
pub(super) struct OneBrand {
    brand: BrandRecord,
}

impl From<Brand> for OneBrand {
    fn from(brand: Brand) -> Self {
        Self { brand: brand.into() }
    }
}

/// Every brand of the project.
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = BrandList)))]
#[get("/api/brands")]
async fn list_brands(staff: SignedInStaff, service: Data<BrandService>) -> Result<Json<BrandList>, ApiError> {
    Ok(Json(service.list(&staff).await?.into()))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewBrand {
    /// Unique in the project, whatever the case.
    name: wire::Name,
    #[deserr(default)]
    photo: Option<wire::PhotoUrl>,
}

/// Adds a brand.
#[utoipa::path(
    tag = "Dictionaries",
    request_body = NewBrand,
    responses((status = 201, body = OneBrand)),
)]
#[post("/api/brands")]
async fn create_brand(
    staff: SignedInStaff,
    service: Data<BrandService>,
    body: Body<NewBrand>,
) -> Result<(Json<OneBrand>, StatusCode), ApiError> {
    let draft = BrandDraft { name: body.0.name.0, photo: body.0.photo.map(|photo| photo.0) };
    Ok((Json(service.create(&staff, draft).await?.into()), StatusCode::CREATED))
}
