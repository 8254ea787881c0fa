//! Responses to refusals of `kontor-orders` and `kontor-payments`.

use actix_web::http::StatusCode;
use kontor_orders::lines::LinesRefused;
use kontor_orders::model::TransitionRefused;
use kontor_orders::tickets::ScanRefused;
use kontor_orders::{OrderRefusal, PlacementError, ReportRefusal};
use kontor_payments::VerificationError;

use crate::{ApiError, NamedError, NextAction};

impl From<PlacementError> for ApiError {
    fn from(error: PlacementError) -> Self {
        match error {
            PlacementError::Denied(denied) => denied.into(),
            PlacementError::Refused(refused) => refused.violations().into(),
            PlacementError::PaymentRefused { order_id, reason } => {
                tracing::warn!(order = %order_id, %reason, "an order is canceled: the acquirer declined its payment");
                let message = "The payment could not be created; the order is canceled.".to_owned();
                Self::Message(StatusCode::BAD_GATEWAY, message)
            }
            PlacementError::CustomerDeleted => Self::unauthenticated("Unauthenticated."),
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
            OrderRefusal::AddressRequired => Self::invalid("address", refusal),
            OrderRefusal::Refund(refused) => refused.violations().into(),
            OrderRefusal::Lines(refused) => refused.into(),
            OrderRefusal::Unpayable(refused) => {
                let code = match refused {
                    TransitionRefused::AlreadyPaid => "order_already_paid",
                    TransitionRefused::OnlyAcquirerPays => "order_paid_online",
                    TransitionRefused::Final(_) | TransitionRefused::NotAllowed { .. } => "order_final",
                };
                NamedError::new(StatusCode::CONFLICT, code, NextAction::ContactSupport, refused.to_string()).into()
            }
        }
    }
}

impl From<LinesRefused> for ApiError {
    fn from(refused: LinesRefused) -> Self {
        let message = refused.to_string();
        let conflict = |code, next| NamedError::new(StatusCode::CONFLICT, code, next, message.clone()).into();
        match refused {
            LinesRefused::UnknownLine => Self::not_found(),
            LinesRefused::Invalid(violations) => violations.into(),
            LinesRefused::Payment(problem) => Self::invalid("payment_method_type", problem),
            LinesRefused::Final(_) | LinesRefused::Recurring => conflict("order_final", NextAction::ContactSupport),
            LinesRefused::LastLine => conflict("order_last_line", NextAction::FixInput),
            LinesRefused::RefundInProgress => conflict("order_refund_pending", NextAction::Wait),
            LinesRefused::PaymentOpen => conflict("order_payment_open", NextAction::Wait),
            LinesRefused::PaymentOutcomeUnknown => conflict("order_payment_unclear", NextAction::Wait),
            LinesRefused::ChangedMeanwhile => conflict("order_changed_meanwhile", NextAction::Restart),
            LinesRefused::CustomerDeleted => conflict("order_customer_left", NextAction::ContactSupport),
            LinesRefused::Stale => Self::Message(StatusCode::SERVICE_UNAVAILABLE, message),
        }
    }
}

impl From<ReportRefusal> for ApiError {
    fn from(refusal: ReportRefusal) -> Self {
        Self::invalid("to", refusal)
    }
}

impl From<ScanRefused> for ApiError {
    fn from(refused: ScanRefused) -> Self {
        match refused {
            ScanRefused::Denied(denied) => denied.into(),
            ScanRefused::Store(error) => error.into(),
        }
    }
}

impl From<VerificationError> for ApiError {
    fn from(error: VerificationError) -> Self {
        match error {
            VerificationError::PaymentRefused { id, reason } => {
                tracing::warn!(
                    verification = %id, %reason,
                    "a verification is closed: the acquirer declined its payment"
                );
                let message = "The payment could not be created.".to_owned();
                Self::Message(StatusCode::BAD_GATEWAY, message)
            }
            VerificationError::CustomerDeleted => Self::unauthenticated("Unauthenticated."),
            VerificationError::Store(error) => error.into(),
        }
    }
}
