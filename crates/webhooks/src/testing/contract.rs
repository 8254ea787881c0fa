//! Contract of the storage ports of webhooks, for every implementation.
//!
//! Each function checks one promise of the ports and panics if it is broken. An adapter implements [`Fixture`]
//! on a fresh storage and runs every function with a storage of its own.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a broken promise fails the test that runs it"
)]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::listing::Sort;
use kontor_kernel::{AppScope, Edit, Listing, PageRequest, Random, RecordError, WebhookId};

use crate::WebhookRefusal;
use crate::model::{
    DeliveryState, EndpointUrl, MAX_PER_ENDPOINT, SendFailure, SendOutcome, TestDelivery, Webhook, WebhookChange,
    WebhookDraft,
};
use crate::ports::{
    AttemptRecord, Backlog, DeliveryLog, DeliveryQueue, Lease, LeasedDelivery, NewWebhook, WebhookRepository,
};

/// Storage under test.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: WebhookRepository + DeliveryLog + DeliveryQueue + 'static;

    /// Returns the storage under test. At the beginning its outbox is empty.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns a new application.
    async fn app(&self) -> AppScope;

    /// Adds public events of the application to the outbox.
    async fn events(&self, app: AppScope, count: u32);
}

/// Bytes that never repeat in a process, for the identifiers of deliveries.
struct Serial;

impl Random for Serial {
    fn fill(&self, bytes: &mut [u8]) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        for chunk in bytes.chunks_mut(8) {
            let next = NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes();
            chunk.iter_mut().zip(next).for_each(|(byte, value)| *byte = value);
        }
    }
}

fn noon() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(12)
}

fn after(seconds: i64) -> DateTime<Utc> {
    noon() + TimeDelta::seconds(seconds)
}

fn new_webhook(app: AppScope) -> NewWebhook {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let url = EndpointUrl::parse(&format!("https://shop.example/{number}")).unwrap();
    NewWebhook {
        project_id: app.project_id,
        application_id: app.application_id,
        details: WebhookDraft { name: None, url, is_active: true },
        sealed_secret: "sealed".to_owned(),
        at: noon(),
    }
}

async fn webhook<F: Fixture>(fixture: &F, app: AppScope) -> Webhook {
    WebhookRepository::insert(&*fixture.store(), new_webhook(app)).await.unwrap()
}

async fn switched<F: Fixture>(fixture: &F, app: AppScope, id: WebhookId, is_active: bool) {
    let change = WebhookChange { is_active: Edit::Set(is_active), ..WebhookChange::default() };
    fixture.store().update(app.application_id, id, change, noon()).await.unwrap().unwrap();
}

/// A webhook with this number of due deliveries.
async fn waiting<F: Fixture>(fixture: &F, count: u32) -> (AppScope, Webhook) {
    let app = fixture.app().await;
    let webhook = webhook(fixture, app).await;
    fixture.events(app, count).await;
    let done = fixture.store().fan_out(100, Arc::new(Serial), noon()).await.unwrap();
    assert_eq!(done.deliveries, usize::try_from(count).unwrap());
    (app, webhook)
}

/// Leases deliveries for a minute.
async fn leased<F: Fixture>(fixture: &F, owner: &str, most: u32, now: DateTime<Utc>) -> Vec<LeasedDelivery> {
    let lease = Lease { owner: owner.to_owned(), until: now + TimeDelta::minutes(1) };
    fixture.store().lease(lease, most, now).await.unwrap()
}

fn attempt(leased: &LeasedDelivery, owner: &str, outcome: SendOutcome, at: DateTime<Utc>) -> AttemptRecord {
    AttemptRecord {
        id: leased.id,
        owner: owner.to_owned(),
        from: leased.pending,
        to: leased.pending.after(&outcome, at),
        outcome,
        webhook_id: leased.webhook_id,
        circuit: leased.circuit,
        circuit_after: leased.circuit.after(&outcome, at),
        at,
    }
}

fn page() -> PageRequest {
    PageRequest::new(1, 100, 100).unwrap()
}

