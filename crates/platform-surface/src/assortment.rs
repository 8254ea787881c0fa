//! Categories and brands that an application shows.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{delete, get, post};
use deserr::Deserr;
use kontor_catalog::model::{Brand, Category, MoveDirection};
use kontor_catalog::ports::Assignable;
use kontor_catalog::{AssortmentError, AssortmentRefusal, AssortmentService};
use kontor_kernel::InvalidId;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::brands::{BrandList, BrandResponse};
use super::categories::{CategoryList, CategoryResponse};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_application_categories)
        .service(assign_category)
        .service(list_application_brands)
        .service(assign_brand);
    config
        .service(show_application_category)
        .service(unassign_category)
        .service(move_category_up)
        .service(move_category_down)
        .service(show_application_brand)
        .service(unassign_brand)
        .service(move_brand_up)
        .service(move_brand_down);
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

type Ids = (PathId, PathId);

async fn read<R: Assignable<Id: TryFrom<i64, Error = InvalidId>>, Answer: From<R>>(
    staff: &SignedInStaff,
    service: &AssortmentService<R>,
    (application, id): &Ids,
) -> Result<Json<Answer>, ApiError> {
    let record = service.read(staff, application.parse()?, id.parse()?).await;
    record.map(|record| Json(record.into())).map_err(|error| refusal(error, "id"))
}

async fn shift<R: Assignable<Id: TryFrom<i64, Error = InvalidId>>, Answer: From<R>>(
    staff: &SignedInStaff,
    service: &AssortmentService<R>,
    (application, id): &Ids,
    shift: MoveDirection,
) -> Result<Json<Answer>, ApiError> {
    let record = service.shift(staff, application.parse()?, id.parse()?, shift).await;
    record.map(|record| Json(record.into())).map_err(|error| refusal(error, "id"))
}

async fn withdraw<R: Assignable<Id: TryFrom<i64, Error = InvalidId>>>(
    staff: &SignedInStaff,
    service: &AssortmentService<R>,
    (application, id): &Ids,
    done: &'static str,
) -> Result<Json<Message>, ApiError> {
    let gone = service.withdraw(staff, application.parse()?, id.parse()?).await;
    gone.map(|()| Json(Message::new(done))).map_err(|error| refusal(error, "id"))
}

/// Defines the operations of one record type. Categories and brands differ only in path and type.
#[rustfmt::skip] // It would indent the attributes further each time.
macro_rules! one_shown {
    ($record:ty as $answer:ident, $what:literal in $id:literal, $path:literal
        by $show:ident, $withdraw:ident, $up_path:literal by $up:ident, $down_path:literal by $down:ident) => {
        #[utoipa::path(
            summary = concat!("Get a ", $what, " of an application"),
            tag = "Application categories, brands, menu items",
            params(("id" = i64, Path), ($id = i64, Path)),
            responses((status = 200, body = $answer)),
        )]
        #[get($path)]
        async fn $show(
            staff: SignedInStaff,
            service: Data<AssortmentService<$record>>,
            ids: Path<Ids>,
        ) -> Result<Json<$answer>, ApiError> {
            read(&staff, &service, &ids).await
        }

        #[utoipa::path(
            summary = concat!("Remove a ", $what, " from an application"),
            tag = "Application categories, brands, menu items",
            params(("id" = i64, Path), ($id = i64, Path)),
            responses((status = 200, body = Message)),
        )]
        #[delete($path)]
        async fn $withdraw(
            staff: SignedInStaff,
            service: Data<AssortmentService<$record>>,
            ids: Path<Ids>,
        ) -> Result<Json<Message>, ApiError> {
            withdraw(&staff, &service, &ids, concat!("The ", $what, " is no longer shown.")).await
        }

        #[utoipa::path(
            summary = concat!("Move a ", $what, " of an application one place up"),
            description = concat!("The first ", $what, " keeps its place."),
            tag = "Application categories, brands, menu items",
            params(("id" = i64, Path), ($id = i64, Path)),
            responses((status = 200, body = $answer)),
        )]
        #[post($up_path)]
        async fn $up(
            staff: SignedInStaff,
            service: Data<AssortmentService<$record>>,
            ids: Path<Ids>,
        ) -> Result<Json<$answer>, ApiError> {
            shift(&staff, &service, &ids, MoveDirection::Up).await
        }

        #[utoipa::path(
            summary = concat!("Move a ", $what, " of an application one place down"),
            description = concat!("The last ", $what, " keeps its place."),
            tag = "Application categories, brands, menu items",
            params(("id" = i64, Path), ($id = i64, Path)),
            responses((status = 200, body = $answer)),
        )]
        #[post($down_path)]
        async fn $down(
            staff: SignedInStaff,
            service: Data<AssortmentService<$record>>,
            ids: Path<Ids>,
        ) -> Result<Json<$answer>, ApiError> {
            shift(&staff, &service, &ids, MoveDirection::Down).await
        }
    };
}

one_shown! {
    Category as CategoryResponse, "category" in "category_id",
    "/api/applications/{id}/categories/{category_id}" by show_application_category, unassign_category,
    "/api/applications/{id}/categories/{category_id}/up" by move_category_up,
    "/api/applications/{id}/categories/{category_id}/down" by move_category_down
}

one_shown! {
    Brand as BrandResponse, "brand" in "brand_id",
    "/api/applications/{id}/brands/{brand_id}" by show_application_brand, unassign_brand,
    "/api/applications/{id}/brands/{brand_id}/up" by move_brand_up,
    "/api/applications/{id}/brands/{brand_id}/down" by move_brand_down
}
