//! What orders need from the outside.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, CounterpartyId, CustomerScope, Listing, NomenclatureId, OrderId, Page, PaymentAttemptId, ProjectId,
    StoreError, VerificationId,
};
use uuid::Uuid;

use crate::change::{AttemptChange, Change, OrderChange, PlacedOrder};
use crate::model::{
    DeliveryRequest, GatewayPayment, GatewayRefund, NewVerification, Order, PaymentAttempt, PaymentRequest, PromoCode,
    ProviderPaymentId, RefundRequest, ReservationRecord, Verification, VerificationChange,
};
use crate::placement::CartSnapshot;

/// What to read for pricing or placing a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartQuery {
    /// Where it is sold.
    pub app: AppScope,
    /// To whom, when somebody is signed in.
    pub customer: Option<CounterpartyId>,
    /// What.
    pub items: Vec<NomenclatureId>,
    /// With which promo code.
    pub promo: Option<PromoCode>,
    /// How it is delivered; `None` while only prices are asked.
    pub delivery: Option<DeliveryRequest>,
}

/// Everything that decides about a cart.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CartReader: Send + Sync {
    /// Cards, stock, discounts and references as they are at one moment, by a number of statements that does not grow
    /// with the cart.
    async fn snapshot(&self, query: CartQuery) -> Result<CartSnapshot, StoreError>;
}

/// What a commit of an order gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The number of the new order.
    pub order_id: OrderId,
    /// The payment attempt stored with it.
    pub attempt: Option<PaymentAttempt>,
}

/// Why an order could not be committed. Nothing of it is stored.
#[derive(Debug, thiserror::Error)]
pub enum PlaceRefused {
    /// Somebody else took the pieces of this line (counted from 0).
    #[error("the stock of line {line} is gone")]
    OutOfStock {
        /// Its place in the cart.
        line: usize,
    },
    /// Somebody else took the last use of the promo code.
    #[error("the promo code has been used up")]
    PromoExhausted,
    /// A price, an automatic discount or the promo code changed since it was read.
    #[error("what the order was decided on has changed")]
    Stale,
    /// The customer has left.
    #[error("the customer has left")]
    CustomerGone,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a change of an order could not be committed. Nothing of it is stored.
#[derive(Debug, thiserror::Error)]
pub enum ChangeRefused {
    /// The order, or its payment, is no longer what the change was decided on.
    #[error("the order has changed meanwhile")]
    Stale,
    /// The manager is not an employee of the project.
    #[error("there is no such employee")]
    UnknownManager,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Writes orders.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OrderStore: Send + Sync {
    /// Commits a whole order: stock, promo use, order, lines, payment attempt, history; or nothing of it.
    async fn place(&self, order: PlacedOrder) -> Result<Placed, PlaceRefused>;

    /// Commits a whole change by staff, unless the order is no longer the one it was decided on.
    async fn change(&self, change: OrderChange) -> Result<(), ChangeRefused>;
}

/// Reads orders.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OrderReader: Send + Sync {
    /// An order of any project; the caller checks the owner.
    async fn find(&self, id: OrderId) -> Result<Option<Order>, StoreError>;

    /// The customer's orders in the application, newest first, by a constant number of statements.
    async fn of_customer(&self, customer: CustomerScope) -> Result<Vec<Order>, StoreError>;

    /// One page of a project's orders, newest first.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Order>, StoreError>;
}

/// Keeps payment attempts.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AttemptStore: Send + Sync {
    /// Leases the open attempt that has been due longest, so that nobody else works on it until `until` or the next
    /// [`AttemptStore::record`].
    async fn claim(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<PaymentAttempt>, StoreError>;

    /// The attempt with this identifier of the acquirer.
    async fn by_provider(&self, id: &ProviderPaymentId) -> Result<Option<PaymentAttempt>, StoreError>;

    /// The attempt with this idempotence key.
    async fn by_key(&self, key: Uuid) -> Result<Option<PaymentAttempt>, StoreError>;

    /// Commits what became known of an open attempt, with all that follows for the order.
    /// [`Change::Stale`] when its outcome is already settled: then nothing is written.
    async fn record(
        &self,
        attempt: PaymentAttemptId,
        change: AttemptChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError>;
}

/// What the acquirer answered to a request for a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateAnswer {
    /// It has the payment.
    Known(GatewayPayment),
    /// It has not, and says why.
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

/// What the acquirer answered to a question about a payment or a refund.
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

/// About a payment.
pub type ReadAnswer = Reading<GatewayPayment>;
/// About a refund.
pub type RefundReading = Reading<GatewayRefund>;

/// The acquirer.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PaymentGateway: Send + Sync {
    /// Asks for a payment. Equal requests under one key make one payment.
    async fn create(&self, request: &PaymentRequest, key: Uuid) -> CreateAnswer;

    /// Reads a payment.
    async fn read(&self, id: &ProviderPaymentId) -> ReadAnswer;

    /// Looks among the payments created since `since` for the one that carries the request's attempt.
    async fn find(&self, request: &PaymentRequest, since: DateTime<Utc>) -> ReadAnswer;

    /// Asks for money to go back. Equal requests under one key make one refund.
    async fn refund(&self, request: &RefundRequest) -> RefundAnswer;

    /// Reads a refund.
    async fn read_refund(&self, id: &ProviderPaymentId) -> RefundReading;

    /// Looks for a refund of the payment that is on its way or has arrived.
    async fn find_refund(&self, payment: &ProviderPaymentId) -> RefundReading;
}

/// What the acquirer answered to a request for a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundAnswer {
    /// It has the refund.
    Known(GatewayRefund),
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

/// What came of storing a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// It is stored.
    New(Verification),
    /// The customer has one that is open or still counts; nothing was stored.
    Present(Verification),
    /// The customer has left.
    Gone,
}

/// Keeps verifications.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait VerificationStore: Send + Sync {
    /// Stores a verification, unless the customer has one that is open or still counts. However many calls race, one
    /// customer has one open verification.
    async fn start(&self, new: NewVerification) -> Result<Started, StoreError>;

    /// A verification of any project; the caller checks the owner.
    async fn find(&self, id: VerificationId) -> Result<Option<Verification>, StoreError>;

    /// The verification with this identifier of its payment at the acquirer.
    async fn by_provider(&self, id: &ProviderPaymentId) -> Result<Option<Verification>, StoreError>;

    /// The verification with this idempotence key of its payment.
    async fn by_key(&self, key: Uuid) -> Result<Option<Verification>, StoreError>;

    /// Leases the verification that has been due longest, be it for its payment or for its refund, so that nobody else
    /// works on it until `until` or the next [`VerificationStore::record`].
    async fn claim(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<Verification>, StoreError>;

    /// Commits what became known, with all that follows for the customer. [`Change::Stale`] when it no longer counts:
    /// then nothing is written.
    async fn record(
        &self,
        id: VerificationId,
        change: VerificationChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError>;
}

/// Reads the lines of all orders.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ReservationReader: Send + Sync {
    /// One page of a project's order lines.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<ReservationRecord>, StoreError>;
}
