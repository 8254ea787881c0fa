use kontor_kernel::{AccessDenied, OrderId, RecordError, Refusal, StoreError, Violations};

use crate::lines::LinesRefused;
use crate::model::{CartRefused, TransitionRefused};
use crate::placement::OrderRefused;
use crate::refund::RefundRefused;

/// Why a cart cannot be priced.
#[derive(Debug, thiserror::Error)]
pub enum CartError {
    /// The employee may not.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// What the request names and the project does not have, by field.
    #[error("the project does not have what the request names")]
    Missing(Violations),
    /// These items cannot be sold as asked.
    #[error(transparent)]
    Refused(#[from] CartRefused),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an order was not placed.
#[derive(Debug, thiserror::Error)]
pub enum PlacementError {
    /// The employee may not.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// Every reason against it.
    #[error(transparent)]
    Refused(#[from] OrderRefused),
    /// The acquirer refused the payment: the order is stored as canceled, its goods and promo use are returned.
    #[error("the payment of order {order_id} was refused")]
    PaymentRefused {
        /// The canceled order.
        order_id: OrderId,
        /// The acquirer's reason, for the log.
        reason: String,
    },
    /// The customer has left.
    #[error("the customer has left")]
    CustomerGone,
    /// Prices changed faster than an order could be decided; the same call may succeed later.
    #[error("prices or stock are changing too fast, try again")]
    Busy,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a use case of stored orders is refused. An order is not found, either, by customers who did not make it.
pub type OrderError = RecordError<OrderRefusal>;

/// What only orders refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderRefusal {
    /// The order cannot move there.
    #[error(transparent)]
    Transition(#[from] TransitionRefused),
    /// The named manager is not an employee of the project.
    #[error("there is no such employee")]
    UnknownManager,
    /// A courier brings the order, and must know where to.
    #[error("is required for a courier")]
    AddressRequired,
    /// Nothing goes back.
    #[error(transparent)]
    Refund(#[from] RefundRefused),
    /// The order takes no money by hand.
    #[error(transparent)]
    Unpayable(TransitionRefused),
    /// The lines stay as they are.
    #[error(transparent)]
    Lines(#[from] LinesRefused),
}

impl Refusal for OrderRefusal {}
