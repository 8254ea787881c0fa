//! Stock levels: quantity and price of an item in a warehouse.

mod history;
mod record;

use actix_web::web::{Data, Json, Path};
use actix_web::{get, post, put};
use deserr::Deserr;
use kontor_catalog::InventoryService;
use kontor_catalog::model::{InventoryDraft, StockChange};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use self::history::StockHistoryList;
pub(super) use self::record::InventoryRecord;
use self::record::{InventoryList, InventoryParams, InventoryResponse, TABLE};
use crate::table::{TableAnswer, TableRequest};
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::wire::{self, InputErrors, NonNullPatch};
use kontor_web::{Body, PageQuery, PathId, Query, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_inventories).service(list_inventories_table).service(create_inventory);
}

/// Registers the routes with placeholders.
pub(super) fn placed_routes(config: &mut ServiceConfig<'_>) {
    config.service(show_inventory).service(update_inventory).service(list_inventory_history);
}

/// List stock levels
#[utoipa::path(
    tag = "Stock",
    params(InventoryParams),
    responses((status = 200, body = InventoryList)),
)]
#[get("/api/inventories")]
async fn list_inventories(
    staff: SignedInStaff,
    service: Data<InventoryService>,
    asked: TableRequest,
) -> Answer<InventoryList> {
    answer(service.list(&staff, TABLE.listing(asked, 100)?).await?)
}

/// List stock levels as a table
#[utoipa::path(
    tag = "Stock",
    params(InventoryParams),
    responses((status = 200, body = TableAnswer)),
)]
#[get("/api/tables/inventories")]
async fn list_inventories_table(
    staff: SignedInStaff,
    service: Data<InventoryService>,
    asked: TableRequest,
) -> Answer<TableAnswer> {
    Ok(Json(TABLE.render(&service.list(&staff, TABLE.listing(asked, 15)?).await?)))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewInventory {
    warehouse_id: wire::WarehouseId,
    /// Id of the item. It must be goods.
    nomenclature_id: wire::NomenclatureId,
    /// Units in the warehouse.
    quantity: wire::StockLevel,
    /// Price of one unit.
    price: wire::Money,
}

/// Create a stock level
///
/// The warehouse must not have a stock level of this item yet.
#[utoipa::path(
    tag = "Stock",
    request_body = NewInventory,
    responses((status = 201, body = InventoryResponse)),
)]
#[post("/api/inventories")]
async fn create_inventory(
    staff: SignedInStaff,
    service: Data<InventoryService>,
    body: Body<NewInventory>,
) -> Created<InventoryResponse> {
    let new = body.0;
    let draft = InventoryDraft {
        warehouse_id: new.warehouse_id.0,
        nomenclature_id: new.nomenclature_id.0,
        quantity: new.quantity.0,
        price: new.price.0,
    };
    created(service.create(&staff, draft).await?)
}

/// Get a stock level
#[utoipa::path(
    tag = "Stock",
    params(("id" = i64, Path)),
    responses((status = 200, body = InventoryResponse)),
)]
#[get("/api/inventories/{id}")]
async fn show_inventory(
    staff: SignedInStaff,
    service: Data<InventoryService>,
    id: Path<PathId>,
) -> Answer<InventoryResponse> {
    answer(service.read(&staff, id.parse()?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedInventory {
    /// Units in the warehouse, including reserved units. At least the number of reserved units.
    #[deserr(default)]
    #[schema(value_type = Option<wire::StockLevel>, nullable = false)]
    quantity: NonNullPatch<wire::StockLevel>,
    /// Price of one unit.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Money>, nullable = false)]
    price: NonNullPatch<wire::Money>,
    /// Reason of the change, stored in the history. Without a change of quantity or price it is not stored.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line250>, nullable = false)]
    comment: NonNullPatch<wire::Line250>,
}

impl From<ChangedInventory> for StockChange {
    fn from(changed: ChangedInventory) -> Self {
        let comment = changed.comment.0.map(|text| text.0);
        Self { quantity: changed.quantity.into(), price: changed.price.into(), comment }
    }
}

/// Update a stock level
///
/// Sets quantity and price. Fields that are not sent keep their values.
#[utoipa::path(
    tag = "Stock",
    params(("id" = i64, Path)),
    request_body = ChangedInventory,
    responses((status = 200, body = InventoryResponse)),
)]
#[put("/api/inventories/{id}")]
async fn update_inventory(
    staff: SignedInStaff,
    service: Data<InventoryService>,
    id: Path<PathId>,
    body: Body<ChangedInventory>,
) -> Answer<InventoryResponse> {
    answer(service.set_stock(&staff, id.parse()?, body.0.into()).await?)
}

/// List the movements of a stock level
///
/// Newest first.
#[utoipa::path(
    tag = "Stock",
    params(("id" = i64, Path), PageQuery),
    responses((status = 200, body = StockHistoryList)),
)]
#[get("/api/inventories/{id}/history")]
async fn list_inventory_history(
    staff: SignedInStaff,
    service: Data<InventoryService>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<StockHistoryList> {
    let page = query.0.page()?;
    answer(service.history(&staff, id.parse()?, page).await?)
}
