//! Every surface over real HTTP, on both databases.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod client_profile;
mod client_session;
mod client_storefront;
mod crash;
mod description;
mod desk;
mod dictionaries;
mod graceful;
mod house;
mod limits;
mod main_job;
mod office;
mod order_payments;
mod orders;
mod outside;
mod platform_branches;
mod platform_categories;
mod platform_inventories;
mod platform_nomenclatures;
mod platform_session;
mod platform_spreadsheets;
mod platform_warehouses;
mod platform_webhooks;
mod policies;
mod process;
mod redaction;
mod shopfront;
mod shopper;
mod support;
mod transport;
mod webhook_deliveries;