/// Under concurrent calls, an event is fanned out once: one delivery for every active webhook of its application.
pub async fn an_event_is_fanned_out_once<F: Fixture>(fixture: &F) {
    let (store, app, other) = (fixture.store(), fixture.app().await, fixture.app().await);
    let [first, second, inactive, foreign] = [
        webhook(fixture, app).await,
        webhook(fixture, app).await,
        webhook(fixture, app).await,
        webhook(fixture, other).await,
    ];
    switched(fixture, app, inactive.id, false).await;
    fixture.events(app, 5).await;
    let fanned = join_all((0..4).map(|_| store.fan_out(3, Arc::new(Serial), noon()))).await;
    let rest = store.fan_out(100, Arc::new(Serial), noon()).await;
    let all: Vec<_> = fanned.into_iter().chain([rest]).map(Result::unwrap).collect();
    assert_eq!(all.iter().map(|done| done.events).sum::<usize>(), 5, "{all:?}");
    assert_eq!(all.iter().map(|done| done.deliveries).sum::<usize>(), 10, "{all:?}");
    let mut events = Vec::new();
    let mut deliveries = BTreeSet::new();
    for webhook in [first, second] {
        let page = store.page(webhook.id, page()).await.unwrap();
        deliveries.extend(page.items.iter().map(|delivery| delivery.delivery_id));
        events.push(page.items.into_iter().map(|delivery| delivery.event_id).collect::<BTreeSet<_>>());
    }
    assert_eq!((deliveries.len(), events[0].len()), (10, 5));
    assert_eq!(events[0], events[1], "both receive the same events");
    for silent in [inactive.id, foreign.id] {
        assert_eq!(store.page(silent, page()).await.unwrap().total, 0);
    }
}

/// Under concurrent calls, a delivery has one lease, and an endpoint gets no more attempts than it has slots.
pub async fn a_delivery_has_one_lease<F: Fixture>(fixture: &F) {
    waiting(fixture, 20).await;
    let owners: Vec<String> = (0..6).map(|number| format!("worker {number}")).collect();
    let rounds = join_all(owners.iter().map(|owner| leased(fixture, owner, 4, noon()))).await;
    let rest = leased(fixture, "last", 100, noon()).await;
    let all: Vec<_> = rounds.into_iter().flatten().chain(rest).collect();
    assert_eq!(all.len(), MAX_PER_ENDPOINT);
    assert_eq!(all.iter().map(|delivery| delivery.id).collect::<BTreeSet<_>>().len(), MAX_PER_ENDPOINT);
    assert!(leased(fixture, "late", 100, noon()).await.is_empty());
}

/// A lease that has run out passes to another worker. The first worker then records nothing.
pub async fn an_expired_lease_passes_on<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let (_, webhook) = waiting(fixture, 1).await;
    let dead = leased(fixture, "dead", 8, noon()).await;
    assert_eq!(dead.len(), 1);
    assert!(leased(fixture, "alive", 8, after(59)).await.is_empty());
    let alive = leased(fixture, "alive", 8, after(60)).await;
    assert_eq!(alive, dead);
    let late = attempt(&dead[0], "dead", SendOutcome::Answered(200), after(60));
    assert!(!store.record_attempt(late).await.unwrap());
    let ended = attempt(&alive[0], "alive", SendOutcome::Answered(503), after(60));
    let records = join_all((0..4).map(|_| store.record_attempt(ended.clone()))).await;
    assert_eq!(records.into_iter().filter(|written| *written.as_ref().unwrap()).count(), 1);
    let found = DeliveryLog::find(&*store, webhook.id, alive[0].id).await.unwrap().unwrap();
    assert_eq!((found.state.attempts(), found.response_status), (1, Some(503)));
    assert!(leased(fixture, "alive", 8, after(119)).await.is_empty(), "the next attempt is a minute later");
    assert_eq!(leased(fixture, "alive", 8, after(120)).await.len(), 1);
}

/// A worker that stops releases its own leases.
pub async fn a_stopped_worker_releases_its_leases<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    waiting(fixture, 5).await;
    assert_eq!(leased(fixture, "stopping", 3, noon()).await.len(), 3);
    assert_eq!(leased(fixture, "other", 1, noon()).await.len(), 1);
    assert_eq!((store.release("stopping").await.unwrap(), store.release("stopping").await.unwrap()), (3, 0));
    assert_eq!(leased(fixture, "other", 8, noon()).await.len(), 4);
}

/// Nothing is sent to an inactive webhook. The attempt of a deleted webhook is not recorded.
pub async fn an_inactive_webhook_gets_nothing<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let (app, webhook) = waiting(fixture, 1).await;
    switched(fixture, app, webhook.id, false).await;
    assert!(leased(fixture, "worker", 8, noon()).await.is_empty());
    switched(fixture, app, webhook.id, true).await;
    let last = leased(fixture, "worker", 8, noon()).await;
    let outsider = fixture.app().await.application_id;
    assert!(!WebhookRepository::delete(&*store, outsider, webhook.id).await.unwrap());
    assert!(WebhookRepository::delete(&*store, app.application_id, webhook.id).await.unwrap());
    let record = attempt(&last[0], "worker", SendOutcome::Answered(200), noon());
    assert!(!store.record_attempt(record).await.unwrap());
    assert!(DeliveryLog::find(&*store, webhook.id, last[0].id).await.unwrap().is_none());
}

