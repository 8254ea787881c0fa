//! The ports of orders.
//!
//! Rows are locked in one order everywhere: customer (see `people::hold`), payment attempt, order, cards by ascending id
//! (see `shelf::holding`), their stock, discount, what storefronts show.

mod assemble;
mod attempts;
mod change;
mod discounts;
mod history;
mod place;
mod reader;
mod reservations;
mod settle;
mod snapshot;
mod stock;
mod verifications;
mod verify;
