//! Discounts and promo codes.

mod input;
mod query;
mod record;
mod table;

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
use self::table::{DiscountParams, TABLE};
use crate::resource_page::ListAddress;
use crate::table::{TableAnswer, TableRequest};
use kontor_web::Settings;
use kontor_web::envelope::{Answer, Created, answer};
use kontor_web::records::Message;
use kontor_web::{ApiError, Body, PageQuery, PathId, Query, SignedInStaff};

/// Registers the routes. `stats` precedes `{id}`, because it would match as an id.
pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_discounts)
        .service(create_discount)
        .service(show_discount_stats)
        .service(show_discount)
        .service(update_discount)
        .service(delete_discount)
        .service(pause_discount)
        .service(activate_discount)
        .service(archive_discount)
        .service(list_discount_usages);
}

/// Registers the table.
pub(super) fn table_routes(config: &mut ServiceConfig<'_>) {
    config.service(list_discounts_table);
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
    let page = service.list(&staff, query.0.listing()?).await?;
    let address = ListAddress::of(&request, &config.public_url);
    Ok(Json(DiscountList::of(page, &address, clock.now())))
}

/// List discounts as a table
///
/// Newest first by default.
#[utoipa::path(tag = "Sales", params(DiscountParams), responses((status = 200, body = TableAnswer)))]
#[get("/api/tables/discounts")]
async fn list_discounts_table(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Data<DiscountService>,
    asked: TableRequest,
) -> Answer<TableAnswer> {
    let page = service.list(&staff, TABLE.listing(asked, 15)?).await?;
    let at = clock.now();
    let page = page.map(|discount| (discount.state(at), discount));
    Ok(Json(TABLE.render(&page)))
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

/// Get discount statistics
#[utoipa::path(tag = "Sales", responses((status = 200, body = DiscountFigures)))]
#[get("/api/discounts/stats")]
async fn show_discount_stats(staff: SignedInStaff, service: Data<DiscountService>) -> Answer<DiscountFigures> {
    answer(service.stats(&staff).await?)
}

/// Get a discount
#[utoipa::path(tag = "Sales", params(("id" = i64, Path)), responses((status = 200, body = DiscountResponse)))]
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
    params(("id" = i64, Path)),
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

/// Delete a discount
///
/// The discount must not be used by an order. Archive it instead if it is.
#[utoipa::path(
    tag = "Sales",
    params(("id" = i64, Path)),
    responses((status = 200, body = Message), (status = 422, description = "Orders use the discount.")),
)]
#[delete("/api/discounts/{id}")]
async fn delete_discount(staff: SignedInStaff, service: Data<DiscountService>, id: Path<PathId>) -> Answer<Message> {
    service.delete(&staff, id.parse()?).await?;
    Ok(Json(Message::new("The discount is deleted.")))
}

/// Pause a discount
#[utoipa::path(
    tag = "Sales",
    params(("id" = i64, Path)),
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
    params(("id" = i64, Path)),
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
#[utoipa::path(tag = "Sales", params(("id" = i64, Path)), responses((status = 200, body = DiscountResponse)))]
#[post("/api/discounts/{id}/archive")]
async fn archive_discount(
    staff: SignedInStaff,
    clock: Data<Arc<dyn Clock>>,
    service: Data<DiscountService>,
    id: Path<PathId>,
) -> Shown {
    Ok(Json(DiscountResponse::of(service.archive(&staff, id.parse()?).await?, clock.now())))
}

/// List the orders that used a promo code
///
/// Newest first.
#[utoipa::path(tag = "Sales", params(("id" = i64, Path), PageQuery), responses((status = 200, body = UsageList)))]
#[get("/api/discounts/{id}/usages")]
async fn list_discount_usages(
    staff: SignedInStaff,
    service: Data<DiscountService>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<UsageList> {
    let page = query.0.page()?;
    answer(service.usages(&staff, id.parse()?, page).await?)
}
