//! Discounts and promo codes.

mod input;
mod query;
mod record;

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{HttpRequest, delete, get, post, put};
use kontor_catalog::DiscountService;
use kontor_kernel::Clock;
use utoipa_actix_web::service_config::ServiceConfig;

use self::input::{ChangedDiscount, NewDiscount};
use self::query::DiscountQuery;
use self::record::{DiscountFigures, DiscountList, DiscountResponse, UsageList};
use crate::endpoints::handlers;
use crate::resource_page::ListAddress;
use kontor_web::Settings;
use kontor_web::envelope::{Answer, Created};
use kontor_web::{ApiError, Body, PathId, Query, SignedInStaff};

handlers! {
    fn usual_routes; DiscountService, "Sales";

    /// Get discount statistics
    read "/api/discounts/stats" as show_discount_stats = stats() -> DiscountFigures;

    /// Delete a discount
    ///
    /// The discount must not be used by an order. Archive it instead if it is.
    delete "/api/discounts/{id}" as delete_discount -> "The discount is deleted.", 422 "Orders use the discount.";

    /// List the orders that used a promo code
    ///
    /// Newest first.
    list "/api/discounts/{id}/usages" as list_discount_usages = usages(id, page) -> UsageList;
}

/// Registers the routes. `stats` precedes `{id}`, because it would match as an id.
pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    usual_routes(config);
    config
        .service(list_discounts)
        .service(create_discount)
        .service(show_discount)
        .service(update_discount)
        .service(pause_discount)
        .service(activate_discount)
        .service(archive_discount);
}

type Shown = Result<Json<DiscountResponse>, ApiError>;

/// List discounts
///
/// Newest first.
#[utoipa::path(tag = "Sales", params(DiscountQuery), responses((status = 200, body = DiscountList)))]
#[get("/api/discounts")]
async fn list_discounts(
    request: HttpRequest,
    staff: SignedInStaff,
    config: Data<Settings>,
    clock: Data<Arc<dyn Clock>>,
    service: Data<DiscountService>,
    query: Query<DiscountQuery>,
) -> Answer<DiscountList> {
    let (filter, page) = query.0.checked()?;
    let page = service.list(&staff, filter, page).await?;
    let address = ListAddress::of(&request, &config.public_url);
    Ok(Json(DiscountList::of(page, &address, clock.now())))
}

/// Create a discount
#[utoipa::path(tag = "Sales", request_body = NewDiscount, responses((status = 201, body = DiscountResponse)))]
#[post("/api/discounts")]
async fn create_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Data<DiscountService>,
    body: Body<NewDiscount>,
) -> Created<DiscountResponse> {
    let discount = service.create(&staff, body.0.into()).await?;
    Ok((Json(DiscountResponse::of(discount, clock.now())), StatusCode::CREATED))
}

/// Get a discount
#[utoipa::path(tag = "Sales", responses((status = 200, body = DiscountResponse)))]
#[get("/api/discounts/{id}")]
async fn show_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Data<DiscountService>,
    id: Path<PathId>,
) -> Shown {
    Ok(Json(DiscountResponse::of(service.read(&staff, id.parse()?).await?, clock.now())))
}

/// Update a discount
///
/// Fields that are not sent keep their values. Existing orders keep their prices.
#[utoipa::path(
    tag = "Sales",
    request_body = ChangedDiscount,
    responses((status = 200, body = DiscountResponse), (status = 409, description = "The discount is archived.")),
)]
#[put("/api/discounts/{id}")]
async fn update_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Data<DiscountService>,
    id: Path<PathId>,
    body: Body<ChangedDiscount>,
) -> Shown {
    let discount = service.update(&staff, id.parse()?, body.0.into()).await?;
    Ok(Json(DiscountResponse::of(discount, clock.now())))
}

/// Pause a discount
#[utoipa::path(
    tag = "Sales",
    responses((status = 200, body = DiscountResponse), (status = 409, description = "The discount is archived.")),
)]
#[post("/api/discounts/{id}/pause")]
async fn pause_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Data<DiscountService>,
    id: Path<PathId>,
) -> Shown {
    Ok(Json(DiscountResponse::of(service.pause(&staff, id.parse()?).await?, clock.now())))
}

/// Activate a discount
///
/// The discount applies within its dates.
#[utoipa::path(
    tag = "Sales",
    responses(
        (status = 200, body = DiscountResponse),
        (status = 409, description = "The discount is archived, or its period is over."),
    ),
)]
#[post("/api/discounts/{id}/activate")]
async fn activate_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Data<DiscountService>,
    id: Path<PathId>,
) -> Shown {
    Ok(Json(DiscountResponse::of(service.activate(&staff, id.parse()?).await?, clock.now())))
}

/// Archive a discount
///
/// The discount is stopped permanently.
#[utoipa::path(tag = "Sales", responses((status = 200, body = DiscountResponse)))]
#[post("/api/discounts/{id}/archive")]
async fn archive_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Data<DiscountService>,
    id: Path<PathId>,
) -> Shown {
    Ok(Json(DiscountResponse::of(service.archive(&staff, id.parse()?).await?, clock.now())))
}
