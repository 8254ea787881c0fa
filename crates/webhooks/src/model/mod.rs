//! Webhooks, deliveries, and the policy for outbound calls.

mod circuit;
mod delivery;
mod host;
mod outbound;
mod request;
mod slots;
mod test_delivery;
mod webhook;

pub use circuit::{CircuitBreaker, MAX_PER_ENDPOINT};
pub use delivery::{
    Delivery, DeliveryState, DeliveryStatus, InvalidDeliveryState, Pending, ProjectDelivery, RETRY_AFTER_MINUTES,
    SendFailure, SendOutcome,
};
pub use host::is_public;
pub use outbound::{EndpointUrl, OutboundPolicy, UrlError, UrlRefusal};
pub use request::{DeliveryRequest, Message, PublicEvent};
pub use slots::{MAX_PER_PROJECT, WaitingEndpoint, allocate_slots, free_slots};
pub use test_delivery::TestDelivery;
pub use webhook::{IssuedWebhook, Webhook, WebhookChange, WebhookDraft, WebhookSecret};
