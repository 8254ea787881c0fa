//! Storage on both databases.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod auth;
mod fixtures;
mod login;
mod migrations;
mod organization;
mod transactions;
