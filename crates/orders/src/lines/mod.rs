//! Changes of the lines of an order.
//!
//! Lines of an unpaid order change freely: prices, reservations and the payment follow in one commit. Lines of a
//! paid order can only be refunded. Preview and change use one function, [`decide`].

mod decide;
mod preview;
#[cfg(test)]
mod properties;
mod service;
#[cfg(test)]
mod tests;
mod work;

use kontor_kernel::{Line, Money, NomenclatureId, Quantity, ReservationId, Violations};

use crate::model::{Order, OrderStatus};
use crate::placement::PaymentProblem;

pub use decide::{Decided, Terms, decide};
pub use preview::{OrderPreview, PreviewLine, StockEffectOn};
pub use service::LinesChanged;

/// Edit of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEdit {
    /// Adds an item that is not in the order yet.
    Add {
        /// Item.
        item: NomenclatureId,
        /// Number of units.
        quantity: Quantity,
        /// Price per unit; `None` for the current sales price.
        price: Option<Money>,
    },
    /// Changes quantity or price. `None` keeps the current value.
    Set {
        /// Line.
        line: ReservationId,
        /// Number of units after the change.
        quantity: Option<Quantity>,
        /// Price per unit.
        price: Option<Money>,
    },
    /// Removes the line.
    Remove {
        /// Line.
        line: ReservationId,
    },
}

impl LineEdit {
    /// Line that the edit concerns.
    pub fn line(self) -> Option<ReservationId> {
        match self {
            Self::Add { .. } => None,
            Self::Set { line, .. } | Self::Remove { line } => Some(line),
        }
    }
}

/// Change of lines, by staff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineCommand {
    /// Edit.
    pub edit: LineEdit,
    /// For a paid order: `false` to write the units off. Otherwise they return to their warehouses.
    pub restock: Option<bool>,
    /// For a paid order: reason of the refund.
    pub reason: Option<Line<250>>,
}

/// Way in which the lines of an order may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditMode {
    /// Any change.
    Unpaid,
    /// Refunds only.
    Paid,
}

impl EditMode {
    /// Returns how the lines of this order may change. Refuses canceled and issued orders, payments of
    /// subscriptions, and orders with a refund in progress.
    pub fn of(order: &Order) -> Result<Self, LinesRefused> {
        if order.is_recurring {
            return Err(LinesRefused::Recurring);
        }
        match order.status {
            OrderStatus::Issued | OrderStatus::Canceled => Err(LinesRefused::Final(order.status)),
            OrderStatus::Created
            | OrderStatus::WaitingForPayment
            | OrderStatus::InProcessing
            | OrderStatus::ReadyForPickup
            | OrderStatus::Paid => match order.paid_at {
                None => Ok(Self::Unpaid),
                Some(_) if order.refunding.is_zero() => Ok(Self::Paid),
                Some(_) => Err(LinesRefused::RefundInProgress),
            },
        }
    }
}

/// Reasons why the lines of an order cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinesRefused {
    /// The order is canceled or was handed over.
    #[error("the lines of an order that is {0} cannot be changed")]
    Final(OrderStatus),
    /// The order is the payment of a subscription; the customer consented to its lines.
    #[error("the lines of a subscription payment cannot be changed")]
    Recurring,
    /// The order has no such line.
    #[error("the order has no such line")]
    UnknownLine,
    /// The order would have no lines.
    #[error("it is the last line of the order: cancel the order instead")]
    LastLine,
    /// A refund of the order is in progress.
    #[error("a refund of the order is in progress: wait until it is complete, or request another refund")]
    RefundInProgress,
    /// The acquirer did not cancel the open payment.
    #[error("the order waits for a payment that cannot be canceled: wait for its outcome, or cancel the order")]
    PaymentOpen,
    /// The outcome of the payment is unknown.
    #[error("the payment status of the order is not known yet: try again later")]
    PaymentOutcomeUnknown,
    /// The money arrived, or the order changed its status, during the change.
    #[error("the order was paid or changed by another request: load it again and retry")]
    ChangedMeanwhile,
    /// The customer was deleted and cannot pay another sum.
    #[error("the customer account is deleted: cancel the order instead")]
    CustomerDeleted,
    /// Data the decision was based on changed; the same call may succeed later.
    #[error("prices, stock or the order changed during the request: retry")]
    Stale,
    /// The new sum cannot be paid online.
    #[error(transparent)]
    Payment(#[from] PaymentProblem),
    /// These fields are wrong.
    #[error("the line cannot be changed as requested")]
    Invalid(Violations),
}

impl LinesRefused {
    fn invalid(field: &str, message: impl ToString) -> Self {
        Self::Invalid(Violations::single(field, message))
    }
}
