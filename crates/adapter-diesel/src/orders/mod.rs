//! The ports of orders.
//!
//! Rows are locked in one order everywhere: customer (see `customers::hold`), payment attempt, order, cards by ascending id
//! (see `catalog::holding`), their stock, discount, what storefronts show.

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
