//! Refunds of paid orders: money, and goods with it.

mod decide;
mod model;
mod receipt;
#[cfg(test)]
mod tests;

pub use decide::{decide, external_refund, remaining_refund};
pub(crate) use decide::{finish, money_of, returned};
pub use model::{
    DecidedRefund, RefundCommand, RefundLine, RefundProblem, RefundRefused, RefundScope, ReturnEffect, ReturnedLine,
};
pub use receipt::receipt_of;
