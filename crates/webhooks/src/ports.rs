//! Ports of webhooks: the interfaces that the outside implements.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    ApplicationId, DeliveryId, Listing, Page, PageRequest, ProjectId, ProjectScoped, Random, StoreError, WebhookId,
};

use crate::WebhookError;
use crate::model::{
    CircuitBreaker, Delivery, DeliveryRequest, DeliveryState, Message, Pending, ProjectDelivery, SendOutcome,
    TestDelivery, Webhook, WebhookChange, WebhookDraft,
};

/// Webhooks of an application.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WebhookRepository: Send + Sync {
    /// Returns the project of the application, or `None` if there is no such application.
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectScoped<()>>, StoreError>;

    /// Returns every webhook of the application, oldest first.
    async fn list(&self, application: ApplicationId) -> Result<Vec<Webhook>, StoreError>;

    /// Returns a webhook of the application.
    async fn find(&self, application: ApplicationId, webhook: WebhookId) -> Result<Option<Webhook>, StoreError>;

    /// Stores a webhook. Refuses one above the maximum with
    /// [`WebhookRefusal::TooMany`](crate::WebhookRefusal::TooMany), also under concurrent calls.
    async fn insert(&self, webhook: NewWebhook) -> Result<Webhook, WebhookError>;

    /// Changes the fields set in `change` and returns the result. If it
    /// [resets](WebhookChange::resets_circuit) the circuit breaker, that is stored in its default state.
    async fn update(
        &self,
        application: ApplicationId,
        webhook: WebhookId,
        change: WebhookChange,
        at: DateTime<Utc>,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Replaces the sealed secret; attempts leased from now on are signed with it.
    async fn replace_secret(
        &self,
        application: ApplicationId,
        webhook: WebhookId,
        sealed_secret: String,
        at: DateTime<Utc>,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Deletes a webhook with its deliveries. `false` if there was none.
    async fn delete(&self, application: ApplicationId, webhook: WebhookId) -> Result<bool, StoreError>;
}

/// Webhook to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWebhook {
    /// Project of the application.
    pub project_id: ProjectId,
    /// Application whose events it receives.
    pub application_id: ApplicationId,
    /// Settings entered by staff.
    pub details: WebhookDraft,
    /// Sealed secret.
    pub sealed_secret: String,
    /// Creation time.
    pub at: DateTime<Utc>,
}

/// Deliveries as shown to staff.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DeliveryLog: Send + Sync {
    /// Returns a page of the webhook's deliveries, newest first.
    async fn page(&self, webhook: WebhookId, page: PageRequest) -> Result<Page<Delivery>, StoreError>;

    /// Returns a page of the deliveries of all webhooks of the project. Fields: `id`, `status`, `webhook_id`.
    async fn project_page(&self, project: ProjectId, listing: Listing) -> Result<Page<ProjectDelivery>, StoreError>;

    /// Stores a test delivery that is due at once, and ends the pause of its endpoint. `None` if the webhook is
    /// inactive or was deleted; then nothing is written.
    async fn insert_test(&self, test: TestDelivery) -> Result<Option<Delivery>, StoreError>;

    /// Returns a delivery of the webhook.
    async fn find(&self, webhook: WebhookId, delivery: DeliveryId) -> Result<Option<Delivery>, StoreError>;

    /// Makes a delivery pending again, and ends the pause of its endpoint. `false` if it is no longer in the state
    /// `from`; then nothing is written.
    async fn requeue(
        &self,
        delivery: DeliveryId,
        from: DeliveryState,
        to: Pending,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;
}

/// Queue of the delivery workers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DeliveryQueue: Send + Sync {
    /// Fans out public events that wait in the outbox, at most `events` of them in one transaction, and marks
    /// them. Each event gets one delivery for every active webhook of its application. An event is fanned out
    /// once, however many workers try. The random source generates the delivery ids.
    async fn fan_out(&self, events: u32, random: Arc<dyn Random>, at: DateTime<Utc>) -> Result<FanOut, StoreError>;

    /// Leases due deliveries, shared as [`allocate_slots`](crate::model::allocate_slots) does. Only deliveries
    /// of active webhooks are leased whose endpoint is not paused and that have no running lease. No two callers
    /// get the same delivery. All callers together get no more of an endpoint and a project than
    /// [`free_slots`](crate::model::free_slots) allows, counted while the endpoints are locked.
    /// Unreadable rows are put aside and do not block others.
    async fn lease(&self, lease: Lease, most: u32, now: DateTime<Utc>) -> Result<Vec<LeasedDelivery>, StoreError>;

    /// Records the outcome of an attempt and releases the lease. Returns `false` and writes nothing if the lease
    /// has passed to another worker or the webhook was deleted.
    async fn record_attempt(&self, attempt: AttemptRecord) -> Result<bool, StoreError>;

    /// Releases every lease of a worker. Returns their number.
    async fn release(&self, owner: &str) -> Result<u64, StoreError>;

    /// Returns the age of the waiting work.
    async fn backlog(&self, now: DateTime<Utc>) -> Result<Backlog, StoreError>;
}

/// Result of one batch of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FanOut {
    /// Events fanned out.
    pub events: usize,
    /// Deliveries created from them.
    pub deliveries: usize,
}

/// Time-limited exclusive right to send a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Worker, a name unique among the running processes.
    pub owner: String,
    /// Time after which other workers may take over.
    pub until: DateTime<Utc>,
}

/// A leased delivery with everything needed to send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedDelivery {
    /// Identifier of the delivery.
    pub id: DeliveryId,
    /// Position in its schedule.
    pub pending: Pending,
    /// Webhook that receives it.
    pub webhook_id: WebhookId,
    /// Circuit breaker of the webhook.
    pub circuit: CircuitBreaker,
    /// Target address, as stored.
    pub url: String,
    /// Sealed secret of the webhook.
    pub sealed_secret: String,
    /// Content of the delivery.
    pub message: Message,
}

/// Attempt to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRecord {
    /// Identifier of the delivery.
    pub id: DeliveryId,
    /// Worker that held the lease.
    pub owner: String,
    /// State in which the delivery was leased.
    pub from: Pending,
    /// State that follows.
    pub to: DeliveryState,
    /// Outcome of the attempt.
    pub outcome: SendOutcome,
    /// Webhook that received it.
    pub webhook_id: WebhookId,
    /// The webhook's circuit breaker when the delivery was leased.
    pub circuit: CircuitBreaker,
    /// Circuit breaker that follows; not written if another attempt changed it in the meantime.
    pub circuit_after: CircuitBreaker,
    /// End of the attempt.
    pub at: DateTime<Utc>,
}

/// Oldest waiting work, for metrics; `None` when nothing waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Time of the oldest event that is not fanned out.
    pub oldest_event: Option<DateTime<Utc>>,
    /// Due time of the oldest due delivery of an active webhook.
    pub oldest_due: Option<DateTime<Utc>>,
}

/// Sends one request. Implementations follow no redirect, answer within [`SEND_TIMEOUT`], and refuse to connect
/// to an address that the policy does not permit.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Makes the attempt.
    async fn send(&self, request: DeliveryRequest) -> SendOutcome;
}

/// Cryptography of signatures.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait Signer: Send + Sync {
    /// Computes the HMAC-SHA256 of a message.
    fn hmac_sha256(&self, key: &[u8], message: &[u8]) -> [u8; 32];
}

/// Timeout of one attempt, from resolving the name to the end of the answer.
pub const SEND_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);
