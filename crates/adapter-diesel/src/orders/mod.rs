//! Implementations of the order ports.
//!
//! Every transaction locks rows in this order: customer (see `customer_data::customer_locks`), charge, order, items by
//! ascending id (see `locks`), their stock, discount, data shown by storefronts.

mod assemble;
mod change;
mod charge_outcome;
mod delivery_terms;
mod discounts;
mod history;
mod notices;
mod place;
mod reader;
mod recurring;
mod refunds;
mod replace_lines;
mod reservations;
mod reserved_stock;
mod snapshot;
mod tickets;
mod unconfirmed;

pub(crate) use change::{apply, locked};
pub(crate) use charge_outcome::{ChargeNews, FollowUp, hear, waits_for_payment};
pub(crate) use place::place;
pub(crate) use reader::numbered;
pub(crate) use recurring::{RecurringLine, RecurringOrder, has_warehouse, place_recurring};
pub(crate) use refunds::{RefundChannel, RefundContext, add_outside_refund_entry, apply_refund_outcome, give_back};
pub(crate) use unconfirmed::admit_unconfirmed;
