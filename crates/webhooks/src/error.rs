use kontor_kernel::{RecordError, Refusal};

use crate::model::UrlRefusal;

/// Why a use case of webhooks is refused; an application that is not there is not found either.
pub type WebhookError = RecordError<WebhookRefusal>;

/// What only webhooks refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookRefusal {
    /// The policy of this installation forbids the address (field `url`).
    #[error(transparent)]
    Url(#[from] UrlRefusal),
    /// The application has as many webhooks as it may have.
    #[error("an application has at most {most} webhooks", most = crate::model::Webhook::MOST_PER_APPLICATION)]
    TooMany,
}

impl Refusal for WebhookRefusal {}

/// Why a use case of deliveries is refused; an application or a webhook that is not there is not found either.
pub type DeliveryError = RecordError<DeliveryRefusal>;

/// What only deliveries refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryRefusal {
    /// The delivery is already waiting to be sent.
    #[error("the delivery is already waiting to be sent")]
    AlreadyPending,
    /// An inactive webhook is sent nothing.
    #[error("the webhook is not active")]
    WebhookInactive,
}

impl Refusal for DeliveryRefusal {}
