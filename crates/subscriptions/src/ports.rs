//! What subscriptions need from the outside.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{
    AppScope, CustomerScope, Listing, MethodBindingId, OfProject, OrderId, Page, PageRequest, ProjectId, Random,
    SavedMethodId, StoreError, SubscriptionId, SubscriptionPaymentId,
};
use kontor_payments::TAKEOVER;
use kontor_payments::model::{Charge, PaymentMethod};
use uuid::Uuid;

use crate::case::SubscriptionCase;
use crate::change::SubscriptionChange;
use crate::error::SubscriptionError;
use crate::method_change::{MethodChange, MethodChangeBegun, NewMethodChange};
use crate::model::{
    Attempt, PlanChoice, PlanOffer, SubscriptionEntry, SubscriptionPolicy, SubscriptionRecord, SubscriptionView,
};
use crate::terms::ConsentedTerms;

/// What is asked of the acquirer beside the terms, for an attempt that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeTerms {
    /// The idempotence key.
    pub key: Uuid,
    /// How the customer pays themselves; of a saved method it says so itself.
    pub pays_by: PaymentMethod,
    /// Where the payer comes back to; `{order_id}` is replaced.
    pub return_url: String,
    /// When a worker takes over if the call that follows the commit is never finished.
    pub next_check_at: DateTime<Utc>,
}

impl ChargeTerms {
    /// For an attempt by a saved method: nobody comes back from a page, and the method says how it is paid.
    pub(crate) fn of_saved_method(random: &dyn Random, at: DateTime<Utc>) -> Self {
        Self {
            key: random.uuid(),
            pays_by: PaymentMethod::BankCard,
            return_url: String::new(),
            next_check_at: at + TAKEOVER,
        }
    }
}

/// Subscriptions that are to be stored with the charge of their first period. All of one begin together, by one payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubscriptions {
    /// Whose they are, and where they are made.
    pub customer: CustomerScope,
    /// One consent for each plan, at least one.
    pub consents: Vec<ConsentedTerms>,
    /// What people call the plans, in their order.
    pub names: Vec<String>,
    /// What is asked of the acquirer.
    pub charge: ChargeTerms,
    /// When.
    pub at: DateTime<Utc>,
}

/// What came of storing subscriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// They are stored.
    New(Unfinished),
    /// The customer has a first payment that is not finished. Nothing was stored.
    Unfinished(Unfinished),
    /// The customer has a subscription that claims one of the plans. Nothing was stored.
    Subscribed,
    /// A plan is not offered any more by these terms. Nothing was stored.
    PlanGone,
    /// The saved method is not the customer's, or no longer active. Nothing was stored.
    MethodGone,
    /// The application has no warehouse, and so nothing that pays could be delivered. Nothing was stored.
    NoWarehouse,
    /// The customer has left. Nothing was stored.
    CustomerGone,
    /// Receipts are made, and the customer has neither phone nor e-mail address. Nothing was stored.
    NoContact,
}

/// A first payment that is not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// The order that it pays.
    pub order: OrderId,
    /// The charge.
    pub charge: Charge,
    /// The subscriptions, in the order of their plans.
    pub subscriptions: Vec<SubscriptionView>,
}

/// A subscription in a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressed {
    /// One of a customer, as the calling application may see it: its own, or one of the project as a whole.
    OfCustomer(CustomerScope, SubscriptionId),
    /// Any.
    Any(SubscriptionId),
}

/// Decides about a subscription as it stands, while nobody else changes it. It may be asked more than once.
pub type Decision = Box<dyn Fn(&SubscriptionCase) -> Result<Vec<SubscriptionChange>, SubscriptionError> + Send + Sync>;

/// What a change is committed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committing {
    /// Who decides.
    pub author: Author,
    /// What is asked of the acquirer when an attempt is to be made.
    pub charge: ChargeTerms,
    /// When.
    pub at: DateTime<Utc>,
}

/// A subscription that a worker has for itself until its lease ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeasedSubscription {
    /// The subscription.
    pub id: SubscriptionId,
    /// How often a worker took it since it was last changed, this time included.
    pub attempts: u32,
}

/// What a commit gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// As it is now.
    pub view: SubscriptionView,
    /// The charge of the attempt that is to be made; the acquirer was not asked yet.
    pub charge: Option<Charge>,
}

