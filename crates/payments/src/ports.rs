//! Ports of payments: the interfaces that the outside implements.

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

/// Answer of the acquirer to a request that changes something: a [`GatewayPayment`], a [`GatewayRefund`] or a
/// [`GatewayReceipt`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// The acquirer has the requested object.
    Known(T),
    /// The acquirer refuses this request. An earlier one under the same key may have succeeded.
    Refused {
        /// Code of the acquirer.
        code: String,
        /// Explanation of the acquirer.
        description: String,
    },
    /// The outcome is unknown: repeat the same request under the same key.
    Unknown {
        /// Cause, for the log.
        why: String,
        /// Wait requested by the acquirer.
        retry_after: Option<Duration>,
    },
}

/// Answer of the acquirer to a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading<T> {
    /// The object exists.
    Known(T),
    /// The object certainly does not exist.
    Absent,
    /// The result is unknown.
    Unknown {
        /// Cause, for the log.
        why: String,
    },
}

/// The acquirer.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PaymentGateway: Send + Sync {
    /// Requests a payment. Equal requests under one key create one payment.
    async fn create(&self, request: &ChargeRequest) -> Answer<GatewayPayment>;

    /// Cancels an unpaid payment. Equal requests under one key count once. A refusal does not reveal the state
    /// of the payment.
    async fn cancel(&self, id: &ProviderId, key: Uuid) -> Answer<GatewayPayment>;

    /// Reads a payment.
    async fn read(&self, id: &ProviderId) -> Reading<GatewayPayment>;

    /// Searches the payments created since `since` for the one with the request's key.
    async fn find(&self, request: &ChargeRequest, since: DateTime<Utc>) -> Reading<GatewayPayment>;

    /// Lists the payments created since `since`. `page` is the cursor from the page before.
    async fn list_payments(&self, since: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayPayment>>;

    /// Requests a refund. Equal requests under one key create one refund.
    async fn refund(&self, request: &RefundRequest) -> Answer<GatewayRefund>;

    /// Reads a refund.
    async fn read_refund(&self, id: &ProviderId) -> Reading<GatewayRefund>;

    /// Searches the refunds of the payment for one that [meets](RefundRequest::is_fulfilled_by) the request.
    async fn find_refund(&self, request: &RefundRequest) -> Reading<GatewayRefund>;

    /// Lists the refunds created since `since`, of any origin. `page` is the cursor from the page before.
    async fn list_refunds(&self, since: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayRefund>>;

    /// Requests the receipt of a handover. Equal requests under one key create one receipt.
    async fn register(&self, request: &HandOverRequest) -> Answer<GatewayReceipt>;

    /// Reads a receipt that was requested separately.
    async fn read_receipt(&self, id: &ProviderId) -> Reading<GatewayReceipt>;

    /// Searches the receipts of the payment for one that [meets](HandOverRequest::is_fulfilled_by) the request.
    async fn find_receipt(&self, request: &HandOverRequest) -> Reading<GatewayReceipt>;
}

/// Outcome of storing a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeStored {
    /// The charge is stored.
    New(Charge),
    /// A conflicting charge exists: under the same key, open for the same purpose, or paid for a purpose that
    /// does not [recur](crate::model::ChargePurpose::is_recurring). Nothing was stored.
    Existing(Charge),
    /// The saved method belongs to another customer, or is no longer active. Nothing was stored.
    MethodUnavailable,
    /// The customer was deleted. Nothing was stored.
    CustomerDeleted,
}

