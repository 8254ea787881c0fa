//! Storage on both databases.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod agents;
mod auth;
mod callback;
mod catalog;
mod collation;
mod favourites;
mod files;
mod fixtures;
mod import;
mod introspection;
mod jobs;
mod login;
mod marks;
mod migrations;
mod offers;
mod orders;
mod organization;
mod profile;
mod search;
mod search_at_scale;
mod sessions;
mod shelving;
mod staff;
mod staff_access;
mod staff_passwords;
mod stock;
mod storefront;
mod storehouse;
mod transactions;
mod upgrade;
mod upkeep;
mod webhooks;
