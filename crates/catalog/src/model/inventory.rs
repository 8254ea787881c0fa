use chrono::{DateTime, Utc};
use kontor_kernel::history::HistoryEntry;
use kontor_kernel::{InventoryId, JobId, Line, Money, Name, NomenclatureId, OrderId, WarehouseId};

use super::{Edit, Reference};

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

/// Error: the number cannot be stocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StockLevelError {
    /// The number is negative.
    #[error("must be a whole number of at least 0")]
    Negative,
    /// The number exceeds the maximum.
    #[error("must be at most 1000000000")]
    TooLarge,
}

/// Stock level in units: 0 to 1,000,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StockLevel(u32);

impl StockLevel {
    /// Empty stock.
    pub const EMPTY: Self = Self(0);

    /// Accepts 0 to 1,000,000,000.
    pub fn new(value: i64) -> Result<Self, StockLevelError> {
        if value < 0 {
            return Err(StockLevelError::Negative);
        }
        u32::try_from(value).ok().filter(|v| *v <= 1_000_000_000).map(Self).ok_or(StockLevelError::TooLarge)
    }

    /// Returns the count.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// Reason of a stock movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum StockReason {
    /// Stock that existed when the ledger was introduced.
    Opening,
    /// The stock level was created.
    Creation,
    /// Staff set quantity or price.
    Edit,
    /// A spreadsheet set quantity or price.
    Upload,
    /// An order reserved units.
    Reservation,
    /// An order released its reservation.
    Release,
    /// The units of an order left the warehouse.
    Sale,
    /// The ledger was corrected to match figures written from elsewhere.
    Correction,
    /// Fulfilled units were returned.
    Return,
    /// Units of an order were lost.
    WriteOff,
}

/// Cause of a stock movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockSource {
    /// Order.
    Order(OrderId),
    /// Background job that imported a spreadsheet.
    Job(JobId),
}

impl StockSource {
    /// Returns the order, if any.
    pub fn order(self) -> Option<OrderId> {
        match self {
            Self::Order(id) => Some(id),
            Self::Job(_) => None,
        }
    }

    /// Returns the job, if any.
    pub fn job(self) -> Option<JobId> {
        match self {
            Self::Job(id) => Some(id),
            Self::Order(_) => None,
        }
    }
}

/// Stock movement as a history entry: the changes are those of `quantity`, `reserved` and `price`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockEntry {
    /// Author, time and changes.
    pub line: HistoryEntry,
    /// Reason.
    pub reason: StockReason,
    /// Cause; `None` for manual edits.
    pub source: Option<StockSource>,
    /// Comment of the employee who made a manual edit.
    pub comment: Option<Line<250>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_million_pieces_are_the_most() {
        assert_eq!(StockLevel::new(-1), Err(StockLevelError::Negative));
        assert_eq!(StockLevel::new(0), Ok(StockLevel::EMPTY));
        assert_eq!(StockLevel::new(1_000_000_000).map(StockLevel::get), Ok(1_000_000_000));
        assert_eq!(StockLevel::new(1_000_000_001), Err(StockLevelError::TooLarge));
    }
}