/// Stores charges.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ChargeStore: Send + Sync {
    /// Stores a charge before the acquirer is called. Under concurrent calls, one purpose has one open charge.
    async fn store(&self, new: NewCharge) -> Result<ChargeStored, StoreError>;

    /// Returns a charge of any project; the caller checks the owner.
    async fn find(&self, id: ChargeId) -> Result<Option<Charge>, StoreError>;

    /// Returns the charge with this identifier at the acquirer.
    async fn by_provider(&self, id: &ProviderId) -> Result<Option<Charge>, StoreError>;

    /// Returns the charge with this idempotency key.
    async fn by_key(&self, key: Uuid) -> Result<Option<Charge>, StoreError>;

    /// Returns the open charge for this purpose.
    async fn open_for(&self, purpose: ChargePurpose) -> Result<Option<Charge>, StoreError>;

    /// Leases the open charge that has been due longest. The lease lasts until `until` or the next
    /// [`ChargeStore::record`].
    async fn lease(&self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Charge>, StoreError>;

    /// Records that a request with a saved method is about to be sent. It may be in transit until `until` or the
    /// next [`ChargeStore::record`]. Returns `false` if the method is no longer active: then nothing may be
    /// sent. A deactivation sees every request that was permitted before.
    async fn mark_sending(&self, id: ChargeId, until: DateTime<Utc>) -> Result<bool, StoreError>;

    /// Commits an update of an open charge with all consequences for its purpose, the due refund and the method
    /// to save. Returns [`Change::Stale`] and writes nothing if its outcome is already known.
    ///
    /// The implementation decides nothing about the purpose. In the same commit, it locks what the charge pays,
    /// calls the domain with a [`RecordedChange`](crate::change::RecordedChange) and writes the result:
    /// - an order: `kontor_orders::charge_outcome::decide`
    /// - periods of subscriptions, which are paid by orders, after the order:
    ///   `kontor_subscriptions::charge_outcome::decide`
    /// - a new method of a subscription: `kontor_subscriptions::charge_outcome::method_saved`
    /// - a verification: with the money, the customer is verified.
    async fn record(&self, id: ChargeId, change: ChargeChange, at: DateTime<Utc>) -> Result<Change, StoreError>;

    /// Commits that the acquirer contradicts the known outcome of a charge, with the consequences for its
    /// purpose; staff must check it. The outcome stays. A problem already recorded for the charge is not
    /// recorded again. The consequences are decided by the functions `record_contradiction` of the modules that
    /// [`ChargeStore::record`] names.
    async fn record_contradiction(&self, id: ChargeId, why: &str, at: DateTime<Utc>) -> Result<(), StoreError>;
}

/// Outcome of storing a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundStored {
    /// The refund is stored, and its money is reserved.
    New(Refund),
    /// A refund under this key exists. Nothing was stored.
    Existing(Refund),
    /// The charge has less money left. Nothing was stored.
    ExceedsCharge {
        /// Amount that can still be refunded; zero if no money has arrived.
        left: Money,
    },
    /// There is no such charge.
    UnknownCharge,
}

/// Outcome of recording a refund that was made at the acquirer, outside the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExternalRefundStored {
    /// It is recorded, with the consequences for the purpose of the charge.
    Recorded(ChargePurpose),
    /// It was recorded before. Nothing was written.
    Known(ChargePurpose),
    /// It contradicts the stored charge. The problem is reported; the money does not count as refunded.
    Contradicted {
        /// Purpose of the charge.
        purpose: ChargePurpose,
        /// Contradiction.
        why: String,
    },
    /// No charge has the payment. Nothing was written.
    UnknownCharge,
}

