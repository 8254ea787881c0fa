//! Webhooks, deliveries, and the policy for outbound calls.

mod delivery;
mod outbound;
mod request;
mod webhook;

pub use delivery::{
    CircuitBreaker, Delivery, DeliveryState, DeliveryStatus, InvalidDeliveryState, MAX_PER_ENDPOINT, MAX_PER_PROJECT,
    Pending, ProjectDelivery, RETRY_AFTER_MINUTES, SendFailure, SendOutcome, TestDelivery, WaitingEndpoint,
    allocate_slots, free_slots,
};
pub use outbound::{EndpointUrl, OutboundPolicy, UrlError, UrlRefusal, is_public};
pub use request::{DeliveryRequest, Message, PublicEvent};
pub use webhook::{IssuedWebhook, Webhook, WebhookChange, WebhookDraft, WebhookSecret};
