use kontor_kernel::{AccessDenied, StoreError};

use crate::model::UrlRefusal;

/// Why a use case of webhooks is refused.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The employee may not do this, or the application belongs to another project.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such application.
    #[error("there is no such application")]
    UnknownApplication,
    /// The application has no such webhook.
    #[error("there is no such webhook")]
    NotFound,
    /// The policy of this installation forbids the address (field `url`).
    #[error(transparent)]
    Url(#[from] UrlRefusal),
    /// The application has as many webhooks as it may have.
    #[error("an application has at most {most} webhooks", most = crate::model::Webhook::MOST_PER_APPLICATION)]
    TooMany,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a use case of deliveries is refused.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The employee may not do this, or the application belongs to another project.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such application.
    #[error("there is no such application")]
    UnknownApplication,
    /// The application has no such webhook.
    #[error("there is no such webhook")]
    UnknownWebhook,
    /// The webhook has no such delivery.
    #[error("there is no such delivery")]
    NotFound,
    /// The delivery is already waiting to be sent.
    #[error("the delivery is already waiting to be sent")]
    AlreadyPending,
    /// An inactive webhook is sent nothing.
    #[error("the webhook is not active")]
    WebhookInactive,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
