//! Rows of subscriptions: the data that decisions need, and the writes of a decision.
//!
//! Orders and charges of their payments belong to `charge_outcomes`. Every transaction locks rows in this order:
//! customer, charge, order, subscription.

mod cases;
mod claims;
mod plans;
mod register;
mod rows;
mod schedule;
mod write;

pub(crate) use cases::{Selection, cases, is_seen_by, lock, seen_by, view};
pub(crate) use claims::{claim, is_claimed};
pub(crate) use plans::plan;
pub(crate) use register::consents;
pub(crate) use rows::{PAYMENT_COLUMNS, PaymentRow};
pub(crate) use write::{ChangeContext, NewPayment, consent, first, insert, insert_payment, put_off, write};
