//! Stock levels: quantity and price of an item in a warehouse.

mod history;
mod record;

use actix_web::{get, post, put};
use deserr::Deserr;
use kontor_catalog::InventoryService;
use kontor_catalog::model::{InventoryDraft, StockChange};
use utoipa::ToSchema;

use self::history::StockHistoryList;
pub(super) use self::record::InventoryRecord;
use self::record::{InventoryList, InventoryParams, InventoryResponse, TABLE};
use crate::endpoints::handlers;
use kontor_web::wire::{self, InputErrors, change_body, into_domain};

handlers! {
    InventoryService, "Stock";

    /// List stock levels
    list "/api/inventories" as list_inventories = list(rows InventoryParams TABLE 100) -> InventoryList;

    /// List stock levels as a table
    table "/api/tables/inventories" as list_inventories_table(InventoryParams) = list() -> TABLE;

    /// Create a stock level
    ///
    /// The warehouse must not have a stock level of this item yet.
    create "/api/inventories" as create_inventory(NewInventory) -> InventoryResponse;

    /// Get a stock level
    read "/api/inventories/{id}" as show_inventory -> InventoryResponse;

    /// Update a stock level
    ///
    /// Sets quantity and price. Fields that are not sent keep their values.
    update "/api/inventories/{id}" as update_inventory(ChangedInventory) = set_stock(id, input) -> InventoryResponse;

    /// List the movements of a stock level
    ///
    /// Newest first.
    history "/api/inventories/{id}/history" as list_inventory_history -> StockHistoryList;
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

into_domain!(NewInventory => InventoryDraft { warehouse_id, nomenclature_id, quantity, price });

change_body! {
    ChangedInventory => StockChange {
        /// Units in the warehouse, including reserved units. At least the number of reserved units.
        quantity: wire::StockLevel,
        /// Price of one unit.
        price: wire::Money,
    }
}
