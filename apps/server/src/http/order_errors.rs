//! What orders refuse, as it is told on both surfaces.

use actix_web::http::StatusCode;
use kontor_orders::{OrderRefusal, PlacementError};

use super::ApiError;

impl From<PlacementError> for ApiError {
    fn from(error: PlacementError) -> Self {
        match error {
            PlacementError::Denied(denied) => denied.into(),
            PlacementError::Refused(refused) => refused.violations().into(),
            PlacementError::PaymentRefused { order_id, reason } => {
                tracing::warn!(order = %order_id, %reason, "an order is canceled: its payment was refused");
                let message = "The payment could not be created; the order is canceled.".to_owned();
                Self::Message(StatusCode::BAD_GATEWAY, message)
            }
            PlacementError::CustomerGone => Self::unauthenticated("Unauthenticated."),
            PlacementError::Busy => Self::Message(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
            PlacementError::Store(error) => error.into(),
        }
    }
}

impl From<OrderRefusal> for ApiError {
    fn from(refusal: OrderRefusal) -> Self {
        match refusal {
            OrderRefusal::Transition(refused) => Self::invalid("status_id", refused),
            OrderRefusal::UnknownManager => Self::invalid("manager_id", refusal),
            OrderRefusal::Refund(refused) => refused.violations().into(),
        }
    }
}
