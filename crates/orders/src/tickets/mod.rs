//! Tickets and the scans at the door.

mod judge;
mod model;
mod scan;
mod service;
#[cfg(test)]
mod tests;
mod token;

pub use judge::{TicketOrder, TicketTerms, judge};
pub use model::{InvalidReference, TicketReference, Tickets};
pub use scan::{
    CheckedScan, EarlierScan, InvalidScanId, Scan, ScanAnswer, ScanBatch, ScanId, ScanOutcome, ScanRefused, StoredScan,
};
pub use service::TicketService;
pub use token::TicketTokens;