/// Stores refunds.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait RefundStore: Send + Sync {
    /// Stores a refund before the acquirer is called. Under concurrent calls, refunded amounts, including those
    /// in progress and requested, never exceed the received amount.
    async fn store(&self, new: NewRefund) -> Result<RefundStored, StoreError>;

    /// Returns a refund of any project; the caller checks the owner.
    async fn find(&self, id: RefundId) -> Result<Option<Refund>, StoreError>;

    /// Returns the refunds of a charge, oldest first.
    async fn of_charge(&self, charge: ChargeId) -> Result<Vec<Refund>, StoreError>;

    /// Returns the refunds of the charge with this payment, oldest first; `None` if there is no such charge.
    async fn of_payment(&self, payment: &ProviderId) -> Result<Option<Vec<Refund>>, StoreError>;

    /// Commits a refund that was made at the acquirer, outside the service, under the given key.
    /// [`RefundIntent::outside`](crate::model::RefundIntent::outside) decides about the charge, and
    /// `kontor_orders::refund::outside_refund` about its order. Under concurrent calls, the acquirer's identifier is recorded once. Refunded amounts, including those in
    /// progress, never exceed the received amount.
    async fn record_outside(
        &self,
        key: Uuid,
        refund: GatewayRefund,
        at: DateTime<Utc>,
    ) -> Result<ExternalRefundStored, StoreError>;

    /// Claims the next comparison with the acquirer's list of refunds, if it is due. Returns the time up to
    /// which they were compared before.
    async fn claim_comparison(&self, at: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, StoreError>;

    /// Records that all refunds created before `until` were compared.
    async fn compared(&self, until: DateTime<Utc>) -> Result<(), StoreError>;

    /// Leases the open refund that has been due longest. The lease lasts until `until` or the next
    /// [`RefundStore::record`].
    async fn lease(&self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Refund>, StoreError>;

    /// Commits an update of an open refund, for the attempt with this key, and its effect on the order of the charge:
    /// `kontor_orders::refund::SettledRefund`. Returns [`Change::Stale`] and writes
    /// nothing if its outcome is already known, or another key is in use.
    async fn record(
        &self,
        id: RefundId,
        key: Uuid,
        change: RefundChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError>;
}

/// Stores receipts. They are created with the outcome of a charge ([`ChargeStore::record`]) or a refund
/// ([`RefundStore::record`]) that had one. The commit that hands over prepaid items also creates one, once for
/// each charge.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ReceiptStore: Send + Sync {
    /// Leases the open receipt that has been due longest. The lease lasts until `until` or the next
    /// [`ReceiptStore::record`].
    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<FiscalReceipt>, StoreError>;

    /// Commits an update of an open receipt, for the attempt `tries`. Returns [`Change::Stale`] and writes
    /// nothing if its outcome is already known, or another attempt is in progress.
    async fn record(
        &self,
        id: ReceiptId,
        tries: u32,
        change: ReceiptChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError>;
}

/// Stores the receipt settings of projects.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ReceiptSettings: Send + Sync {
    /// Returns the settings of a project; `None` if it has no fiscal receipts.
    async fn receipt_terms(&self, project: ProjectId) -> Result<Option<ReceiptTerms>, StoreError>;

    /// Turns receipts on with these settings, or off. Receipts requested before are not affected. `false` if
    /// there is no such project.
    async fn set_receipt_terms(&self, project: ProjectId, terms: Option<ReceiptTerms>) -> Result<bool, StoreError>;
}

/// Stores saved payment methods. They are created with the outcome of a charge ([`ChargeStore::record`]).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SavedMethodStore: Send + Sync {
    /// Returns the active methods that the customer saved in the application, newest first.
    async fn list(&self, customer: CustomerScope) -> Result<Vec<SavedMethod>, StoreError>;

    /// Returns the acquirer reference of an active method of the customer in the application.
    async fn reference(
        &self,
        customer: CustomerScope,
        id: SavedMethodId,
    ) -> Result<Option<MethodReference>, StoreError>;

    /// Deactivates a method of the customer in the application: after this commit no charge with it is stored.
    /// `false` if they have no such method.
    async fn deactivate(
        &self,
        customer: CustomerScope,
        id: SavedMethodId,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;
}

/// Outcome of storing a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerificationStored {
    /// The verification is stored, with its charge.
    New(Verification),
    /// The customer has an open or still valid verification; nothing was stored.
    Existing(Verification),
    /// The customer was deleted.
    CustomerDeleted,
}

/// Stores verifications; their charges are in [`ChargeStore`].
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait VerificationStore: Send + Sync {
    /// Stores a verification and its charge, unless the customer has an open or still valid one. Under
    /// concurrent calls, one customer has one open verification.
    async fn start(&self, new: NewVerification) -> Result<VerificationStored, StoreError>;

    /// Returns a verification of any project; the caller checks the owner.
    async fn find(&self, id: VerificationId) -> Result<Option<Verification>, StoreError>;
}
