//! Customers who prove by a small payment who they are.
//!
//! The same care as with the payment of an order, twice: a payment and its key stand in storage before the acquirer
//! hears of it, and so does the key of the refund, in the commit that verifies the customer. A refund is asked for again
//! under the same key until its outcome is known; another key is made only when the acquirer surely gave nothing back.

mod refund;
mod service;
#[cfg(test)]
mod tests;

pub use service::{Notice, VerificationRound, VerificationService, Verifying};
