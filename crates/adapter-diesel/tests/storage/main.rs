//! Storage on both databases.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod auth;
mod catalog;
mod fixtures;
mod import;
mod login;
mod migrations;
mod offers;
mod orders;
mod organization;
mod profile;
mod storefront;
mod storehouse;
mod transactions;
mod webhooks;
