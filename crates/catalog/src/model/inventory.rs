use chrono::{DateTime, Utc};
use kontor_kernel::{InventoryId, Line, Money, Name, NomenclatureId, WarehouseId};

use super::{Edit, Reference, StockLevel};

/// Stock level of one item in one warehouse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    /// Identifier of the record.
    pub id: InventoryId,
    /// Warehouse.
    pub warehouse: Reference<WarehouseId>,
    /// Item.
    pub nomenclature: StockedItem,
    /// Units in the warehouse.
    pub quantity: StockLevel,
    /// Units reserved by orders, included in the quantity.
    pub reserved: StockLevel,
    /// Price of one unit sold from here; without a price nothing is sold from here.
    pub price: Option<Money>,
    /// Version, incremented by every change.
    pub version: u64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Inventory {
    /// Returns the units that can still be ordered.
    pub fn available(&self) -> u32 {
        self.quantity.get().saturating_sub(self.reserved.get())
    }
}

/// Item of a stock level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockedItem {
    /// Identifier of the item.
    pub id: NomenclatureId,
    /// Name.
    pub name: Name,
    /// Article (SKU).
    pub article: Option<Line<100>>,
}

/// Fields of a new stock level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryDraft {
    /// Warehouse.
    pub warehouse_id: WarehouseId,
    /// Item.
    pub nomenclature_id: NomenclatureId,
    /// Number of units.
    pub quantity: StockLevel,
    /// Price of one unit.
    pub price: Money,
}

/// Change of a stock level.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StockChange {
    /// Units in the warehouse, reserved units included.
    pub quantity: Edit<StockLevel>,
    /// Price of one unit.
    pub price: Edit<Money>,
    /// Reason in the words of the employee, stored with the movement.
    pub comment: Option<Line<250>>,
}
