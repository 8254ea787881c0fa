//! Records of stock levels as shown to staff.

use chrono::{DateTime, Utc};
use kontor_catalog::model::{Inventory, StockedItem};
use kontor_kernel::listing::Sort;
use kontor_kernel::{NomenclatureId, WarehouseId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::envelope::{list, one};
use kontor_web::wire::NamedRecord;

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
    pub(super) InventoryResponse { inventory: InventoryRecord });
list!(/// One page of stock levels, with the total number of records.
    pub(super) InventoryList { inventories: [InventoryRecord], inventories_count of all });

/// Table of `GET /api/tables/inventories`.
pub(super) const TABLE: Table<Inventory> = Table {
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
