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
    EarlierScan, InvalidScanId, KeptScan, ReadScan, Scan, ScanAnswer, ScanBatch, ScanId, ScanOutcome, ScanRefused,
};
pub use service::TicketService;
pub use token::TicketTokens;
