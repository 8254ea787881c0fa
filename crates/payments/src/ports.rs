//! What payments need from the outside.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    ChargeId, CustomerScope, Money, ProjectId, ReceiptId, RefundId, SavedMethodId, StoreError, VerificationId,
};
use uuid::Uuid;

use crate::change::{Change, ChargeChange, ReceiptChange, RefundChange};
use crate::model::{
    Charge, ChargePurpose, ChargeRequest, FiscalReceipt, GatewayPage, GatewayPayment, GatewayReceipt, GatewayRefund,
    HandOverRequest, MethodReference, NewCharge, NewRefund, ProviderId, ReceiptTerms, Refund, RefundRequest,
    SavedMethod,
};
use crate::verification::{NewVerification, Verification};

/// What the acquirer answered to a request that changes something: a [`GatewayPayment`], a [`GatewayRefund`] or a
/// [`GatewayReceipt`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// It has what was asked for.
    Known(T),
    /// It refuses this request. An earlier one under the same key may have gone through.
    Refused {
        /// The acquirer's code.
        code: String,
        /// Its explanation.
        description: String,
    },
    /// Nobody can tell: the same request is to be repeated under the same key.
    Unknown {
        /// What happened.
        why: String,
        /// How long the acquirer asks to wait.
        retry_after: Option<Duration>,
    },
}

/// What the acquirer answered to a question about any of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading<T> {
    /// It has it.
    Known(T),
    /// It surely has not.
    Absent,
    /// Nobody can tell.
    Unknown {
        /// What happened.
        why: String,
    },
}

/// The acquirer.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PaymentGateway: Send + Sync {
    /// Asks for a payment. Equal requests under one key make one payment.
    async fn create(&self, request: &ChargeRequest) -> Answer<GatewayPayment>;

    /// Takes back a payment that nobody has paid yet. Equal requests under one key are one. A refusal says nothing about how
    /// the payment stands.
    async fn cancel(&self, id: &ProviderId, key: Uuid) -> Answer<GatewayPayment>;

    /// Reads a payment.
    async fn read(&self, id: &ProviderId) -> Reading<GatewayPayment>;

    /// Looks among the payments created since `since` for the one that carries the request's key.
    async fn find(&self, request: &ChargeRequest, since: DateTime<Utc>) -> Reading<GatewayPayment>;

    /// Lists the payments created since `since`; `page` is what the page before said.
    async fn list_payments(&self, since: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayPayment>>;

    /// Asks for money to go back. Equal requests under one key make one refund.
    async fn refund(&self, request: &RefundRequest) -> Answer<GatewayRefund>;

    /// Reads a refund.
    async fn read_refund(&self, id: &ProviderId) -> Reading<GatewayRefund>;

    /// Looks among the refunds of the payment for one that [meets](RefundRequest::is_met_by) the request.
    async fn find_refund(&self, request: &RefundRequest) -> Reading<GatewayRefund>;

    /// Lists the refunds created since `since`, whoever made them; `page` is what the page before said.
    async fn list_refunds(&self, since: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayRefund>>;

    /// Asks for the receipt of a hand-over. Equal requests under one key make one receipt.
    async fn register(&self, request: &HandOverRequest) -> Answer<GatewayReceipt>;

    /// Reads a receipt that was asked for by itself.
    async fn read_receipt(&self, id: &ProviderId) -> Reading<GatewayReceipt>;

    /// Looks among the receipts of the payment for one that [meets](HandOverRequest::is_met_by) the request.
    async fn find_receipt(&self, request: &HandOverRequest) -> Reading<GatewayReceipt>;
}

/// What came of storing a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeStored {
    /// It is stored.
    New(Charge),
    /// There is one that stands against it: under the same key, open for the same purpose, or paid for a purpose that
    /// does not [recur](crate::model::ChargePurpose::recurs). Nothing was stored.
    Present(Charge),
    /// The saved method is not the customer's, or no longer active. Nothing was stored.
    MethodGone,
    /// The customer has left. Nothing was stored.
    CustomerGone,
}

/// Keeps charges.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ChargeStore: Send + Sync {
    /// Stores a charge before the acquirer hears of it. However many calls race, one purpose has one open charge.
    async fn store(&self, new: NewCharge) -> Result<ChargeStored, StoreError>;

    /// A charge of any project; the caller checks the owner.
    async fn find(&self, id: ChargeId) -> Result<Option<Charge>, StoreError>;

    /// The charge with this identifier of the acquirer.
    async fn by_provider(&self, id: &ProviderId) -> Result<Option<Charge>, StoreError>;

    /// The charge with this idempotence key.
    async fn by_key(&self, key: Uuid) -> Result<Option<Charge>, StoreError>;

    /// The charge for this purpose whose outcome is still to come.
    async fn open_for(&self, purpose: ChargePurpose) -> Result<Option<Charge>, StoreError>;

    /// Leases the open charge that has been due longest, so that nobody else works on it until `until` or the next
    /// [`ChargeStore::record`].
    async fn lease(&self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Charge>, StoreError>;

    /// Says that a request which names a saved method is about to leave, and until when it may be on its way, or until the next
    /// [`ChargeStore::record`]. `false` when the method is no longer active: then nothing may leave. Who deactivates a method
    /// sees every request that was let go before.
    async fn departs(&self, id: ChargeId, until: DateTime<Utc>) -> Result<bool, StoreError>;

    /// Commits what became known of an open charge, with all that follows from it for its purpose, the refund that is
    /// due and the method to be saved. [`Change::Stale`] when its outcome is already known: then nothing is written.
    async fn record(&self, id: ChargeId, change: ChargeChange, at: DateTime<Utc>) -> Result<Change, StoreError>;

    /// Commits that the acquirer says of a charge whose outcome is known that it ended otherwise, with what follows for its
    /// purpose: people must look. The outcome stays. What was noted of a charge before is not noted again.
    async fn contradicted(&self, id: ChargeId, why: &str, at: DateTime<Utc>) -> Result<(), StoreError>;
}

