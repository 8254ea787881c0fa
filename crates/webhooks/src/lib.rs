//! Webhook endpoints, signing and the delivery state machine.
//!
//! **Owns** the webhooks of an application with their signing secrets, the schedule of deliveries, and the rules
//! about which addresses the service may call.
//!
//! **Invariants**
//! - A secret is shown at creation and at rotation; only its sealed form is stored.
//! - A delivery is sent at most six times: the retries follow 1, 5, 30, 120 and 720 minutes after the failure
//!   before. Then it is `failed` until an employee resends it.
//! - The event id stays the same for one event, the delivery id for one event and one webhook, however often it
//!   is sent. The timestamp and the signature are recomputed for every attempt.
//! - A delivery is sent under a lease, so that several workers never send it at the same time.
//! - An internal address is never called unless [`model::OutboundPolicy`] allows it.
//!
//! **Ports**: [`ports::WebhookRepository`], [`ports::DeliveryLog`], [`ports::DeliveryQueue`],
//! [`ports::WebhookSender`], [`ports::Signer`].
//!
//! ```
//! use chrono::{DateTime, TimeDelta};
//! use kontor_webhooks::model::{DeliveryState, Pending, SendOutcome};
//!
//! let noon = DateTime::UNIX_EPOCH;
//! let state = Pending::due(noon).after(&SendOutcome::Answered(500), noon);
//! assert_eq!(state.next_attempt_at(), Some(noon + TimeDelta::minutes(1)));
//! assert_eq!(state.status(), "pending");
//! ```

mod deliveries;
mod endpoints;
mod error;
pub mod model;
pub mod ports;
mod worker;

pub use deliveries::DeliveryService;
pub use endpoints::WebhookService;
pub use error::{DeliveryError, DeliveryRefusal, WebhookError, WebhookRefusal};
pub use worker::{DeliveryRound, DeliveryWorker};

/// Compiles and runs the example of the reuse guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-webhooks.md")]
struct ReuseGuide;
