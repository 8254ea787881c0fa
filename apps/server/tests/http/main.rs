//! Every surface over real HTTP, on both databases.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod client_profile;
mod client_session;
mod client_storefront;
mod description;
mod dictionaries;
mod house;
mod office;
mod outside;
mod platform_branches;
mod platform_categories;
mod platform_inventories;
mod platform_nomenclatures;
mod platform_session;
mod platform_spreadsheets;
mod platform_warehouses;
mod platform_webhooks;
mod shopper;
mod support;
mod transport;
mod webhook_deliveries;
