//! Payment gateway over the acquirer's HTTP API (`YooKassa` API v3).
//!
//! **Owns** the protocol: authentication, the idempotency key, timeouts, and the interpretation of responses.
//!
//! **Invariants**
//! - An outcome is never guessed: only an explicit response makes a payment known or refused. Timeouts, broken
//!   connections, `202`, `408`, `429`, `5xx` and responses that cannot be parsed are unknown.
//! - A failed connection carried no request: a payment is refused, a refund is requested again.
//! - The same request has the same body.
//!
//! **Implements** [`kontor_payments::ports::PaymentGateway`].

mod answer;
mod client;
mod receipt;
mod wire;

pub use client::{AcquirerClient, AcquirerConfig, ClientError};
