//! Categories and brands that an application shows.

use actix_web::web::Path;
use actix_web::{delete, get, post};
use deserr::Deserr;
use kontor_catalog::model::{Brand, Category, MoveDirection};
use kontor_catalog::{AssortmentError, AssortmentRefusal, AssortmentService};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::brands::{BrandList, BrandResponse};
use super::categories::{CategoryList, CategoryResponse};
use crate::endpoints::handlers;
use kontor_web::envelope::{Created, created};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, PathId, Service, SignedInStaff};

handlers! {
    fn category_routes; AssortmentService<Category>, "Application categories, brands, menu items";

    /// List the categories of an application
    ///
    /// Ordered as in the application.
    list "/api/applications/{id}/categories" as list_application_categories = list(id) -> CategoryList;

    /// Get a category of an application
    read "/api/applications/{id}/categories/{category_id}" as show_application_category = read(ids) -> CategoryResponse;

    /// Remove a category from an application
    delete "/api/applications/{id}/categories/{category_id}" as unassign_category = withdraw(ids)
        -> "The category is no longer shown.";

    /// Move a category of an application one place up
    ///
    /// The first category keeps its place.
    post "/api/applications/{id}/categories/{category_id}/up" as move_category_up = shift(ids, {MoveDirection::Up})
        -> CategoryResponse;

    /// Move a category of an application one place down
    ///
    /// The last category keeps its place.
    post "/api/applications/{id}/categories/{category_id}/down" as move_category_down
        = shift(ids, {MoveDirection::Down}) -> CategoryResponse;
}

handlers! {
    fn brand_routes; AssortmentService<Brand>, "Application categories, brands, menu items";

    /// List the brands of an application
    ///
    /// Ordered by priority, highest first.
    list "/api/applications/{id}/brands" as list_application_brands = list(id) -> BrandList;

    /// Get a brand of an application
    read "/api/applications/{id}/brands/{brand_id}" as show_application_brand = read(ids) -> BrandResponse;

    /// Remove a brand from an application
    delete "/api/applications/{id}/brands/{brand_id}" as unassign_brand = withdraw(ids)
        -> "The brand is no longer shown.";

    /// Move a brand of an application one place up
    ///
    /// The first brand keeps its place.
    post "/api/applications/{id}/brands/{brand_id}/up" as move_brand_up = shift(ids, {MoveDirection::Up})
        -> BrandResponse;

    /// Move a brand of an application one place down
    ///
    /// The last brand keeps its place.
    post "/api/applications/{id}/brands/{brand_id}/down" as move_brand_down = shift(ids, {MoveDirection::Down})
        -> BrandResponse;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    category_routes(config);
    brand_routes(config);
    config.service(assign_category).service(assign_brand);
}

/// Converts the error of an assignment. `field` is the field that contains the id of the category or brand.
fn refusal(error: AssortmentError, field: &str) -> ApiError {
    match error {
        AssortmentError::Refused(AssortmentRefusal::UnknownRecord) => {
            ApiError::invalid(field, "must be the id of a record of the project")
        }
        error => error.into(),
    }
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
    request_body = CategoryAssignment,
    responses((status = 201, body = CategoryResponse)),
)]
#[post("/api/applications/{id}/categories")]
async fn assign_category(
    staff: SignedInStaff,
    service: Service<AssortmentService<Category>>,
    id: Path<PathId>,
    body: Body<CategoryAssignment>,
) -> Created<CategoryResponse> {
    let assigned = service.assign(&staff, id.parse()?, body.0.category_id.0).await;
    created(assigned.map_err(|error| refusal(error, "category_id"))?)
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
    request_body = BrandAssignment,
    responses((status = 201, body = BrandResponse)),
)]
#[post("/api/applications/{id}/brands")]
async fn assign_brand(
    staff: SignedInStaff,
    service: Service<AssortmentService<Brand>>,
    id: Path<PathId>,
    body: Body<BrandAssignment>,
) -> Created<BrandResponse> {
    let assigned = service.assign(&staff, id.parse()?, body.0.brand_id.0).await;
    created(assigned.map_err(|error| refusal(error, "brand_id"))?)
}
