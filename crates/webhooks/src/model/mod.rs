//! Webhooks, what is sent to them, and where nothing may be sent.

mod address;
mod delivery;
mod event;
mod host;
mod outbound;
mod request;
mod webhook;

pub use address::is_public;
pub use delivery::{BrokenState, Delivery, DeliveryState, Pending, RETRY_AFTER_MINUTES, SendFailure, SendOutcome};
pub use event::PublicEvent;
pub use outbound::{EndpointUrl, OutboundPolicy, UrlError, UrlRefusal};
pub use request::{DeliveryRequest, Message};
pub use webhook::{IssuedWebhook, Webhook, WebhookDraft, WebhookPatch, WebhookSecret};
