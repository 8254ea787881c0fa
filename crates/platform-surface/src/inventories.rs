//! Stock levels: quantity and price of an item in a warehouse.

use actix_web::{get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::InventoryService;
use kontor_catalog::model::{Inventory, InventoryDraft, StockChange, StockEntry, StockSource, StockedItem};
use kontor_kernel::listing::Sort;
use kontor_kernel::{NomenclatureId, WarehouseId, Word as _};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::envelope::{list, one};
use kontor_web::records::HistoryRecord;
use kontor_web::wire::{self, InputErrors, NamedRecord, change_body, into_domain};

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
    ChangedInventory {
        /// Units in the warehouse, including reserved units. At least the number of reserved units.
        quantity: wire::StockLevel,
        /// Price of one unit.
        price: wire::Money,
        /// Reason of the change, stored in the history. Without a change of quantity or price it is not stored.
        comment: wire::Line250,
    }
}

impl From<ChangedInventory> for StockChange {
    fn from(changed: ChangedInventory) -> Self {
        let comment = changed.comment.0.map(|text| text.0);
        Self { quantity: changed.quantity.into(), price: changed.price.into(), comment }
    }
}

#[derive(Serialize, ToSchema)]
struct StockedItemRecord {
    id: i64,
    name: String,
    article: Option<String>,
}

impl From<StockedItem> for StockedItemRecord {
    fn from(item: StockedItem) -> Self {
        Self { id: item.id.get(), name: item.name.into(), article: item.article.map(Into::into) }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct InventoryRecord {
    id: i64,
    warehouse: NamedRecord,
    nomenclature: StockedItemRecord,
    /// Units in the warehouse.
    quantity: u32,
    /// Reserved units, included in `quantity`.
    reserved: u32,
    /// Units that can still be ordered.
    available: u32,
    /// Price of one unit. `null` if no price is set; then nothing is sold from this warehouse.
    #[schema(examples("265.00"))]
    price: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Inventory> for InventoryRecord {
    fn from(stock: Inventory) -> Self {
        Self {
            id: stock.id.get(),
            available: stock.available(),
            warehouse: stock.warehouse.into(),
            nomenclature: stock.nomenclature.into(),
            quantity: stock.quantity.get(),
            reserved: stock.reserved.get(),
            price: stock.price.map(|price| price.to_string()),
            created_at: stock.created_at,
            updated_at: stock.updated_at,
        }
    }
}

one!(/// Stock level.
    InventoryResponse { inventory: InventoryRecord });
list!(/// One page of stock levels, with the total number of records.
    InventoryList { inventories: [InventoryRecord], inventories_count of all });

/// Table of `GET /api/tables/inventories`.
const TABLE: Table<Inventory> = Table {
    id: 2,
    resource: "inventories",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |stock| Cell::plain(stock.id.get())),
        Column::with_icon("nomenclature", "Item", |stock| {
            let item = &stock.nomenclature;
            Cell::linked(item.name.as_str(), format!("/api/nomenclatures/{}", item.id))
        }),
        Column::new("article", "Article", |stock| Cell::plain(stock.nomenclature.article.as_deref())),
        Column::with_icon("warehouse", "Warehouse", |stock| {
            Cell::linked(stock.warehouse.name.as_str(), format!("/api/warehouses/{}", stock.warehouse.id))
        }),
        Column::new("quantity", "In stock", |stock| Cell::plain(stock.quantity.get())),
        Column::new("reserved", "Reserved", |stock| Cell::plain(stock.reserved.get())),
        Column::new("available", "Available", |stock| Cell::plain(stock.available())),
        Column::new("price", "Price", |stock| Cell::plain(stock.price.map(|price| price.to_string()))),
        Column::new("created_at", "Created", |stock| Cell::moment(stock.created_at)),
        Column::new("updated_at", "Changed", |stock| Cell::moment(stock.updated_at)),
    ],
    sorts: &["id", "quantity", "reserved", "price", "created_at", "updated_at"],
    filters: &[
        Filter::id::<WarehouseId>("warehouse_id", "In these warehouses."),
        Filter::id::<NomenclatureId>("nomenclature_id", "Of these items."),
        Filter::count("quantity", "With this quantity in stock."),
        Filter::count("reserved", "With this reserved quantity."),
        Filter::money("price", "At this price."),
    ],
    search: Some("Part of the name or of the article of the item, in any case."),
    period: Some("created_at"),
    order: Sort::ascending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/inventories` and `GET /api/inventories`.
    InventoryParams of TABLE
}

/// Stock movement. The fields that change are `quantity`, `reserved` and `price`.
#[derive(Serialize, ToSchema)]
struct StockHistoryRecord {
    #[serde(flatten)]
    line: HistoryRecord,
    /// `opening`, `creation`, `edit`, `upload`, `reservation`, `release`, `sale`, `correction`, `return` or
    /// `write_off`.
    reason: &'static str,
    /// Id of the order that caused the movement.
    order_id: Option<i64>,
    /// Id of the job that made the movement.
    job_id: Option<i64>,
    /// Comment of the employee who made the movement.
    comment: Option<String>,
}

impl From<StockEntry> for StockHistoryRecord {
    fn from(entry: StockEntry) -> Self {
        let order = entry.source.and_then(StockSource::order);
        let job = entry.source.and_then(StockSource::job);
        Self {
            line: entry.line.into(),
            reason: entry.reason.word(),
            order_id: order.map(Into::into),
            job_id: job.map(Into::into),
            comment: entry.comment.map(Into::into),
        }
    }
}

list!(/// One page of stock movements, newest first.
    StockHistoryList { histories: [StockHistoryRecord], histories_count of all, pagination });
