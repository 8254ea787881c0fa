//! The ports of payments: charges, refunds, saved methods, verifications.
//!
//! What the outcome of a charge means for an order or a customer is not known here; see `charge_outcomes`. Rows are locked in
//! one order everywhere: customer, refund, charge, and what the charge is for.

mod charge_rows;
mod charges;
mod queues;
mod refund_rows;
mod refunds;
mod saved_methods;
mod verifications;

pub(crate) use charge_rows::{Key, insert, load};
pub(crate) use charges::{Known, record, store};
pub(crate) use queues::{CHARGES, REFUNDS, lease_charge};
