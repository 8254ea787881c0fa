//! Responses to refusals of `kontor-webhooks`.

use crate::ApiError;
use actix_web::http::StatusCode;
use kontor_webhooks::{DeliveryRefusal, WebhookRefusal};

impl From<DeliveryRefusal> for ApiError {
    fn from(refusal: DeliveryRefusal) -> Self {
        let message = match refusal {
            DeliveryRefusal::AlreadyPending => "The delivery is already waiting to be sent.",
            DeliveryRefusal::WebhookInactive => "The webhook is not active.",
        };
        Self::Message(StatusCode::CONFLICT, message.to_owned())
    }
}

impl From<WebhookRefusal> for ApiError {
    fn from(refusal: WebhookRefusal) -> Self {
        match refusal {
            WebhookRefusal::Url(refusal) => Self::invalid("url", refusal),
            WebhookRefusal::TooMany => Self::invalid("application", "has reached the maximum number of webhooks"),
        }
    }
}
