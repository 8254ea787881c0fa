use kontor_kernel::{Line, Money, NomenclatureId, Quantity, ReservationId, Violations};

use crate::model::{Order, OrderStatus};
use crate::placement::PaymentProblem;

/// What is to become of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEdit {
    /// An item that is not in the order yet.
    Add {
        /// The item.
        item: NomenclatureId,
        /// How many pieces.
        quantity: Quantity,
        /// What one piece costs; `None` for what it is sold at.
        price: Option<Money>,
    },
    /// More pieces, fewer pieces, or another price. `None` leaves what is.
    Set {
        /// The line.
        line: ReservationId,
        /// How many pieces are left afterwards.
        quantity: Option<Quantity>,
        /// What one piece costs.
        price: Option<Money>,
    },
    /// None of it.
    Remove {
        /// The line.
        line: ReservationId,
    },
}

impl LineEdit {
    /// The line it is about.
    pub fn line(self) -> Option<ReservationId> {
        match self {
            Self::Add { .. } => None,
            Self::Set { line, .. } | Self::Remove { line } => Some(line),
        }
    }
}

/// What staff want to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineCommand {
    /// What.
    pub edit: LineEdit,
    /// Of a paid order: whether the pieces go back to the warehouses they came from, which they do unless it is `false`.
    pub restock: Option<bool>,
    /// Of a paid order: why money goes back.
    pub reason: Option<Line<250>>,
}

/// How the lines of an order may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Freely.
    Unpaid,
    /// Pieces and money go back, nothing comes.
    Paid,
}

impl Standing {
    /// How the lines of this order may change. Canceled orders, those that were handed over and payments of subscriptions stay
    /// as they are, and whose money is on its way back is not changed meanwhile.
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
                Some(_) => Err(LinesRefused::RefundUnderWay),
            },
        }
    }
}

/// Why the lines of an order stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinesRefused {
    /// Canceled orders and those that were handed over.
    #[error("the lines of an order that is {0} stay as they are")]
    Final(OrderStatus),
    /// Those of a payment of a subscription are what the customer consented to.
    #[error("the lines of a payment of a subscription stay as they are")]
    Recurring,
    /// The order has no such line.
    #[error("the order has no such line")]
    UnknownLine,
    /// It would be an order of nothing.
    #[error("it is the last line of the order: cancel the order instead")]
    LastLine,
    /// Money of the order is on its way back.
    #[error("money of the order is on its way back: wait until it has arrived, or request another refund")]
    RefundUnderWay,
    /// The acquirer keeps the payment open.
    #[error("the order waits for a payment that cannot be taken back: wait for its outcome, or cancel the order")]
    PaymentOpen,
    /// Nobody knows how the payment stands.
    #[error("how the payment of the order stands is not known yet: try again later")]
    PaymentUnclear,
    /// The money arrived, or the order moved, while it was being changed.
    #[error("the order was paid or moved meanwhile: look at it again")]
    Overtaken,
    /// Nobody is there to pay another sum.
    #[error("the customer has left: cancel the order instead")]
    CustomerGone,
    /// Others change what it was decided on; the same call may succeed later.
    #[error("prices, stock or the order itself changed meanwhile: try again")]
    Stale,
    /// What is to be paid cannot be paid online.
    #[error(transparent)]
    Payment(#[from] PaymentProblem),
    /// These fields are wrong.
    #[error("the line cannot be changed like that")]
    Wrong(Violations),
}

impl LinesRefused {
    pub(super) fn wrong(field: &str, message: impl ToString) -> Self {
        Self::Wrong(Violations::one(field, message))
    }
}
