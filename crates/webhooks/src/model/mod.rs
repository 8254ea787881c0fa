//! Webhooks, deliveries, and the policy for outbound calls.

mod delivery;
mod outbound;
mod request;
mod slots;
mod webhook;

pub use delivery::{
    Delivery, DeliveryState, DeliveryStatus, InvalidDeliveryState, Pending, ProjectDelivery, RETRY_AFTER_MINUTES,
    SendFailure, SendOutcome, TestDelivery,
};
pub use outbound::{EndpointUrl, OutboundPolicy, UrlError, UrlRefusal, is_public};
pub use request::{DeliveryRequest, Message, PublicEvent};
pub use slots::{CircuitBreaker, MAX_PER_ENDPOINT, MAX_PER_PROJECT, WaitingEndpoint, allocate_slots, free_slots};
pub use webhook::{IssuedWebhook, Webhook, WebhookChange, WebhookDraft, WebhookSecret};
