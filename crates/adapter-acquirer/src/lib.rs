//! The payment gateway over the acquirer's HTTP interface (`YooKassa` API v3).
//!
//! **Owns** the protocol: authentication, the idempotence key, time limits, and what an answer means.
//!
//! **Invariants**
//! - An outcome is never guessed: only an answer that says so makes a payment known or refused. Time-outs, broken
//!   connections, `202`, `408`, `429`, `5xx` and answers that cannot be read are unknown.
//! - A connection that was never made carried no request: that is a refusal of a payment; a refund is asked for again.
//! - The same request gives the same body.
//!
//! **Implements** [`kontor_payments::ports::PaymentGateway`].

mod answer;
mod client;
mod receipt;
mod wire;

pub use client::{AcquirerClient, AcquirerConfig, ClientError};
