//! The catalogue: what a project sells, where it lies and which application shows it.
#![expect(clippy::indexing_slicing, reason = "tests fail by panicking")]

mod assortment;
mod cards;
mod plans;
pub mod records;
mod services;
mod showcase;
mod stock;
mod warehouses;
