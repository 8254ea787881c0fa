//! Refunds: money is refunded once.
//!
//! A refund and its idempotency key are stored before the acquirer is called, and its money is reserved. The
//! request is repeated under the same key until its outcome is known. A new key is created only if the acquirer
//! certainly refunded nothing.

mod external;
mod service;
#[cfg(test)]
mod tests;

pub use external::{ComparedRefunds, RefundNotificationResult};
pub use service::{ReconciledRefunds, RefundService};