/// Keeps subscriptions.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SubscriptionStore: Send + Sync {
    /// The plan as the application offers it now.
    async fn plan(&self, app: AppScope, choice: PlanChoice) -> Result<Option<PlanOffer>, StoreError>;

    /// Stores subscriptions with their consents, the order and the charge of their first period and an attempt each, in one
    /// commit before the acquirer hears of it. However many calls race, a customer has one unfinished first payment in an
    /// application, and one subscription that claims a plan ([`Subscription::claims`](crate::model::Subscription::claims)).
    async fn begin(&self, new: NewSubscriptions) -> Result<Begun, StoreError>;

    /// The customer's subscriptions that the application may see, newest first, by a constant number of statements.
    async fn of_customer(
        &self,
        customer: CustomerScope,
        now: DateTime<Utc>,
    ) -> Result<Vec<SubscriptionView>, StoreError>;

    /// One of these.
    async fn find(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        now: DateTime<Utc>,
    ) -> Result<Option<SubscriptionView>, StoreError>;

    /// The payments of one of these, newest first. `None` when the application may not see it.
    async fn payments(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Option<Page<Attempt>>, StoreError>;

    /// What the customer consented to for one of these, the latest first. `None` when the application may not see it.
    async fn consents(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Option<Page<ConsentedTerms>>, StoreError>;

    /// One of these payments.
    async fn payment(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        payment: SubscriptionPaymentId,
    ) -> Result<Option<Attempt>, StoreError>;

    /// Whether the method is an active one of the customer in the application.
    async fn has_method(&self, customer: CustomerScope, method: SavedMethodId) -> Result<bool, StoreError>;

    /// Locks a subscription, has `decide` look at it with all that decides, and commits what it decides: state, attempt with
    /// its order and charge, consent, history and notices; or nothing of it. Changes are written one after the other. One that
    /// claims a plan of another subscription of the customer is refused.
    async fn change(
        &self,
        which: Addressed,
        with: Committing,
        decide: Decision,
    ) -> Result<Committed, SubscriptionError>;

    /// Deactivates a method of the customer in the application, and ends what is planned with it, in one commit; answers when
    /// no request that names it is on its way any more. `false` when they have no such method.
    async fn delete_method(
        &self,
        customer: CustomerScope,
        method: SavedMethodId,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Subscriptions whose time has come, those that have waited longest first, at most `most`, leased until then: nobody
    /// else gets them before.
    async fn lease_due(
        &self,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        most: u32,
    ) -> Result<Vec<LeasedSubscription>, StoreError>;

    /// Puts a leased subscription off that could not be worked on, or parks it when there is no moment to look again. Does
    /// nothing when it was changed or leased since.
    async fn put_off(
        &self,
        leased: LeasedSubscription,
        again: Option<DateTime<Utc>>,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError>;

    /// Lengthens leases that end at `from`. Returns those of the subscriptions, in their order, that are still leased until
    /// then: of the others somebody has changed something.
    async fn extend_leases(
        &self,
        leased: Vec<LeasedSubscription>,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Vec<LeasedSubscription>, StoreError>;
}

/// What staff read of subscriptions, and how their project charges.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SubscriptionRegister: Send + Sync {
    /// One page of those of a project, by a constant number of statements.
    async fn list(
        &self,
        project: ProjectId,
        listing: Listing,
        now: DateTime<Utc>,
    ) -> Result<Page<SubscriptionRecord>, StoreError>;

    /// One of them.
    async fn find(
        &self,
        id: SubscriptionId,
        now: DateTime<Utc>,
    ) -> Result<Option<OfProject<SubscriptionRecord>>, StoreError>;

    /// Its payments, newest first.
    async fn payments(&self, id: SubscriptionId, page: PageRequest) -> Result<Page<Attempt>, StoreError>;

    /// What happened to it, the latest first.
    async fn history(&self, id: SubscriptionId, page: PageRequest) -> Result<Page<SubscriptionEntry>, StoreError>;

    /// What the customer consented to, the latest first.
    async fn consents(&self, id: SubscriptionId, page: PageRequest) -> Result<Page<ConsentedTerms>, StoreError>;

    /// How many subscriptions of all projects are parked.
    async fn parked(&self) -> Result<u64, StoreError>;

    /// How a project charges.
    async fn policy(&self, project: ProjectId) -> Result<SubscriptionPolicy, StoreError>;

    /// Sets how a project charges, from each subscription's next look on.
    async fn set_policy(
        &self,
        project: ProjectId,
        policy: SubscriptionPolicy,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError>;
}

/// Keeps changes of the method; their charges are kept by [`ChargeStore`](kontor_payments::ports::ChargeStore). The method is that
/// of the subscription in the commit that saves it.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait MethodChangeStore: Send + Sync {
    /// Stores a change and its charge, unless the subscription has one that can still be used.
    async fn begin(&self, new: NewMethodChange) -> Result<MethodChangeBegun, StoreError>;

    /// A change of a subscription that the application may see.
    async fn find(
        &self,
        customer: CustomerScope,
        subscription: SubscriptionId,
        id: MethodBindingId,
    ) -> Result<Option<MethodChange>, StoreError>;
}

/// A subscription by its place among those that wait for a worker.
pub type WakePlace = (DateTime<Utc>, SubscriptionId);

/// Tells what is to come of all subscriptions, and what has come of them.
#[async_trait]
pub trait SubscriptionForecasts: Send + Sync {
    /// The next moment at which a subscription is to be looked at, or the acquirer is to be asked whether it has heard of one of
    /// their charges.
    async fn next_moment(&self) -> Result<Option<DateTime<Utc>>, StoreError>;

    /// Subscriptions that are to be looked at until a moment, by that moment and their number, those after a place, at most
    /// `most`, with all that decides about them now.
    async fn waking(
        &self,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        after: Option<WakePlace>,
        most: u32,
    ) -> Result<Vec<SubscriptionCase>, StoreError>;

    /// The attempts that were made or have ended since a moment, oldest first, at most `most`, and how many there are.
    async fn attempts_since(
        &self,
        since: DateTime<Utc>,
        most: u32,
    ) -> Result<(Vec<(SubscriptionId, Attempt)>, u64), StoreError>;
}
