//! Tickets and the scans at the door.

mod model;
mod scan;
mod service;
#[cfg(test)]
mod tests;
mod token;
mod validation;

pub use model::{InvalidReference, TicketReference, Tickets};
pub use scan::{
    CheckedScan, EarlierScan, InvalidScanId, Scan, ScanAnswer, ScanBatch, ScanId, ScanOutcome, ScanRefused, StoredScan,
};
pub use service::TicketService;
pub use token::TicketTokens;
pub use validation::{TicketOrder, TicketTerms, scan_outcome};