/// An endpoint that timed out is paused, and gets one delivery at a time until it answers.
pub async fn an_endpoint_without_answer_is_paused<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    waiting(fixture, 4).await;
    let first = leased(fixture, "worker", 1, noon()).await;
    let silent = attempt(&first[0], "worker", SendOutcome::Failed(SendFailure::TimedOut), noon());
    let until = silent.circuit_after.paused_until().unwrap();
    assert!(store.record_attempt(silent).await.unwrap());
    assert!(leased(fixture, "worker", 8, until - TimeDelta::seconds(1)).await.is_empty());
    let next = leased(fixture, "worker", 8, until).await;
    assert_eq!(next.len(), 1, "one attempt proves whether it answers");
    assert!(leased(fixture, "other", 8, until).await.is_empty());
    assert!(store.record_attempt(attempt(&next[0], "worker", SendOutcome::Answered(200), until)).await.unwrap());
    assert_eq!(leased(fixture, "worker", 8, until).await.len(), 2);
}

/// Attempts at an endpoint that began together and time out count as one timeout.
pub async fn attempts_that_time_out_together_count_once<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    waiting(fixture, 3).await;
    let begun = leased(fixture, "worker", 2, noon()).await;
    let timed_out = |leased, at| attempt(leased, "worker", SendOutcome::Failed(SendFailure::TimedOut), at);
    let (first, second) = (timed_out(&begun[0], noon()), timed_out(&begun[1], after(5)));
    let until = first.circuit_after.paused_until().unwrap();
    assert!(second.circuit_after.paused_until().unwrap() > until);
    for attempt in [first, second] {
        assert!(store.record_attempt(attempt).await.unwrap());
    }
    let next = leased(fixture, "worker", 8, until).await;
    assert_eq!(next.iter().map(|delivery| delivery.circuit.timeouts()).collect::<Vec<_>>(), [1]);
}

/// Under concurrent calls, a delivery is resent once from a state.
pub async fn a_delivery_is_resent_once<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let (_, webhook) = waiting(fixture, 1).await;
    let sent = leased(fixture, "worker", 8, noon()).await;
    assert!(store.record_attempt(attempt(&sent[0], "worker", SendOutcome::Answered(200), noon())).await.unwrap());
    let delivered = DeliveryLog::find(&*store, webhook.id, sent[0].id).await.unwrap().unwrap();
    assert_eq!(delivered.state, DeliveryState::Delivered { attempts: 1, delivered_at: noon() });
    assert!(leased(fixture, "worker", 8, after(86_400)).await.is_empty());
    let pending = delivered.state.resend(after(60)).unwrap();
    let requeue = || store.requeue(delivered.id, delivered.state, pending, after(60));
    let outcomes = join_all((0..4).map(|_| requeue())).await;
    assert_eq!(outcomes.into_iter().filter(|written| *written.as_ref().unwrap()).count(), 1);
    let again = leased(fixture, "worker", 8, after(60)).await;
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].message, sent[0].message, "the identifiers and the body stay");
}

/// Under concurrent calls, an application has at most the maximum of webhooks.
pub async fn an_application_has_limited_webhooks<F: Fixture>(fixture: &F) {
    let (store, app) = (fixture.store(), fixture.app().await);
    let most = usize::try_from(Webhook::MAX_PER_APPLICATION).unwrap();
    let adding = (0..most + 4).map(|_| WebhookRepository::insert(&*store, new_webhook(app)));
    let outcomes = join_all(adding).await;
    let refused =
        outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::Refused(WebhookRefusal::TooMany))));
    assert_eq!(refused.count(), 4, "{outcomes:?}");
    assert_eq!(WebhookRepository::list(&*store, app.application_id).await.unwrap().len(), most);
}

