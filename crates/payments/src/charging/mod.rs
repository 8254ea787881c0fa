//! Charges: taking money without guessing an outcome.
//!
//! A charge and its idempotency key are stored before the acquirer is called. The same request is repeated under
//! the same key until the outcome is known; notifications only trigger a check. The outcome is committed once,
//! guarded by the state of the charge, together with its consequences.

mod inquiry;
mod service;
#[cfg(test)]
mod tests;

pub use service::{
    CancelOutcome, ChargeResult, ChargeService, NotificationResult, PaymentRequested, ReconciledCharges,
};
