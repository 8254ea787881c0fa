//! The ports of orders.
//!
//! Rows are locked in one order everywhere: customer (see `customers::hold`), payment attempt, order, inventories by ascending id, discount, items.

mod assemble;
mod attempts;
mod change;
pub(crate) mod discounts;
mod history;
mod place;
mod reader;
mod reservations;
mod settle;
mod snapshot;
mod stock;
mod verifications;
mod verify;