/// What came of storing a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundStored {
    /// It is stored, and its money is set aside.
    New(Refund),
    /// There is one under this key. Nothing was stored.
    Present(Refund),
    /// The charge has not so much left. Nothing was stored.
    Exceeds {
        /// What can still be refunded; nothing while no money has arrived.
        left: Money,
    },
    /// There is no such charge.
    NoCharge,
}

/// What came of recording a refund that was made at the acquirer, past the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutsideRecorded {
    /// It is recorded, with what follows for the purpose of the charge.
    Recorded(ChargePurpose),
    /// It was recorded before. Nothing was written.
    Known(ChargePurpose),
    /// It does not fit what is known of the charge. People are told; the money is not counted as refunded.
    Doubtful {
        /// What the charge is for.
        purpose: ChargePurpose,
        /// What does not fit.
        why: String,
    },
    /// No charge has the payment. Nothing was written.
    NoCharge,
}

/// Keeps refunds.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait RefundStore: Send + Sync {
    /// Stores a refund before the acquirer hears of it. However many calls race, what has gone back, what is on its way
    /// and what is asked for never exceed what has arrived.
    async fn store(&self, new: NewRefund) -> Result<RefundStored, StoreError>;

    /// A refund of any project; the caller checks the owner.
    async fn find(&self, id: RefundId) -> Result<Option<Refund>, StoreError>;

    /// The refunds of a charge, oldest first.
    async fn of_charge(&self, charge: ChargeId) -> Result<Vec<Refund>, StoreError>;

    /// The refunds of the charge with this payment, oldest first; `None` when there is no such charge.
    async fn of_payment(&self, payment: &ProviderId) -> Result<Option<Vec<Refund>>, StoreError>;

    /// Commits a refund that was made at the acquirer, past the service, under a key of ours. However many calls race, the
    /// acquirer's identifier names it once. What has gone back and what is on its way never exceed what has arrived.
    async fn record_outside(
        &self,
        key: Uuid,
        refund: GatewayRefund,
        at: DateTime<Utc>,
    ) -> Result<OutsideRecorded, StoreError>;

    /// Claims the next comparison with the refunds that the acquirer lists, when it is due. Returns until when they were
    /// compared before.
    async fn claim_comparison(&self, at: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, StoreError>;

    /// Notes that all refunds created before `until` were compared.
    async fn compared(&self, until: DateTime<Utc>) -> Result<(), StoreError>;

    /// Leases the open refund that has been due longest, so that nobody else works on it until `until` or the next
    /// [`RefundStore::record`].
    async fn lease(&self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Refund>, StoreError>;

    /// Commits what became known of an open refund, under the key it became known for. [`Change::Stale`] when its
    /// outcome is already known, or another key is tried: then nothing is written.
    async fn record(
        &self,
        id: RefundId,
        key: Uuid,
        change: RefundChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError>;
}

/// Keeps receipts. They come into being with the outcome of a charge ([`ChargeStore::record`]) or a refund
/// ([`RefundStore::record`]) that had one, and in the commit that hands over what was prepaid, once for each charge.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ReceiptStore: Send + Sync {
    /// Leases the open receipt that has been due longest, so that nobody else works on it until `until` or the next
    /// [`ReceiptStore::record`].
    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<FiscalReceipt>, StoreError>;

    /// Commits what became known of an open receipt, in the try it became known for. [`Change::Stale`] when its outcome
    /// is already known, or another try is under way: then nothing is written.
    async fn record(
        &self,
        id: ReceiptId,
        tries: u32,
        change: ReceiptChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError>;
}

/// Keeps which projects have receipts made, and how.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ReceiptSettings: Send + Sync {
    /// The terms of a project; `None` when it has no receipts made.
    async fn receipt_terms(&self, project: ProjectId) -> Result<Option<ReceiptTerms>, StoreError>;

    /// Switches receipts on by these terms, or off. What was asked for before stays as it is. `false` when there is no
    /// such project.
    async fn set_receipt_terms(&self, project: ProjectId, terms: Option<ReceiptTerms>) -> Result<bool, StoreError>;
}

/// Keeps saved payment methods. They come into being with the outcome of a charge ([`ChargeStore::record`]).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SavedMethodStore: Send + Sync {
    /// The active methods that the customer saved in the application, newest first.
    async fn list(&self, customer: CustomerScope) -> Result<Vec<SavedMethod>, StoreError>;

    /// What names an active method of the customer in the application to the acquirer.
    async fn reference(
        &self,
        customer: CustomerScope,
        id: SavedMethodId,
    ) -> Result<Option<MethodReference>, StoreError>;

    /// Deactivates a method of the customer in the application: from this commit on no charge by it is stored. `false`
    /// when they have no such method.
    async fn deactivate(
        &self,
        customer: CustomerScope,
        id: SavedMethodId,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;
}

/// What came of storing a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// It is stored, with its charge.
    New(Verification),
    /// The customer has one that is open or still counts; nothing was stored.
    Present(Verification),
    /// The customer has left.
    Gone,
}

/// Keeps verifications; their charges are kept by [`ChargeStore`].
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait VerificationStore: Send + Sync {
    /// Stores a verification and its charge, unless the customer has one that is open or still counts. However many
    /// calls race, one customer has one open verification.
    async fn start(&self, new: NewVerification) -> Result<Started, StoreError>;

    /// A verification of any project; the caller checks the owner.
    async fn find(&self, id: VerificationId) -> Result<Option<Verification>, StoreError>;
}
