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
//!   `testing::memory` and `testing::acquirer`, a storage and an acquirer in memory; `testing::samples`, charges and
//!   refunds for tests of rules; and `testing::strategies` of `proptest`.
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
//! The response to a charge is lost, and a worker resolves the outcome, in memory:
//! ```
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use chrono::{DateTime, TimeDelta};
//! use kontor_kernel::testing::{CountingRandom, app_scope};
//! use kontor_kernel::{FixedClock, SubscriptionId};
//! use kontor_payments::model::{ChargePurpose, GatewayStatus, NewCharge};
//! use kontor_payments::ports::ChargeStore;
//! use kontor_payments::testing::acquirer::{Acquirer, AcquirerMode};
//! use kontor_payments::testing::memory::InMemoryPayments;
//! use kontor_payments::testing::samples::new_charge;
//! use kontor_payments::{ChargeResult, ChargeService, PaymentRequested};
//!
//! let store = Arc::new(InMemoryPayments::new(app_scope(1, 1)));
//! let customer = store.add_customer();
//! let acquirer = Arc::new(Acquirer::default());
//! let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
//! let payments = ChargeService {
//!     charges: store.clone(),
//!     gateway: acquirer.clone(),
//!     clock: clock.clone(),
//!     random: Arc::new(CountingRandom::new()),
//! };
//!
//! // 1. The acquirer creates the payment, and its response is lost: the charge is not reported as failed.
//! acquirer.set_mode(AcquirerMode::LosesTheAnswer);
//! let new = new_charge(ChargePurpose::Subscription(SubscriptionId::new(7)?), "499.00".parse()?);
//! let charged = payments.charge(NewCharge { counterparty_id: customer.counterparty_id, ..new }).await?;
//! let ChargeResult::Requested(charge, PaymentRequested::OutcomeUnknown) = charged else { panic!("{charged:?}") };
//!
//! // 2. The payer pays. The worker repeats the same request under the same key, and commits the outcome.
//! acquirer.settle(GatewayStatus::Succeeded);
//! acquirer.set_mode(AcquirerMode::Pending);
//! clock.advance(TimeDelta::hours(1));
//! let round = payments.reconcile("worker 1", 10).await?;
//! assert_eq!((round.checked, round.settled, acquirer.count()), (1, 1, 1));
//! let paid = ChargeStore::find(&*store, charge.id).await?.ok_or("it is stored")?;
//! assert_eq!(paid.captured.to_string(), "499.00");
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```
//!
//! A rule without storage: a payment of another amount does not pay a charge.
//! ```
//! # #[cfg(feature = "testing")]
//! # {
//! use kontor_kernel::{Money, OrderId};
//! use kontor_payments::model::{ChargePurpose, GatewayPayment, GatewayStatus};
//! use kontor_payments::testing::samples::{charge, payment_of};
//!
//! let charge = charge(ChargePurpose::Order(OrderId::new(7)?), "265.00".parse()?);
//! let payment = payment_of(&charge, GatewayStatus::Succeeded);
//! assert!(charge.ensure_matches(&payment).is_ok());
//! let less = GatewayPayment { amount: Money::ZERO, ..payment };
//! assert_eq!(charge.ensure_matches(&less).map_err(|differs| differs.part), Err("the amount"));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A use case with a mocked port: customers deactivate only their own methods.
//! ```
//! # #[cfg(feature = "mocks")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use chrono::DateTime;
//! use kontor_kernel::testing::{app_scope, customer_scope};
//! use kontor_kernel::{FixedClock, SavedMethodId};
//! use kontor_payments::ports::MockSavedMethodStore;
//! use kontor_payments::{SavedMethodError, SavedMethodService};
//!
//! let mut methods = MockSavedMethodStore::new();
//! methods.expect_deactivate().returning(|_, _, _| Ok(false));
//! let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
//! let service = SavedMethodService { methods: Arc::new(methods), clock };
//! let refused = service.deactivate(customer_scope(app_scope(1, 1)), SavedMethodId::new(7)?).await;
//! assert!(matches!(refused, Err(SavedMethodError::NotFound)));
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
