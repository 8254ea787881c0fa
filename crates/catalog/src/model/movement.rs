use kontor_kernel::history::HistoryEntry;
use kontor_kernel::{JobId, OrderId};

/// Why stock changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum StockReason {
    /// It lay there when the ledger began.
    Opening,
    /// The stock record was made.
    Creation,
    /// Staff set its figures.
    Edit,
    /// A spreadsheet set its figures.
    Upload,
    /// An order reserved pieces.
    Reservation,
    /// An order gave its reservation back.
    Release,
    /// The pieces of an order left the warehouse.
    Sale,
    /// The ledger was brought in line with figures that something else had written.
    Correction,
    /// Pieces that were handed over came back.
    Return,
    /// Pieces of an order are lost.
    WriteOff,
}

/// What a movement of stock was part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockSource {
    /// An order.
    Order(OrderId),
    /// A job in the background that brought a spreadsheet.
    Job(JobId),
}

impl StockSource {
    /// The order, if it is one.
    pub fn order(self) -> Option<OrderId> {
        match self {
            Self::Order(id) => Some(id),
            Self::Job(_) => None,
        }
    }

    /// The job, if it is one.
    pub fn job(self) -> Option<JobId> {
        match self {
            Self::Job(id) => Some(id),
            Self::Order(_) => None,
        }
    }
}

/// One movement of stock, as its history tells it: the changes are those of `quantity`, `reserved` and `price`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockEntry {
    /// Who, when and what.
    pub line: HistoryEntry,
    /// Why.
    pub reason: StockReason,
    /// What it was part of; nothing where somebody set figures by hand.
    pub source: Option<StockSource>,
}
