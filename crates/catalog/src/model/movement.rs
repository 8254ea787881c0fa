use kontor_kernel::history::HistoryEntry;
use kontor_kernel::{JobId, Line, OrderId};

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
