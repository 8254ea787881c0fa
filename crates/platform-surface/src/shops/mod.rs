//! Shops, managed by staff.

mod input;
mod record;
mod table;
mod times;

use std::sync::Arc;

use actix_web::web::{Data, Path};
use actix_web::{delete, get, post, put};
use kontor_kernel::Clock;
use kontor_organization::{ShopHistory, StaffShopService};
use utoipa_actix_web::service_config::ServiceConfig;

use self::input::{ChangedShop, NewShop};
use self::record::{ShopView, StaffShopList, StaffShopResponse};
use self::table::{ShopParams, TABLE};
use crate::endpoints::handlers;
use crate::table::TableRequest;
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::records::Message;
use kontor_web::{Body, HistoryList, PageQuery, PathId, Query, SignedInStaff};

handlers! {
    fn table_routes; StaffShopService, "Shops";

    /// List shops as a table
    table "/api/tables/shops" as list_shops_table(ShopParams) = page() -> TABLE;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_staff_shops)
        .service(create_shop)
        .service(show_staff_shop)
        .service(update_shop)
        .service(delete_shop)
        .service(list_shop_history);
    times::routes(config);
}

/// List shops
///
/// Includes closed shops.
#[utoipa::path(tag = "Shops", params(ShopParams), responses((status = 200, body = StaffShopList)))]
#[get("/api/shops")]
async fn list_staff_shops(
    staff: SignedInStaff,
    service: Data<StaffShopService>,
    clock: Data<Arc<dyn Clock>>,
    asked: TableRequest,
) -> Answer<StaffShopList> {
    let now = clock.now();
    let page = service.page(&staff, TABLE.listing(asked, 15)?).await?;
    answer(page.map(|shop| ShopView { shop, now }))
}

/// Create a shop
#[utoipa::path(tag = "Shops", request_body = NewShop, responses((status = 201, body = StaffShopResponse)))]
#[post("/api/shops")]
async fn create_shop(
    staff: SignedInStaff,
    service: Data<StaffShopService>,
    clock: Data<Arc<dyn Clock>>,
    body: Body<NewShop>,
) -> Created<StaffShopResponse> {
    let shop = service.create(&staff, body.0.into()).await?;
    created(ShopView { shop, now: clock.now() })
}

/// Get a shop with its opening times
#[utoipa::path(tag = "Shops", responses((status = 200, body = StaffShopResponse)))]
#[get("/api/shops/{id}")]
async fn show_staff_shop(
    staff: SignedInStaff,
    service: Data<StaffShopService>,
    clock: Data<Arc<dyn Clock>>,
    id: Path<PathId>,
) -> Answer<StaffShopResponse> {
    let shop = service.read(&staff, id.parse()?).await?;
    answer(ShopView { shop, now: clock.now() })
}

/// Update a shop
///
/// Fields that are not sent keep their values.
#[utoipa::path(tag = "Shops", request_body = ChangedShop, responses((status = 200, body = StaffShopResponse)))]
#[put("/api/shops/{id}")]
async fn update_shop(
    staff: SignedInStaff,
    service: Data<StaffShopService>,
    clock: Data<Arc<dyn Clock>>,
    id: Path<PathId>,
    body: Body<ChangedShop>,
) -> Answer<StaffShopResponse> {
    let shop = service.update(&staff, id.parse()?, body.0.into()).await?;
    answer(ShopView { shop, now: clock.now() })
}

/// Delete a shop
///
/// Orders keep their reference to the shop.
#[utoipa::path(tag = "Shops", responses((status = 200, body = Message)))]
#[delete("/api/shops/{id}")]
async fn delete_shop(staff: SignedInStaff, service: Data<StaffShopService>, id: Path<PathId>) -> Answer<Message> {
    service.delete(&staff, id.parse()?).await?;
    answer(Message::new("The shop was deleted."))
}

/// List the history of a shop
///
/// Newest first, including changes of opening times.
#[utoipa::path(tag = "Shops", params(PageQuery), responses((status = 200, body = HistoryList)))]
#[get("/api/shops/{id}/history")]
async fn list_shop_history(
    staff: SignedInStaff,
    service: Data<ShopHistory>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<HistoryList> {
    let page = query.0.page()?;
    answer(service.page(&staff, id.parse()?, page).await?)
}
