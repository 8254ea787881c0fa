use kontor_kernel::{RecordError, Refusal};

use crate::model::UrlRefusal;

/// Error of a use case of webhooks. A missing application is reported as not found.
pub type WebhookError = RecordError<WebhookRefusal>;

/// Refusals specific to webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookRefusal {
    /// The policy of this installation forbids the address (field `url`).
    #[error(transparent)]
    Url(#[from] UrlRefusal),
    /// The application has the maximum number of webhooks.
    #[error("an application has at most {most} webhooks", most = crate::model::Webhook::MAX_PER_APPLICATION)]
    TooMany,
}

impl Refusal for WebhookRefusal {}

/// Error of a use case of deliveries. A missing application or webhook is reported as not found.
pub type DeliveryError = RecordError<DeliveryRefusal>;

/// Refusals specific to deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryRefusal {
    /// The delivery is already waiting to be sent.
    #[error("the delivery is already waiting to be sent")]
    AlreadyPending,
    /// The webhook is inactive.
    #[error("the webhook is not active")]
    WebhookInactive,
}

impl Refusal for DeliveryRefusal {}
