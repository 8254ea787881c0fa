use kontor_kernel::{AccessDenied, OrderId, RecordError, Refusal, StoreError, Violations};

use crate::lines::LinesRefused;
use crate::model::{CartRefused, TransitionRefused};
use crate::placement::OrderRefused;
use crate::refund::RefundRefused;

/// Errors of pricing a cart.
#[derive(Debug, thiserror::Error)]
pub enum CartError {
    /// The employee lacks the permission.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// Records named by the request that the project does not have, by field.
    #[error("the project does not have what the request names")]
    Missing(Violations),
    /// These items cannot be sold as requested.
    #[error(transparent)]
    Refused(#[from] CartRefused),
    /// Storage error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Errors of placing an order.
#[derive(Debug, thiserror::Error)]
pub enum PlacementError {
    /// The employee lacks the permission.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// Every reason for the refusal.
    #[error(transparent)]
    Refused(#[from] OrderRefused),
    /// The acquirer refused the payment. The order is stored as canceled; its stock and promo use are returned.
    #[error("the payment of order {order_id} was refused")]
    PaymentRefused {
        /// The canceled order.
        order_id: OrderId,
        /// Reason given by the acquirer, for the log.
        reason: String,
    },
    /// The customer was deleted.
    #[error("the customer account is deleted")]
    CustomerDeleted,
    /// Prices changed during every attempt; the same call may succeed later.
    #[error("prices or stock are changing too fast; retry")]
    Busy,
    /// Storage error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of a use case of stored orders. A customer gets not found for orders of other customers.
pub type OrderError = RecordError<OrderRefusal>;

/// Error of a use case of reports.
pub type ReportError = RecordError<ReportRefusal>;

/// Refusals specific to reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReportRefusal {
    /// More orders than this were paid in the period.
    #[error("must be chosen so that at most {0} orders were paid in the period")]
    TooManyOrders(u32),
}

impl Refusal for ReportRefusal {}

/// Refusals specific to orders.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderRefusal {
    /// The change of status is not allowed.
    #[error(transparent)]
    Transition(#[from] TransitionRefused),
    /// The named manager is not an employee of the project.
    #[error("there is no such employee")]
    UnknownManager,
    /// Delivery by courier requires an address.
    #[error("is required for a courier")]
    AddressRequired,
    /// The refund is refused.
    #[error(transparent)]
    Refund(#[from] RefundRefused),
    /// The order accepts no payment taken by an employee.
    #[error(transparent)]
    Unpayable(TransitionRefused),
    /// The change of lines is refused.
    #[error(transparent)]
    Lines(#[from] LinesRefused),
}

impl Refusal for OrderRefusal {}
