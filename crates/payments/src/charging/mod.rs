//! Taking money, without ever guessing.
//!
//! A charge and its idempotence key stand in storage before the acquirer is called. Whatever happens to the call, the
//! same request is repeated under the same key until the outcome is known; notifications only say when to look. The
//! outcome is committed once, guarded by the state of the charge, with what follows from it.

mod inquiry;
mod service;
#[cfg(test)]
mod tests;

pub use service::{ChargeService, Charged, Notified, Opened, ReconciledCharges, Withdrawal};
