//! Implementations of the subscription ports.
//!
//! An attempt is stored with its order and its charge. Every transaction locks rows in this order:
//! customer, charge, order, subscription.

mod attempts;
mod cases;
mod charge_outcome;
mod method_changes;
mod plans;
mod register;
mod store;
mod write;

pub(crate) use cases::{Selection, cases};
pub(crate) use charge_outcome::{apply_charge, apply_doubt, refund_periods};
pub(crate) use method_changes::save_method;
