//! The catalog: items, their stock and their assignment to applications.
#![expect(clippy::indexing_slicing, reason = "tests fail by panicking")]

mod assortment;
mod cards;
mod customer_contract;
mod job_contract;
mod name_contract;
mod offer_contract;
mod plans;
pub mod records;
mod services;
mod sheet_contract;
mod showcase;
mod stock;
mod stock_contract;
mod storefront_contract;
mod warehouses;