/// Other applications neither find, change nor delete a webhook. Other projects do not list its deliveries.
pub async fn a_webhook_stays_in_its_application<F: Fixture>(fixture: &F) {
    let (store, other) = (fixture.store(), fixture.app().await);
    let (app, webhook) = waiting(fixture, 1).await;
    let foreign = other.application_id;
    assert_eq!(WebhookRepository::find(&*store, foreign, webhook.id).await.unwrap(), None);
    assert!(WebhookRepository::list(&*store, foreign).await.unwrap().is_empty());
    let change = WebhookChange { is_active: Edit::Set(false), ..WebhookChange::default() };
    assert_eq!(store.update(foreign, webhook.id, change, noon()).await.unwrap(), None);
    assert_eq!(store.replace_secret(foreign, webhook.id, "other".to_owned(), noon()).await.unwrap(), None);
    assert!(!WebhookRepository::delete(&*store, foreign, webhook.id).await.unwrap());
    assert_eq!(WebhookRepository::find(&*store, app.application_id, webhook.id).await.unwrap(), Some(webhook));
    for (project, total) in [(app.project_id, 1), (other.project_id, 0)] {
        let listing = Listing::unfiltered(Sort::descending("id"), page());
        assert_eq!(store.project_page(project, listing).await.unwrap().total, total);
    }
    let owner = store.owner(app.application_id).await.unwrap().unwrap();
    assert_eq!(owner.within(other.project_id), None);
    let mixed = NewWebhook { project_id: other.project_id, ..new_webhook(app) };
    let refused = WebhookRepository::insert(&*store, mixed).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
}

/// Attempts that begin after a rotation are signed with the new secret.
pub async fn a_new_secret_signs_the_next_attempt<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let (app, webhook) = waiting(fixture, 2).await;
    assert_eq!(leased(fixture, "worker", 1, noon()).await[0].sealed_secret, "sealed");
    let changed = store.replace_secret(app.application_id, webhook.id, "new".to_owned(), after(1)).await.unwrap();
    assert_eq!(changed, Some(Webhook { updated_at: after(1), ..webhook }));
    assert_eq!(leased(fixture, "worker", 1, after(1)).await[0].sealed_secret, "new");
}

/// A test is sent to one active webhook of the application, also to a paused one.
pub async fn a_test_reaches_an_active_webhook<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let (app, target) = waiting(fixture, 1).await;
    let silent = webhook(fixture, app).await;
    let random: &dyn Random = &Serial;
    let (event_id, delivery_id) = (random.uuid(), random.uuid());
    let AppScope { project_id, application_id, .. } = app;
    let test = TestDelivery { project_id, application_id, webhook_id: target.id, event_id, delivery_id, at: after(1) };
    let first = leased(fixture, "worker", 8, noon()).await;
    let timed_out = attempt(&first[0], "worker", SendOutcome::Failed(SendFailure::TimedOut), noon());
    assert!(store.record_attempt(timed_out).await.unwrap());
    switched(fixture, app, silent.id, false).await;
    assert_eq!(store.insert_test(TestDelivery { webhook_id: silent.id, ..test }).await.unwrap(), None);
    let project_id = fixture.app().await.project_id;
    assert_eq!(store.insert_test(TestDelivery { project_id, ..test }).await.unwrap(), None);
    let stored = store.insert_test(test).await.unwrap().unwrap();
    assert_eq!(
        (stored.event_id, stored.delivery_id, stored.event.as_str()),
        (event_id, delivery_id, TestDelivery::EVENT)
    );
    assert_eq!(store.fan_out(100, Arc::new(Serial), after(1)).await.unwrap().events, 0);
    assert_eq!(store.page(silent.id, page()).await.unwrap().total, 0);
    let sent = leased(fixture, "worker", 8, after(1)).await;
    assert_eq!(sent.iter().map(|delivery| delivery.id).collect::<Vec<_>>(), [stored.id]);
    assert_eq!(sent[0].message.body, test.body());
}

/// The backlog is the oldest event that is not fanned out, and the oldest due delivery of an active webhook.
pub async fn the_backlog_is_the_oldest_work<F: Fixture>(fixture: &F) {
    let (store, app) = (fixture.store(), fixture.app().await);
    let webhook = webhook(fixture, app).await;
    assert_eq!(store.backlog(noon()).await.unwrap(), Backlog::default());
    fixture.events(app, 2).await;
    assert!(store.backlog(noon()).await.unwrap().oldest_event.is_some());
    store.fan_out(100, Arc::new(Serial), noon()).await.unwrap();
    let waits = Backlog { oldest_event: None, oldest_due: Some(noon()) };
    assert_eq!(store.backlog(after(60)).await.unwrap(), waits);
    switched(fixture, app, webhook.id, false).await;
    assert_eq!(store.backlog(after(60)).await.unwrap(), Backlog::default());
}
