//! The rows of subscriptions: what they are decided by, and what is written of a decision.
//!
//! Orders and charges of their payments are not known here; see `charge_outcomes`. Rows are locked in one order everywhere:
//! customer, charge, order, subscription.

mod cases;
mod claims;
mod plans;
mod register;
mod rows;
mod schedule;
mod write;

pub(crate) use cases::{Wanted, cases, is_seen_by, lock, seen_by, view};
pub(crate) use claims::{claim, is_claimed};
pub(crate) use plans::plan;
pub(crate) use register::consents;
pub(crate) use rows::{PAYMENT_COLUMNS, PaymentRow};
pub(crate) use write::{NewPayment, Since, consent, first, insert, insert_payment, put_off, write};
