//! Giving money back, once.
//!
//! A refund and its idempotence key stand in storage before the acquirer is called, and its money is set aside. It is
//! asked for again under the same key until its outcome is known; another key is made only when the acquirer surely gave
//! nothing back.

mod outside;
mod service;
#[cfg(test)]
mod tests;

pub use outside::{ComparedRefunds, RefundNotified};
pub use service::{ReconciledRefunds, RefundService};
