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
//! **Refusals**: [`WebhookError`] and [`DeliveryError`] are each a [`kontor_kernel::RecordError`] of the business
//! refusals: [`WebhookRefusal`] and [`DeliveryRefusal`]. [`model::UrlRefusal`] is the refusal of an address.
//!
//! **Ports**: [`ports::WebhookRepository`], [`ports::DeliveryLog`], [`ports::DeliveryQueue`],
//! [`ports::WebhookSender`] (the HTTP client), [`ports::Signer`] (HMAC-SHA256).
//!
//! **Services and their ports**; most also take a `Clock`, a `Random` or a `SecretCipher` of the kernel:
//!
//! | Service | Ports |
//! |---|---|
//! | [`WebhookService`] | `WebhookRepository` |
//! | [`DeliveryService`] | `WebhookRepository`, `DeliveryLog` |
//! | [`DeliveryWorker`] | `DeliveryQueue`, `WebhookSender`, `Signer` |
//!
//! **Features**, none by default
//! - `mocks` adds a mock of every port.
//! - `testing` adds `testing::contract`, the promises of the stores: fan-out, leases, attempts and limits, as functions
//!   that the tests of an adapter run; and `testing::memory`, a storage in memory.
//!
//! ```toml
//! [dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel" }
//! kontor-webhooks = { path = "../kontor/crates/webhooks" }
//!
//! [dev-dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel", features = ["mocks"] }
//! kontor-webhooks = { path = "../kontor/crates/webhooks", features = ["mocks", "testing"] }
//! ```
//!
//! **When not to use it**
//! - Receivers that need events in order, or exactly once: deliveries are independent, and an answer may be lost.
//! - Another schedule than that of the invariants: it is fixed.
//!
//! An employee adds a webhook, an order is paid, and a worker delivers the event at its second attempt, in memory:
//! ```
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::{Arc, Mutex};
//!
//! use chrono::{DateTime, TimeDelta};
//! use kontor_kernel::testing::{CountingRandom, PlainCipher, staff_with};
//! use kontor_kernel::{Clock, FixedClock, Permission, Resource};
//! use kontor_webhooks::model::{
//!     DeliveryRequest, EndpointUrl, OutboundPolicy, PublicEvent, SendOutcome, UrlRefusal, WebhookDraft,
//! };
//! use kontor_webhooks::ports::{Signer, WebhookSender};
//! use kontor_webhooks::testing::memory::InMemoryWebhooks;
//! use kontor_webhooks::{DeliveryRound, DeliveryWorker, WebhookError, WebhookRefusal, WebhookService};
//!
//! // 1. An HTTP client behind the port. Its first response is 503, the others are 204. A service signs with HMAC-SHA256.
//! #[derive(Default)]
//! struct Client(Mutex<Vec<DeliveryRequest>>);
//!
//! #[async_trait::async_trait]
//! impl WebhookSender for Client {
//!     async fn send(&self, request: DeliveryRequest) -> SendOutcome {
//!         let mut sent = self.0.lock().unwrap();
//!         sent.push(request);
//!         SendOutcome::Answered(if sent.len() == 1 { 503 } else { 204 })
//!     }
//! }
//!
//! struct NoSigner;
//!
//! impl Signer for NoSigner {
//!     fn hmac_sha256(&self, _: &[u8], _: &[u8]) -> [u8; 32] {
//!         [0xab; 32]
//!     }
//! }
//!
//! // 2. A webhook of an application. The policy refuses an internal address before anything is stored.
//! let store = Arc::new(InMemoryWebhooks::default());
//! let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
//! let webhooks = WebhookService {
//!     webhooks: store.clone(),
//!     policy: OutboundPolicy::default(),
//!     clock: clock.clone(),
//!     random: Arc::new(CountingRandom::new()),
//!     cipher: Arc::new(PlainCipher),
//! };
//! let employee = staff_with([Permission::create(Resource::Webhooks)]);
//! let shop = store.add_application(employee.project_id);
//! let draft = |url| EndpointUrl::parse(url).map(|url| WebhookDraft { name: None, url, is_active: true });
//! let refused = webhooks.create(&employee, shop, draft("https://169.254.169.254/")?).await;
//! let internal = WebhookRefusal::Url(UrlRefusal::InternalHost);
//! assert!(matches!(refused, Err(WebhookError::Refused(why)) if why == internal));
//! webhooks.create(&employee, shop, draft("https://shop.example/hook")?).await?;
//!
//! // 3. Rounds of a worker. A failed delivery is sent again a minute later, under the same ids.
//! let client = Arc::new(Client::default());
//! let worker = DeliveryWorker {
//!     queue: store.clone(),
//!     sender: client.clone(),
//!     signer: Arc::new(NoSigner),
//!     cipher: Arc::new(PlainCipher),
//!     random: Arc::new(CountingRandom::new()),
//!     clock: clock.clone(),
//! };
//! store.add_event(shop, PublicEvent::OrderPaid, r#"{"order_id":41}"#, clock.now());
//! assert_eq!(worker.dispatch().await?.deliveries, 1);
//! let first = worker.deliver_due("worker-1").await?;
//! assert_eq!(first, DeliveryRound { leased: 1, retried: 1, ..DeliveryRound::default() });
//! assert_eq!(worker.deliver_due("worker-1").await?, DeliveryRound::default());
//! clock.advance(TimeDelta::minutes(1));
//! let second = worker.deliver_due("worker-1").await?;
//! assert_eq!(second, DeliveryRound { leased: 1, delivered: 1, ..DeliveryRound::default() });
//!
//! let sent = client.0.lock().unwrap();
//! assert_eq!(sent[0].header("X-Webhook-Delivery-Id"), sent[1].header("X-Webhook-Delivery-Id"));
//! assert_ne!(sent[0].header("X-Webhook-Timestamp"), sent[1].header("X-Webhook-Timestamp"));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```
//!
//! The next attempt is a function of the result:
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
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of use cases and of adapters.

    pub mod contract;
    pub mod memory;
}
mod worker;

pub use deliveries::DeliveryService;
pub use endpoints::WebhookService;
pub use error::{DeliveryError, DeliveryRefusal, WebhookError, WebhookRefusal};
pub use worker::{DeliveryRound, DeliveryWorker};
