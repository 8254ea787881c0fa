//! What staff see of stock.

use chrono::{DateTime, Utc};
use kontor_catalog::model::{Inventory, StockedItem};
use kontor_kernel::Page;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::NamedRecord;
use crate::table::{Cell, Column, Table};

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
struct InventoryRecord {
    id: i64,
    warehouse: NamedRecord,
    nomenclature: StockedItemRecord,
    /// Pieces in the warehouse.
    quantity: u32,
    /// Of these, pieces claimed by orders.
    reserved: u32,
    /// Pieces that can still be ordered.
    available: u32,
    /// The price of one piece.
    #[schema(examples("265.00"))]
    price: String,
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
            price: stock.price.to_string(),
            created_at: stock.created_at,
            updated_at: stock.updated_at,
        }
    }
}

/// One stock record.
#[derive(Serialize, ToSchema)]
pub(super) struct OneInventory {
    inventory: InventoryRecord,
}

impl From<Inventory> for OneInventory {
    fn from(stock: Inventory) -> Self {
        Self { inventory: stock.into() }
    }
}

/// A page of stock, and how much there is in all.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InventoryList {
    inventories: Vec<InventoryRecord>,
    inventories_count: u64,
}

impl From<Page<Inventory>> for InventoryList {
    fn from(page: Page<Inventory>) -> Self {
        Self { inventories_count: page.total, inventories: page.items.into_iter().map(Into::into).collect() }
    }
}

/// `GET /api/tables/inventories`
pub(super) const TABLE: Table<Inventory> = Table {
    id: 2,
    resource: "inventories",
    columns: &[
        Column { key: "id", text: "No.", has_icon: false, cell: |stock| Cell::plain(stock.id.get()) },
        Column {
            key: "nomenclature",
            text: "Item",
            has_icon: true,
            cell: |stock| {
                let item = &stock.nomenclature;
                Cell::linked(item.name.as_str(), format!("/api/nomenclatures/{}", item.id))
            },
        },
        Column {
            key: "article",
            text: "Article",
            has_icon: false,
            cell: |stock| Cell::plain(stock.nomenclature.article.as_deref()),
        },
        Column {
            key: "warehouse",
            text: "Warehouse",
            has_icon: true,
            cell: |stock| {
                Cell::linked(stock.warehouse.name.as_str(), format!("/api/warehouses/{}", stock.warehouse.id))
            },
        },
        Column { key: "quantity", text: "In stock", has_icon: false, cell: |stock| Cell::plain(stock.quantity.get()) },
        Column { key: "reserved", text: "Reserved", has_icon: false, cell: |stock| Cell::plain(stock.reserved.get()) },
        Column { key: "available", text: "Available", has_icon: false, cell: |stock| Cell::plain(stock.available()) },
        Column { key: "price", text: "Price", has_icon: false, cell: |stock| Cell::plain(stock.price.to_string()) },
        Column { key: "created_at", text: "Created", has_icon: false, cell: |stock| Cell::moment(stock.created_at) },
        Column { key: "updated_at", text: "Changed", has_icon: false, cell: |stock| Cell::moment(stock.updated_at) },
    ],
};
