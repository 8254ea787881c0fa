//! Implementations of the subscription ports.
//!
//! An attempt is stored with its order (`period_orders`) and its charge. Every transaction locks rows in this order:
//! customer, charge, order, subscription.

mod attempts;
mod cases;
mod charge_outcome;
mod claims;
mod forecasts;
mod method_changes;
mod period_orders;
mod plans;
mod register;
mod rows;
mod schedule;
mod store;
mod write;

pub(crate) use cases::{Selection, cases};
pub(crate) use charge_outcome::{apply_charge, apply_doubt, refund_periods};
pub(crate) use method_changes::save_method;
