//! Ports of subscriptions: the interfaces that the outside implements.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{
    AppScope, CustomerScope, Listing, MethodBindingId, OrderId, Page, PageRequest, ProjectId, ProjectScoped, Random,
    SavedMethodId, Stamp, StoreError, SubscriptionId, SubscriptionPaymentId,
};
use kontor_payments::TAKEOVER_DELAY;
use kontor_payments::model::{Charge, PaymentMethod};
use uuid::Uuid;

use crate::case::SubscriptionCase;
use crate::effect::SubscriptionChange;
use crate::error::SubscriptionError;
use crate::method_change::{MethodChange, MethodChangeBegun, NewMethodChange};
use crate::model::{
    Attempt, PlanChoice, PlanOffer, SubscriptionEntry, SubscriptionPolicy, SubscriptionRecord, SubscriptionView,
};
use crate::terms::ConsentedTerms;

/// Fields of the charge request of an attempt, besides the terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeTerms {
    /// Idempotency key.
    pub key: Uuid,
    /// Method for a payment by the customer; a saved method has its own.
    pub pays_by: PaymentMethod,
    /// Return address of the payer; `{order_id}` is replaced.
    pub return_url: String,
    /// Time at which a worker takes over if the call after the commit does not finish.
    pub next_check_at: DateTime<Utc>,
}

impl ChargeTerms {
    /// Creates the fields for an attempt by a saved method: there is no page to return from, and the saved
    /// method replaces `pays_by`.
    pub(crate) fn of_saved_method(random: &dyn Random, at: DateTime<Utc>) -> Self {
        Self {
            key: random.uuid(),
            pays_by: PaymentMethod::BankCard,
            return_url: String::new(),
            next_check_at: at + TAKEOVER_DELAY,
        }
    }
}

/// Subscriptions to store with the charge of their first period. All of them start with one payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubscriptions {
    /// Customer and application.
    pub customer: CustomerScope,
    /// One consent for each plan, at least one.
    pub consents: Vec<ConsentedTerms>,
    /// Display names of the plans, in their order.
    pub names: Vec<String>,
    /// Fields of the charge request.
    pub charge: ChargeTerms,
    /// Current time.
    pub at: DateTime<Utc>,
}

/// Outcome of storing subscriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutStored {
    /// The subscriptions are stored.
    New(UnfinishedPayment),
    /// The customer has an unfinished first payment. Nothing was stored.
    UnfinishedPayment(UnfinishedPayment),
    /// The customer has a subscription that claims one of the plans. Nothing was stored.
    Subscribed,
    /// A plan is no longer offered with these terms. Nothing was stored.
    PlanUnavailable,
    /// The saved method belongs to another customer, or is no longer active. Nothing was stored.
    MethodUnavailable,
    /// The application has no warehouse, so nothing could be delivered. Nothing was stored.
    NoWarehouse,
    /// The customer was deleted. Nothing was stored.
    CustomerDeleted,
    /// The project has fiscal receipts, and the customer has neither phone nor e-mail address. Nothing was
    /// stored.
    NoContact,
}

/// Unfinished first payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedPayment {
    /// Order that it pays.
    pub order: OrderId,
    /// Charge.
    pub charge: Charge,
    /// Subscriptions, in the order of their plans.
    pub subscriptions: Vec<SubscriptionView>,
}

/// Selector of a subscription in a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionSelector {
    /// Subscription of a customer that the calling application may see: its own, or one of the whole project.
    OfCustomer(CustomerScope, SubscriptionId),
    /// Any subscription.
    Any(SubscriptionId),
}

/// Decision about a subscription, called with its state under the lock. It may be called more than once.
pub type Decision = Box<dyn Fn(&SubscriptionCase) -> Result<Vec<SubscriptionChange>, SubscriptionError> + Send + Sync>;

/// Context of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitContext {
    /// Author of the change.
    pub author: Author,
    /// Fields of the charge request, if an attempt is made.
    pub charge: ChargeTerms,
    /// Current time.
    pub at: DateTime<Utc>,
}

/// Subscription leased to a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeasedSubscription {
    /// Subscription.
    pub id: SubscriptionId,
    /// Number of leases since its last change, including this one.
    pub attempts: u32,
}

/// Result of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitResult {
    /// State after the commit.
    pub view: SubscriptionView,
    /// Charge of the attempt to make; the acquirer was not called yet.
    pub charge: Option<Charge>,
}

