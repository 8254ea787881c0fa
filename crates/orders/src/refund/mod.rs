//! Refunds of paid orders: money, and goods with it.

mod decide;
mod model;
mod outcome;
mod receipt;
#[cfg(test)]
mod tests;

pub use decide::{decide, remaining_refund};
pub(crate) use decide::{finish, money_of, returned};
pub use model::{
    DecidedRefund, RefundCommand, RefundLine, RefundProblem, RefundRefused, RefundScope, ReturnEffect, ReturnedLine,
};
pub use outcome::{OutsideRefund, SettledRefund, outside_refund};
pub use receipt::receipt_of;
