//! Brands of a project.

use actix_web::web::{Data, Path};
use actix_web::{get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::BrandService;
use kontor_catalog::model::{Brand, BrandChange, BrandDraft};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::routes::below;
use kontor_web::wire::{self, InputErrors, NonNullPatch, Patch, PhotoRecord};
use kontor_web::{Body, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    below(config, "/api/brands", |config| {
        config.service(list_brands).service(create_brand).service(show_brand).service(update_brand);
    });
}

/// Brand.
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
            name: brand.name.into(),
            photo: brand.photo.map(Into::into),
            created_at: brand.created_at,
        }
    }
}

one!(pub(super) OneBrand { brand: BrandRecord });
list!(pub(super) BrandList { brands: [BrandRecord], brands_count });

/// List brands
///
/// Returns every brand of the project.
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = BrandList)))]
#[get("/api/brands")]
async fn list_brands(staff: SignedInStaff, service: Data<BrandService>) -> Answer<BrandList> {
    answer(service.list(&staff).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewBrand {
    /// Unique in the project, ignoring case.
    name: wire::Name,
    #[deserr(default)]
    photo: Option<wire::PhotoUrl>,
}

/// Create a brand
#[utoipa::path(tag = "Dictionaries", request_body = NewBrand, responses((status = 201, body = OneBrand)))]
#[post("/api/brands")]
async fn create_brand(staff: SignedInStaff, service: Data<BrandService>, body: Body<NewBrand>) -> Created<OneBrand> {
    let draft = BrandDraft { name: body.0.name.0, photo: body.0.photo.map(|photo| photo.0) };
    created(service.create(&staff, draft).await?)
}

/// Get a brand
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = OneBrand)))]
#[get("/api/brands/{id}")]
async fn show_brand(staff: SignedInStaff, service: Data<BrandService>, id: Path<PathId>) -> Answer<OneBrand> {
    answer(service.read(&staff, id.parse()?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedBrand {
    /// Unique in the project, ignoring case.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::PhotoUrl>)]
    photo: Patch<wire::PhotoUrl>,
}

/// Update a brand
///
/// Fields that are not sent keep their values.
#[utoipa::path(
    tag = "Dictionaries",
    request_body = ChangedBrand,
    responses((status = 200, body = OneBrand)),
)]
#[put("/api/brands/{id}")]
async fn update_brand(
    staff: SignedInStaff,
    service: Data<BrandService>,
    id: Path<PathId>,
    body: Body<ChangedBrand>,
) -> Answer<OneBrand> {
    let change = BrandChange { name: body.0.name.into(), photo: body.0.photo.into() };
    answer(service.update(&staff, id.parse()?, change).await?)
}