/// Stores subscriptions.
///
/// Outcomes of charges reach subscriptions by [`ChargeStore`](kontor_payments::ports::ChargeStore): its implementation
/// must call the functions of [`charge_outcome`](crate::charge_outcome).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SubscriptionStore: Send + Sync {
    /// Returns the plan as the application offers it now.
    async fn plan(&self, app: AppScope, choice: PlanChoice) -> Result<Option<PlanOffer>, StoreError>;

    /// Stores subscriptions with their consents, the order and charge of their first period, and one attempt
    /// each. All in one commit before the acquirer is called. Under concurrent calls, a customer has one
    /// unfinished first payment in an application, and one subscription that claims a plan
    /// ([`Subscription::claims`](crate::model::Subscription::claims)).
    async fn begin(&self, new: NewSubscriptions) -> Result<CheckoutStored, StoreError>;

    /// Returns one page of the customer's subscriptions that the application may see, newest first, with a constant
    /// number of statements.
    async fn of_customer(
        &self,
        customer: CustomerScope,
        page: PageRequest,
        now: DateTime<Utc>,
    ) -> Result<Vec<SubscriptionView>, StoreError>;

    /// Returns one of these subscriptions.
    async fn find(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        now: DateTime<Utc>,
    ) -> Result<Option<SubscriptionView>, StoreError>;

    /// Returns the payments of one of these subscriptions, newest first. `None` if the application may not see
    /// it.
    async fn payments(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Option<Page<Attempt>>, StoreError>;

    /// Returns the consents of one of these subscriptions, latest first. `None` if the application may not see
    /// it.
    async fn consents(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Option<Page<ConsentedTerms>>, StoreError>;

    /// Returns one of these payments.
    async fn payment(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        payment: SubscriptionPaymentId,
    ) -> Result<Option<Attempt>, StoreError>;

    /// Returns `true` if the method is an active one of the customer in the application.
    async fn has_method(&self, customer: CustomerScope, method: SavedMethodId) -> Result<bool, StoreError>;

    /// Locks a subscription, calls `decide` with all data that decides, and commits the result or nothing:
    /// state, attempt with its order and charge, consent, history and notices. Changes are written one after the
    /// other. A change that claims a plan of another subscription of the customer is refused.
    async fn change(
        &self,
        which: SubscriptionSelector,
        with: CommitContext,
        decide: Decision,
    ) -> Result<CommitResult, SubscriptionError>;

    /// Deactivates a method of the customer in the application and ends its planned attempts, in one commit:
    /// [`SubscriptionCase::without_method`] decides about each subscription.
    /// Returns when no request with the method is in transit. `false` if they have no such method.
    async fn delete_method(
        &self,
        customer: CustomerScope,
        method: SavedMethodId,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Leases due subscriptions until `until`, those that have waited longest first, at most `most`. No other
    /// worker gets them before.
    async fn lease_due(
        &self,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        most: u32,
    ) -> Result<Vec<LeasedSubscription>, StoreError>;

    /// Postpones a leased subscription that could not be processed, or parks it if `again` is `None`. Does
    /// nothing if it was changed or leased since.
    async fn postpone(
        &self,
        leased: LeasedSubscription,
        again: Option<DateTime<Utc>>,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError>;

    /// Extends leases that end at `from`. Returns the subscriptions that are still leased, in their order; the
    /// others were changed in the meantime.
    async fn extend_leases(
        &self,
        leased: Vec<LeasedSubscription>,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Vec<LeasedSubscription>, StoreError>;
}

/// Reads subscriptions for staff, and stores the charge policy of projects.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SubscriptionReader: Send + Sync {
    /// Returns one page of the subscriptions of a project, with a constant number of statements.
    async fn list(
        &self,
        project: ProjectId,
        listing: Listing,
        now: DateTime<Utc>,
    ) -> Result<Page<SubscriptionRecord>, StoreError>;

    /// Returns one subscription.
    async fn find(
        &self,
        id: SubscriptionId,
        now: DateTime<Utc>,
    ) -> Result<Option<ProjectScoped<SubscriptionRecord>>, StoreError>;

    /// Returns its payments, newest first.
    async fn payments(&self, id: SubscriptionId, page: PageRequest) -> Result<Page<Attempt>, StoreError>;

    /// Returns its history, latest first.
    async fn history(&self, id: SubscriptionId, page: PageRequest) -> Result<Page<SubscriptionEntry>, StoreError>;

    /// Returns its consents, latest first.
    async fn consents(&self, id: SubscriptionId, page: PageRequest) -> Result<Page<ConsentedTerms>, StoreError>;

    /// Returns the number of parked subscriptions of all projects.
    async fn parked(&self) -> Result<u64, StoreError>;

    /// Returns the charge policy of a project.
    async fn policy(&self, project: ProjectId) -> Result<SubscriptionPolicy, StoreError>;

    /// Sets the charge policy of the project, with an entry in the history of its settings. It applies from the next
    /// check of each subscription on.
    async fn set_policy(&self, stamp: Stamp, policy: SubscriptionPolicy) -> Result<(), StoreError>;
}

/// Stores method changes; their charges are in [`ChargeStore`](kontor_payments::ports::ChargeStore). The commit
/// that saves the method also sets it on the subscription: [`method_saved`](crate::charge_outcome::method_saved)
/// decides.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait MethodChangeStore: Send + Sync {
    /// Stores a method change and its charge, unless the subscription has an unexpired one.
    async fn begin(&self, new: NewMethodChange) -> Result<MethodChangeBegun, StoreError>;

    /// Returns a method change of a subscription that the application may see.
    async fn find(
        &self,
        customer: CustomerScope,
        subscription: SubscriptionId,
        id: MethodBindingId,
    ) -> Result<Option<MethodChange>, StoreError>;
}

/// Position of a subscription in the queue of the worker.
pub type WakePlace = (DateTime<Utc>, SubscriptionId);

/// Reads future and past charges of all subscriptions.
#[async_trait]
pub trait SubscriptionForecastReader: Send + Sync {
    /// Returns the next time at which a subscription or one of its charges must be checked.
    async fn next_moment(&self) -> Result<Option<DateTime<Utc>>, StoreError>;

    /// Returns subscriptions to check until `until`, ordered by that time and their number, after a position, at
    /// most `most`. Each has all data that decides about it now.
    async fn list_due(
        &self,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        after: Option<WakePlace>,
        most: u32,
    ) -> Result<Vec<SubscriptionCase>, StoreError>;

    /// Returns the attempts made or ended since a time, oldest first, at most `most`, and their total number.
    async fn attempts_since(
        &self,
        since: DateTime<Utc>,
        most: u32,
    ) -> Result<(Vec<(SubscriptionId, Attempt)>, u64), StoreError>;
}
