//! What webhooks need from the outside.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    ApplicationId, DeliveryId, OfProject, Page, PageRequest, ProjectId, Random, StoreError, WebhookId,
};

use crate::WebhookError;
use crate::model::{
    Circuit, Delivery, DeliveryRequest, DeliveryState, Message, Pending, SendOutcome, Webhook, WebhookChange,
    WebhookDraft,
};

/// Webhooks of an application.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WebhookRepository: Send + Sync {
    /// Whether there is such an application, and of which project.
    async fn owner(&self, application: ApplicationId) -> Result<Option<OfProject<()>>, StoreError>;

    /// Every webhook of the application, oldest first.
    async fn list(&self, application: ApplicationId) -> Result<Vec<Webhook>, StoreError>;

    /// A webhook of the application.
    async fn find(&self, application: ApplicationId, webhook: WebhookId) -> Result<Option<Webhook>, StoreError>;

    /// Stores a webhook, refusing one too many with [`WebhookRefusal::TooMany`](crate::WebhookRefusal::TooMany) however many come at once.
    async fn insert(&self, webhook: NewWebhook) -> Result<Webhook, WebhookError>;

    /// Changes what the change names and answers the result.
    async fn update(
        &self,
        application: ApplicationId,
        webhook: WebhookId,
        change: WebhookChange,
        at: DateTime<Utc>,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Puts another sealed secret in place; attempts leased from now on are signed with it.
    async fn replace_secret(
        &self,
        application: ApplicationId,
        webhook: WebhookId,
        sealed_secret: String,
        at: DateTime<Utc>,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Deletes a webhook with its deliveries. `false` when there was none.
    async fn delete(&self, application: ApplicationId, webhook: WebhookId) -> Result<bool, StoreError>;
}

/// A webhook to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWebhook {
    /// The project of the application.
    pub project_id: ProjectId,
    /// The application whose events it receives.
    pub application_id: ApplicationId,
    /// What staff say about it.
    pub details: WebhookDraft,
    /// Its secret, sealed.
    pub sealed_secret: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// Deliveries as staff see them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DeliveryLog: Send + Sync {
    /// A page of the webhook's deliveries, newest first.
    async fn page(&self, webhook: WebhookId, page: PageRequest) -> Result<Page<Delivery>, StoreError>;

    /// A delivery of the webhook.
    async fn find(&self, webhook: WebhookId, delivery: DeliveryId) -> Result<Option<Delivery>, StoreError>;

    /// Makes a delivery pending again. `false` when it is no longer in the state `from`.
    async fn requeue(
        &self,
        delivery: DeliveryId,
        from: DeliveryState,
        to: Pending,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;
}

/// The work of the delivery workers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DeliveryQueue: Send + Sync {
    /// Makes one delivery for every active webhook of the application of each public event that waits in the outbox, at
    /// most `events` of them in one transaction, and marks the events. An event is fanned out once, however many
    /// workers try. The random source gives the delivery ids.
    async fn fan_out(&self, events: u32, random: Arc<dyn Random>, at: DateTime<Utc>) -> Result<FanOut, StoreError>;

    /// Leases due deliveries of active webhooks that do not rest and that nobody holds a running lease on, shared as
    /// [`allocate_slots`](crate::model::allocate_slots) does. No two callers get the same delivery, and all callers together no more of an
    /// endpoint than its [`Circuit`] has room for. What cannot be read is put aside and stops nobody.
    async fn lease(&self, lease: Lease, most: u32, now: DateTime<Utc>) -> Result<Vec<LeasedDelivery>, StoreError>;

    /// Records how an attempt ended and gives the lease back. `false`, and nothing is written, when the lease has passed
    /// to another worker or the webhook is gone.
    async fn record_attempt(&self, attempt: AttemptRecord) -> Result<bool, StoreError>;

    /// Gives every lease of a worker back. Answers how many there were.
    async fn release(&self, owner: &str) -> Result<u64, StoreError>;

    /// How long work has been waiting.
    async fn backlog(&self, now: DateTime<Utc>) -> Result<Backlog, StoreError>;
}

/// What one batch of the outbox became.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FanOut {
    /// Events fanned out.
    pub events: usize,
    /// Deliveries made of them.
    pub deliveries: usize,
}

/// The right to send a delivery, until a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Which worker, a name unique among the running processes.
    pub owner: String,
    /// When others may take over.
    pub until: DateTime<Utc>,
}

/// A leased delivery with everything that is needed to send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedDelivery {
    /// The number of the delivery.
    pub id: DeliveryId,
    /// Where it is in its schedule.
    pub pending: Pending,
    /// The webhook it goes to.
    pub webhook_id: WebhookId,
    /// Whether the webhook answered in time so far.
    pub circuit: Circuit,
    /// Where it goes, as stored.
    pub url: String,
    /// The webhook's secret, sealed.
    pub sealed_secret: String,
    /// What is told.
    pub message: Message,
}

/// An attempt that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRecord {
    /// The number of the delivery.
    pub id: DeliveryId,
    /// The worker that held the lease.
    pub owner: String,
    /// The state in which the delivery was leased.
    pub from: Pending,
    /// The state that follows.
    pub to: DeliveryState,
    /// How the attempt ended.
    pub outcome: SendOutcome,
    /// The webhook it went to.
    pub webhook_id: WebhookId,
    /// The webhook's circuit when the delivery was leased.
    pub circuit: Circuit,
    /// The one that follows; not written when another attempt changed it meanwhile.
    pub circuit_after: Circuit,
    /// When it ended.
    pub at: DateTime<Utc>,
}

/// The oldest waiting work, for metrics; `None` when nothing waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// When the oldest event that is not fanned out came up.
    pub oldest_event: Option<DateTime<Utc>>,
    /// Since when the oldest due delivery of an active webhook is due.
    pub oldest_due: Option<DateTime<Utc>>,
}

/// Sends one request. Implementations follow no redirect, answer within [`SEND_TIMEOUT`], and refuse
/// to connect to an address that the policy does not permit.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Makes the attempt.
    async fn send(&self, request: DeliveryRequest) -> SendOutcome;
}

/// The cryptography of signatures.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait Signer: Send + Sync {
    /// HMAC-SHA256 of a message.
    fn hmac_sha256(&self, key: &[u8], message: &[u8]) -> [u8; 32];
}

/// How long one attempt may take in all, from looking the name up to the end of the answer.
pub const SEND_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);
