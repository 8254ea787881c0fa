//! Registration of receipts.
//!
//! The receipt of a payment or a refund is sent with its request, and its registration is read from there. The
//! receipt of a handover is requested separately: like charges and refunds, it is stored with its idempotency
//! key before the acquirer is called. Receipts that are canceled, or open for three days, are reported.

mod service;
#[cfg(test)]
mod tests;

pub use service::{ReceiptService, ReconciledReceipts};
