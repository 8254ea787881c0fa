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
//! **Ports**: [`ports::PaymentGateway`], [`ports::ChargeStore`], [`ports::RefundStore`],
//! [`ports::SavedMethodStore`], [`ports::VerificationStore`], [`ports::ReceiptStore`],
//! [`ports::ReceiptSettings`]. With the feature `testing`, `testing::contract` contains the contract of the
//! stores, as functions that the tests of an adapter run.
//!
//! A use case with mocked ports (feature `mocks`): a lost answer leaves the outcome unknown.
//! ```
//! # #[cfg(feature = "mocks")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use chrono::DateTime;
//! use kontor_kernel::testing::CountingRandom;
//! use kontor_kernel::{ChargeId, CounterpartyId, FixedClock, Money, ProjectId, SubscriptionId};
//! use kontor_payments::change::{Change, ChargeChange};
//! use kontor_payments::model::{ChargePurpose, ChargeRequest, NewCharge, PaymentMethod};
//! use kontor_payments::ports::{Answer, ChargeStored, MockChargeStore, MockPaymentGateway};
//! use kontor_payments::{ChargeResult, ChargeService, Opened};
//! use uuid::Uuid;
//!
//! let mut charges = MockChargeStore::new();
//! charges.expect_store().returning(|new| Ok(ChargeStored::New(new.stored_as(ChargeId::new(1).unwrap()))));
//! charges.expect_record().returning(|_, change, _| {
//!     assert!(matches!(change, ChargeChange::Postponed { unanswered: true, .. }));
//!     Ok(Change::Done)
//! });
//! let mut gateway = MockPaymentGateway::new();
//! gateway.expect_create().return_const(Answer::Unknown { why: "timed out".to_owned(), retry_after: None });
//! let payments = ChargeService {
//!     charges: Arc::new(charges),
//!     gateway: Arc::new(gateway),
//!     clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
//!     random: Arc::new(CountingRandom::new()),
//! };
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
//!             save_method: true,
//!             saved_method: None,
//!             receipt: None,
//!         },
//!         next_check_at: DateTime::UNIX_EPOCH + kontor_payments::TAKEOVER,
//!         at: DateTime::UNIX_EPOCH,
//!     })
//!     .await?;
//! assert!(matches!(charged, ChargeResult::Asked(_, Opened::Unclear)));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "mocks"))]
//! # fn main() {}
//! ```

pub mod change;
mod charging;
mod error;
pub mod model;
pub mod ports;
mod receipts;
mod refunding;
mod saved_methods;
#[cfg(feature = "testing")]
pub mod testing;
mod timing;
pub mod verification;

pub use charging::{CancelOutcome, ChargeResult, ChargeService, NotificationResult, Opened, ReconciledCharges};
pub use error::{SavedMethodError, VerificationError};
pub use receipts::{ReceiptService, ReconciledReceipts};
pub use refunding::{ComparedRefunds, ReconciledRefunds, RefundNotificationResult, RefundService};
pub use saved_methods::SavedMethodService;
pub use timing::{RECEIPT_OVERDUE, TAKEOVER};

/// Compiles and runs the example of the reuse guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-payments.md")]
struct ReuseGuide;
