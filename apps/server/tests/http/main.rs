//! Every surface over real HTTP, on both databases.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod dictionaries;
mod order_payments;
mod orders;
mod platform_branches;
mod platform_webhooks;
mod shopfront;
mod support;
mod transport;
mod webhook_deliveries;
