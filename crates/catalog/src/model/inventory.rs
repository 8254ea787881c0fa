use chrono::{DateTime, NaiveDate, Utc};
use kontor_kernel::{InventoryId, Line, Money, Name, NomenclatureId, ProjectId, StockLevel, WarehouseId};

use super::{Edit, Reference};

/// The stock of one item in one warehouse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    /// The number of the record.
    pub id: InventoryId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// Where the goods lie.
    pub warehouse: Reference<WarehouseId>,
    /// What lies there.
    pub nomenclature: StockedItem,
    /// Pieces in the warehouse.
    pub quantity: StockLevel,
    /// Of these, pieces that orders have claimed.
    pub reserved: StockLevel,
    /// The price of one piece sold from here.
    pub price: Money,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

impl Inventory {
    /// Pieces that can still be ordered.
    pub fn available(&self) -> u32 {
        self.quantity.get().saturating_sub(self.reserved.get())
    }
}

/// The item of a stock record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockedItem {
    /// The number of the item.
    pub id: NomenclatureId,
    /// Its name.
    pub name: Name,
    /// Its article.
    pub article: Option<Line<100>>,
}

/// What staff say about new stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryDraft {
    /// Where the goods lie.
    pub warehouse_id: WarehouseId,
    /// What lies there.
    pub nomenclature_id: NomenclatureId,
    /// How many pieces.
    pub quantity: StockLevel,
    /// The price of one piece.
    pub price: Money,
}

/// What staff change about stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StockChange {
    /// Pieces in the warehouse, reserved ones included.
    pub quantity: Edit<StockLevel>,
    /// The price of one piece.
    pub price: Edit<Money>,
}

/// Which stock is listed. An empty list of numbers leaves that field open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InventoryFilter {
    /// Part of the name or of the article of the item, in any case.
    pub query: Option<Line<255>>,
    /// In these warehouses.
    pub warehouse_ids: Vec<WarehouseId>,
    /// Of these items.
    pub nomenclature_ids: Vec<NomenclatureId>,
    /// Created on this day (UTC) or later.
    pub created_from: Option<NaiveDate>,
    /// Created on this day (UTC) or earlier.
    pub created_to: Option<NaiveDate>,
    /// In which order.
    pub order: InventoryOrder,
}

/// In which order stock is listed; equal records by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InventoryOrder {
    /// By which field.
    pub by: InventorySort,
    /// Whether the largest comes first.
    pub descending: bool,
}

/// What stock can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InventorySort {
    /// The number of the record.
    #[default]
    Id,
    /// Pieces in the warehouse.
    Quantity,
    /// Reserved pieces.
    Reserved,
    /// The price of one piece.
    Price,
    /// The time of creation.
    CreatedAt,
    /// The time of the last change.
    UpdatedAt,
}
