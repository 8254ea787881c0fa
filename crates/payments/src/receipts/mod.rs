//! Receipts on their way to the register.
//!
//! The receipt of a payment or a refund goes with its request; whether it is registered is read from there. The receipt of a
//! hand-over is asked for by itself: it stands in storage with its idempotence key before the acquirer hears of it, as
//! charges and refunds do. What is canceled, or open for three days, is told to people.

mod service;
#[cfg(test)]
mod tests;

pub use service::{ReceiptService, ReconciledReceipts};
