//! Responses to refusals of `kontor-payments`.

use crate::ApiError;
use actix_web::http::StatusCode;
use kontor_payments::VerificationError;

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
