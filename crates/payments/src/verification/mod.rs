//! Verification of customers by a small payment.
//!
//! A verification is a charge that is refunded. The commit that records the arrival of the money verifies the
//! customer and makes the refund due.

mod model;
mod service;
#[cfg(test)]
mod tests;

pub use model::{NewVerification, VERIFICATION_WINDOW, Verification, VerificationTerms};
pub use service::{StartedVerification, VerificationService};
