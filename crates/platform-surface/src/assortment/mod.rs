//! Categories and brands that an application shows.

mod entry;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{get, post};
use deserr::Deserr;
use kontor_catalog::model::{Brand, Category};
use kontor_catalog::ports::Assignable;
use kontor_catalog::{AssortmentError, AssortmentRefusal, AssortmentService};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::brands::{BrandList, BrandResponse};
use super::categories::{CategoryList, CategoryResponse};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_application_categories)
        .service(assign_category)
        .service(list_application_brands)
        .service(assign_brand);
    entry::routes(config);
}

/// Converts a refusal to an error. `field` is the field that contains the id of the category or brand.
pub(super) fn refusal(error: AssortmentError, field: &str) -> ApiError {
    match error {
        AssortmentError::Denied(denied) => denied.into(),
        AssortmentError::NotFound => ApiError::not_found(),
        AssortmentError::Refused(AssortmentRefusal::UnknownRecord) => {
            ApiError::invalid(field, "must be the id of a record of the project")
        }
        AssortmentError::Store(error) => error.into(),
    }
}

async fn list<R: Assignable, Answer: From<Vec<R>>>(
    staff: &SignedInStaff,
    service: &AssortmentService<R>,
    application: &PathId,
) -> Result<Json<Answer>, ApiError> {
    let shown = service.list(staff, application.parse()?).await;
    shown.map(|records| Json(records.into())).map_err(|error| refusal(error, "id"))
}

async fn assign<R: Assignable, Answer: From<R>>(
    staff: &SignedInStaff,
    service: &AssortmentService<R>,
    application: &PathId,
    id: R::Id,
    field: &str,
) -> Result<(Json<Answer>, StatusCode), ApiError> {
    let record = service.assign(staff, application.parse()?, id).await;
    record.map(|record| (Json(record.into()), StatusCode::CREATED)).map_err(|error| refusal(error, field))
}

/// List the categories of an application
///
/// Ordered as in the application.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    params(("id" = i64, Path)),
    responses((status = 200, body = CategoryList)),
)]
#[get("/api/applications/{id}/categories")]
async fn list_application_categories(
    staff: SignedInStaff,
    service: Data<AssortmentService<Category>>,
    id: Path<PathId>,
) -> Result<Json<CategoryList>, ApiError> {
    list(&staff, &service, &id).await
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct CategoryAssignment {
    category_id: wire::CategoryId,
}

/// Add a category to an application
///
/// The category is added last. A category that is already shown is not changed.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    params(("id" = i64, Path)),
    request_body = CategoryAssignment,
    responses((status = 201, body = CategoryResponse)),
)]
#[post("/api/applications/{id}/categories")]
async fn assign_category(
    staff: SignedInStaff,
    service: Data<AssortmentService<Category>>,
    id: Path<PathId>,
    body: Body<CategoryAssignment>,
) -> Result<(Json<CategoryResponse>, StatusCode), ApiError> {
    assign(&staff, &service, &id, body.0.category_id.0, "category_id").await
}

/// List the brands of an application
///
/// Ordered by priority, highest first.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    params(("id" = i64, Path)),
    responses((status = 200, body = BrandList)),
)]
#[get("/api/applications/{id}/brands")]
async fn list_application_brands(
    staff: SignedInStaff,
    service: Data<AssortmentService<Brand>>,
    id: Path<PathId>,
) -> Result<Json<BrandList>, ApiError> {
    list(&staff, &service, &id).await
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct BrandAssignment {
    brand_id: wire::BrandId,
}

/// Add a brand to an application
///
/// The brand gets the lowest priority. A brand that is already shown is not changed.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    params(("id" = i64, Path)),
    request_body = BrandAssignment,
    responses((status = 201, body = BrandResponse)),
)]
#[post("/api/applications/{id}/brands")]
async fn assign_brand(
    staff: SignedInStaff,
    service: Data<AssortmentService<Brand>>,
    id: Path<PathId>,
    body: Body<BrandAssignment>,
) -> Result<(Json<BrandResponse>, StatusCode), ApiError> {
    assign(&staff, &service, &id, body.0.brand_id.0, "brand_id").await
}
