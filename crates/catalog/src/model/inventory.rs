use chrono::{DateTime, Utc};
use kontor_kernel::{InventoryId, Line, Money, Name, NomenclatureId, StockLevel, WarehouseId};

use super::{Edit, Reference};

/// The stock of one item in one warehouse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    /// The number of the record.
    pub id: InventoryId,
    /// Where the goods lie.
    pub warehouse: Reference<WarehouseId>,
    /// What lies there.
    pub nomenclature: StockedItem,
    /// Pieces in the warehouse.
    pub quantity: StockLevel,
    /// Of these, pieces that orders have reserved.
    pub reserved: StockLevel,
    /// The price of one piece sold from here; without one nothing is sold from here.
    pub price: Option<Money>,
    /// Raised by every change.
    pub version: u64,
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
