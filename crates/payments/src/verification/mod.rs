//! Customers who prove by a small payment who they are.
//!
//! A verification is a charge whose money goes back. The commit that tells that the money has arrived verifies the
//! customer and makes the refund due.

mod model;
mod service;
#[cfg(test)]
mod tests;

pub use model::{NewVerification, VERIFICATION_WINDOW, Verification, VerificationTerms};
pub use service::{StartedVerification, VerificationService};
