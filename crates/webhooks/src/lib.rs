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
//!   that the tests of an adapter run.
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
//!
//! A worker delivers a webhook at its second attempt:
//! ```
//! # #[cfg(feature = "mocks")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::{Arc, Mutex};
//!
//! use chrono::{DateTime, TimeDelta};
//! use kontor_kernel::testing::{CountingRandom, PlainCipher};
//! use kontor_kernel::{DeliveryId, FixedClock, WebhookId};
//! use kontor_webhooks::model::{
//!     CircuitBreaker, DeliveryRequest, EndpointUrl, Message, OutboundPolicy, Pending, SendOutcome, UrlRefusal,
//! };
//! use kontor_webhooks::ports::{LeasedDelivery, MockDeliveryQueue, MockSigner, WebhookSender};
//! use kontor_webhooks::{DeliveryWorker, DeliveryRound};
//! use uuid::Uuid;
//!
//! // 1. The policy checks an address before anything is stored.
//! let policy = OutboundPolicy::default();
//! assert_eq!(policy.check(&EndpointUrl::parse("https://shop.example/hook")?), Ok(()));
//! assert_eq!(policy.check(&EndpointUrl::parse("https://169.254.169.254/")?), Err(UrlRefusal::InternalHost));
//! assert!(EndpointUrl::parse("https://0x7f.1/").is_err());
//!
//! // 2. An HTTP client behind the port. Its first response is 503, the others are 204.
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
//! // 3. A queue, here a mock with one delivery. It leases due deliveries and records the result of each attempt.
//! let due = Arc::new(Mutex::new(Some(Pending::due(DateTime::UNIX_EPOCH))));
//! let mut queue = MockDeliveryQueue::new();
//! let waiting = due.clone();
//! queue.expect_lease().returning(move |_, _, now| {
//!     // A leased delivery is not handed out again until its attempt is recorded.
//!     let pending = waiting.lock().unwrap().take_if(|pending| pending.next_attempt_at() <= now);
//!     let leased = pending.map(|pending| LeasedDelivery {
//!         id: DeliveryId::new(1).unwrap(),
//!         pending,
//!         webhook_id: WebhookId::new(1).unwrap(),
//!         circuit: CircuitBreaker::default(),
//!         url: "https://shop.example/hook".to_owned(),
//!         sealed_secret: "sealed:whsec_key".to_owned(),
//!         message: Message {
//!             event: "order.paid".to_owned(),
//!             event_id: Uuid::from_u128(1),
//!             delivery_id: Uuid::from_u128(2),
//!             body: r#"{"order_id":41}"#.to_owned(),
//!         },
//!     });
//!     Ok(leased.into_iter().collect())
//! });
//! let recorded = due.clone();
//! queue.expect_record_attempt().returning(move |attempt| {
//!     *recorded.lock().unwrap() = match attempt.to {
//!         kontor_webhooks::model::DeliveryState::Pending(pending) => Some(pending),
//!         _ => None,
//!     };
//!     Ok(true)
//! });
//! let mut signer = MockSigner::new();
//! signer.expect_hmac_sha256().returning(|_, _| [0xab; 32]);
//!
//! // 4. Rounds of a worker. A failed delivery is sent again a minute later, under the same ids.
//! let (client, clock) = (Arc::new(Client::default()), Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)));
//! let worker = DeliveryWorker {
//!     queue: Arc::new(queue),
//!     sender: client.clone(),
//!     signer: Arc::new(signer),
//!     cipher: Arc::new(PlainCipher),
//!     random: Arc::new(CountingRandom::new()),
//!     clock: clock.clone(),
//! };
//! let first = worker.deliver_due("worker-1").await?;
//! assert_eq!(first, DeliveryRound { leased: 1, retried: 1, ..DeliveryRound::default() });
//! assert_eq!(worker.deliver_due("worker-1").await?, DeliveryRound::default());
//! clock.advance(TimeDelta::minutes(1));
//! assert_eq!(
//!     worker.deliver_due("worker-1").await?,
//!     DeliveryRound { leased: 1, delivered: 1, ..DeliveryRound::default() }
//! );
//!
//! let sent = client.0.lock().unwrap();
//! assert_eq!(sent[0].header("X-Webhook-Delivery-Id"), sent[1].header("X-Webhook-Delivery-Id"));
//! assert_ne!(sent[0].header("X-Webhook-Timestamp"), sent[1].header("X-Webhook-Timestamp"));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "mocks"))]
//! # fn main() {}
//! ```

mod deliveries;
mod endpoints;
mod error;
pub mod model;
pub mod ports;
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of adapters.

    pub mod contract;
}
mod worker;

pub use deliveries::DeliveryService;
pub use endpoints::WebhookService;
pub use error::{DeliveryError, DeliveryRefusal, WebhookError, WebhookRefusal};
pub use worker::{DeliveryRound, DeliveryWorker};
