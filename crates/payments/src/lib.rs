//! Charges, refunds, saved payment methods and fiscal receipts.
//!
//! **Owns** the states of charges and refunds, their purposes, the resolution of unknown outcomes, and the
//! handling of payments that differ from the request.
//!
//! **Invariants**
//! - A charge or a refund is stored before the acquirer is called, and every retry is the same request under the
//!   same key: money moves at most once.
//! - Outcomes are committed once, with all consequences, whatever their source and number; only the state read
//!   from the acquirer counts.
//! - Refunded amounts, including refunds in progress and requested ones, never exceed the received amount.
//! - A refund gets a new key only when the acquirer certainly refunded nothing.
//! - A deactivated saved method is never charged again.
//! - A receipt sums exactly to its amount; a receipt that is not registered in time is reported.
//!
//! **Refusals**: a declined or unknown charge is a result ([`ChargeResult`], [`PaymentRequested`]), not an error.
//! [`VerificationError`] and [`SavedMethodError`] are the errors for saved methods.
//!
//! **Ports**: [`ports::PaymentGateway`], [`ports::ChargeStore`], [`ports::RefundStore`],
//! [`ports::SavedMethodStore`], [`ports::VerificationStore`], [`ports::ReceiptStore`],
//! [`ports::ReceiptSettings`].
//!
//! **Services and their ports**; most also take a `Clock`, a `Random` or a `SecretCipher` of the kernel:
//!
//! | Service | Ports |
//! |---|---|
//! | [`ChargeService`] | `ChargeStore`, `PaymentGateway` |
//! | [`RefundService`] | `RefundStore`, `PaymentGateway` |
//! | [`ReceiptService`] | `ReceiptStore`, `PaymentGateway` |
//! | [`SavedMethodService`] | `SavedMethodStore` |
//! | [`verification::VerificationService`] | `VerificationStore`, and [`ChargeService`] |
//!
//! **Features**, none by default
//! - `mocks` adds a mock of every port.
//! - `testing` adds `testing::contract`: the promises of the stores, as functions that the tests of an adapter run;
//!   `testing::acquirer`, an acquirer in memory; and `testing::samples`, charges for tests of rules.
//!
//! ```toml
//! [dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel" }
//! kontor-payments = { path = "../kontor/crates/payments" }
//!
//! [dev-dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel", features = ["mocks"] }
//! kontor-payments = { path = "../kontor/crates/payments", features = ["mocks", "testing"] }
//! ```
//!
//! **When not to use it**
//! - An acquirer without idempotency keys: every retry relies on them.
//! - Holds that are captured later, or in parts: a payment is captured at once, in full.
//! - Payments that are split among several recipients.
//!
//! The response to a charge is lost, and a worker resolves the outcome:
//! ```
//! # #[cfg(feature = "mocks")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::{Arc, Mutex};
//!
//! use chrono::{DateTime, TimeDelta};
//! use kontor_kernel::testing::CountingRandom;
//! use kontor_kernel::{ChargeId, CounterpartyId, FixedClock, Money, ProjectId, SubscriptionId};
//! use kontor_payments::change::{Change, ChargeChange};
//! use kontor_payments::model::{
//!     Charge, ChargePurpose, ChargeRequest, ChargeState, GatewayPayment, GatewayStatus, NewCharge, PaymentMethod,
//!     ProviderId,
//! };
//! use kontor_payments::ports::{Answer, ChargeStored, MockChargeStore, MockPaymentGateway};
//! use kontor_payments::{ChargeResult, ChargeService, PaymentRequested};
//! use uuid::Uuid;
//!
//! // 1. Storage, here a mock that keeps one charge and its outcome.
//! let stored: Arc<Mutex<Option<Charge>>> = Arc::default();
//! let outcome: Arc<Mutex<Option<ChargeChange>>> = Arc::default();
//! let mut charges = MockChargeStore::new();
//! let kept = stored.clone();
//! charges.expect_store().returning(move |new| {
//!     let charge = Charge {
//!         id: ChargeId::new(1).unwrap(),
//!         project_id: new.project_id,
//!         application_id: new.application_id,
//!         counterparty_id: new.counterparty_id,
//!         state: ChargeState::Prepared,
//!         provider_id: None,
//!         request: new.request,
//!         confirmation_url: None,
//!         captured: Money::ZERO,
//!         refunded: Money::ZERO,
//!         refunding: Money::ZERO,
//!         checks: 0,
//!         asked_at: new.at,
//!         settled_at: None,
//!         created_at: new.at,
//!     };
//!     *kept.lock().unwrap() = Some(charge.clone());
//!     Ok(ChargeStored::New(charge))
//! });
//! let known = outcome.clone();
//! charges.expect_record().returning(move |_, change, _| {
//!     *known.lock().unwrap() = Some(change);
//!     Ok(Change::Done)
//! });
//! // A due charge is leased to one worker; here it is due once.
//! charges.expect_lease().times(2).returning(move |_, _, _| Ok(stored.lock().unwrap().take()));
//!
//! // 2. The acquirer takes the money, and its first response is lost.
//! let asked: Arc<Mutex<Vec<Uuid>>> = Arc::default();
//! let mut gateway = MockPaymentGateway::new();
//! let keys = asked.clone();
//! gateway.expect_create().returning(move |request| {
//!     let mut keys = keys.lock().unwrap();
//!     keys.push(request.key);
//!     if keys.len() == 1 {
//!         return Answer::Unknown { why: "the connection was closed".to_owned(), retry_after: None };
//!     }
//!     Answer::Known(GatewayPayment {
//!         renewal: None,
//!         id: ProviderId::parse("22e12f66-000f-5000-8000-18db351245c7").unwrap(),
//!         status: GatewayStatus::Succeeded,
//!         amount: request.amount,
//!         currency: request.currency.clone(),
//!         confirmation_url: None,
//!         reason: None,
//!         purpose: Some(request.purpose),
//!         key: Some(request.key),
//!         saved_method: None,
//!         receipt: None,
//!     })
//! });
//!
//! let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
//! let payments = ChargeService {
//!     charges: Arc::new(charges),
//!     gateway: Arc::new(gateway),
//!     clock: clock.clone(),
//!     random: Arc::new(CountingRandom::new()),
//! };
//!
//! // 3. The outcome is unknown, so the charge is not reported as failed.
//! let charged = payments
//!     .charge(NewCharge {
//!         project_id: ProjectId::new(1)?,
//!         application_id: None,
//!         counterparty_id: CounterpartyId::new(4)?,
//!         request: ChargeRequest {
//!             renewal: None,
//!             purpose: ChargePurpose::Subscription(SubscriptionId::new(7)?),
//!             key: Uuid::from_u128(5),
//!             amount: "499.00".parse()?,
//!             currency: "RUB".to_owned(),
//!             method: PaymentMethod::BankCard,
//!             description: "Subscription 7".to_owned(),
//!             return_url: "https://shop.example".to_owned(),
//!             save_method: false,
//!             saved_method: None,
//!             receipt: None,
//!         },
//!         next_check_at: DateTime::UNIX_EPOCH + kontor_payments::TAKEOVER_DELAY,
//!         at: DateTime::UNIX_EPOCH,
//!     })
//!     .await?;
//! assert!(matches!(charged, ChargeResult::Requested(_, PaymentRequested::OutcomeUnknown)));
//! assert!(matches!(*outcome.lock().unwrap(), Some(ChargeChange::Postponed { unanswered: true, .. })));
//!
//! // 4. The worker repeats the same request under the same key, and commits the outcome.
//! clock.advance(TimeDelta::minutes(1));
//! let round = payments.reconcile("worker 1", 10).await?;
//! assert_eq!((round.checked, round.settled), (1, 1));
//! assert!(matches!(*outcome.lock().unwrap(), Some(ChargeChange::Succeeded { .. })));
//! assert_eq!(*asked.lock().unwrap(), [Uuid::from_u128(5); 2]);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "mocks"))]
//! # fn main() {}
//! ```

pub mod change;
mod charging;
pub mod model;
pub mod ports;
mod receipts;
mod refunding;
mod saved_methods;
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of rules, of use cases and of adapters.

    pub mod acquirer;
    pub mod contract;
    pub mod memory;
    pub mod samples;
    pub mod strategies;
}
mod timing;
pub mod verification;

pub use charging::{
    CancelOutcome, ChargeResult, ChargeService, NotificationResult, PaymentRequested, ReconciledCharges,
};
pub use receipts::{ReceiptService, ReconciledReceipts};
pub use refunding::{ComparedRefunds, ReconciledRefunds, RefundNotificationResult, RefundService};
pub use saved_methods::{SavedMethodError, SavedMethodService};
pub use timing::{RECEIPT_OVERDUE, TAKEOVER_DELAY};
pub use verification::VerificationError;
