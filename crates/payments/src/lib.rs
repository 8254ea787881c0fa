//! Charges, refunds and saved payment methods.
//!
//! **Owns** the states of charges and refunds, what they are for, how outcomes that are not known are found out, and
//! what a payment that is not the one asked for means.
//!
//! **Invariants**
//! - A charge or a refund stands in storage before the acquirer hears of it, and every repetition is the same request
//!   under the same key: money moves at most once.
//! - Outcomes are committed once, with all that follows from them, whoever brings them and how often; only what was read
//!   from the acquirer counts.
//! - What has gone back, what is on its way and what is asked for never exceed what has arrived.
//! - Another key for a refund is made only when the acquirer surely gave nothing back.
//! - A saved method that was deactivated is charged no more.
//! - A receipt sums exactly to the money it is about; one that is not registered in time is told to people.
//!
//! **Ports**: [`ports::PaymentGateway`], [`ports::ChargeStore`], [`ports::RefundStore`], [`ports::SavedMethodStore`],
//! [`ports::VerificationStore`], [`ports::ReceiptStore`], [`ports::ReceiptSettings`]. With the feature `testing`, `testing::contract` says what the stores must do, as
//! functions that the tests of an adapter run.
//!
//! A use case with mocked ports (feature `mocks`): an answer that is lost settles nothing.
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
//! use kontor_payments::{Charged, ChargeService, Opened};
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
//! assert!(matches!(charged, Charged::Asked(_, Opened::Unclear)));
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

pub use charging::{ChargeService, Charged, Notified, Opened, ReconciledCharges, Withdrawal};
pub use error::{SavedMethodError, VerificationError};
pub use receipts::{ReceiptService, ReconciledReceipts};
pub use refunding::{ComparedRefunds, ReconciledRefunds, RefundNotified, RefundService};
pub use saved_methods::SavedMethodService;
pub use timing::{RECEIPT_OVERDUE, TAKEOVER};

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-payments.md")]
struct ReuseGuide;
