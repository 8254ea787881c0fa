//! Webhooks: fan-out of events, leases and recording of attempts.
#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::RunQueryDsl;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Abort, Database, database_tests};
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    ApplicationId, Edit, Listing, Name, PageRequest, ProjectId, ProjectScoped, RecordError, StoreError, WebhookId,
};
use kontor_webhooks::WebhookRefusal;
use kontor_webhooks::model::{
    DeliveryState, EndpointUrl, SendFailure, SendOutcome, TestDelivery, Webhook, WebhookChange, WebhookDraft,
};
use kontor_webhooks::ports::{
    AttemptRecord, Backlog, DeliveryLog, DeliveryQueue, FanOut, Lease, LeasedDelivery, NewWebhook, WebhookRepository,
};
use uuid::Uuid;

use crate::fixtures;

pub const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

#[derive(diesel::QueryableByName)]
struct Inserted {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    id: i64,
}

pub async fn statement(db: &Database, sql: String) -> i64 {
    db.write_and_invalidate_all(move |connection| {
        let row: Inserted = diesel::sql_query(&sql).get_result(connection)?;
        Ok::<_, Abort<StoreError>>(row.id)
    })
    .await
    .unwrap()
}

/// An application of the project, with a branch of its own.
async fn application(db: &TestDatabase, project: ProjectId) -> ApplicationId {
    let now = "'2026-01-01 00:00:00'";
    let branch = format!(
        "INSERT INTO branches (project_id, name, created_at, updated_at) VALUES ({project}, 'B', {now}, {now}) RETURNING id"
    );
    let branch = statement(&db.database, branch).await;
    let application = format!(
        "INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, \
         updated_at) VALUES ({project}, {branch}, 'A', 'token-{branch}', TRUE, FALSE, {now}, {now}) RETURNING id"
    );
    ApplicationId::new(statement(&db.database, application).await).unwrap()
}

fn new_webhook(project: ProjectId, application: ApplicationId, url: &str) -> NewWebhook {
    NewWebhook {
        project_id: project,
        application_id: application,
        details: WebhookDraft { name: None, url: EndpointUrl::parse(url).unwrap(), is_active: true },
        sealed_secret: "sealed:first".to_owned(),
        at: START,
    }
}

pub struct Shop {
    pub project: ProjectId,
    pub application: ApplicationId,
    pub webhook: Webhook,
}

/// A project with an application that has one webhook.
pub async fn shop(db: &TestDatabase) -> Shop {
    let project = fixtures::project(db).await;
    let application = application(db, project).await;
    let new = new_webhook(project, application, "https://shop.example/hook");
    let webhook = WebhookRepository::insert(&db.database, new).await.unwrap();
    Shop { project, application, webhook }
}

pub async fn event(db: &TestDatabase, shop: &Shop, number: u32, topic: &str) {
    let (project, application) = (shop.project, shop.application);
    let event = format!(
        "INSERT INTO outbox_events (event_id, project_id, application_id, topic, payload, created_at) VALUES \
         ('00000000-0000-4000-8000-{number:012}', {project}, {application}, '{topic}', '{{\"number\":{number}}}', \
         '1970-01-01 00:00:00') RETURNING id"
    );
    statement(&db.database, event).await;
}

pub async fn paid_orders(db: &TestDatabase, shop: &Shop, count: u32) {
    for number in 1..=count {
        event(db, shop, number, "order.paid").await;
    }
    db.database.fan_out(1000, SeededRandom::shared(), START).await.unwrap();
}

pub fn lease(owner: &str, until: DateTime<Utc>) -> Lease {
    Lease { owner: owner.to_owned(), until }
}

pub async fn lease_due(db: &Database, owner: &str, most: u32, now: DateTime<Utc>) -> Vec<LeasedDelivery> {
    db.lease(lease(owner, now + TimeDelta::minutes(1)), most, now).await.unwrap()
}

pub fn attempt(leased: &LeasedDelivery, owner: &str, outcome: SendOutcome, at: DateTime<Utc>) -> AttemptRecord {
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

pub fn first_page() -> PageRequest {
    PageRequest::new(1, 15, 100).unwrap()
}

database_tests! {
    async fn a_webhook_is_stored_changed_and_deleted_within_its_application(db: TestDatabase) {
        let shop = shop(&db).await;
        let other = application(&db, shop.project).await;
        let (db, id) = (&db.database, shop.webhook.id);
        assert_eq!(db.owner(shop.application).await.unwrap(), Some(ProjectScoped::new(shop.project, ())));
        assert_eq!(db.owner(ApplicationId::new(9999).unwrap()).await.unwrap(), None);
        assert_eq!(WebhookRepository::list(db, shop.application).await.unwrap(), vec![shop.webhook.clone()]);
        assert_eq!(WebhookRepository::find(db, other, id).await.unwrap(), None);
        assert_eq!(db.update(other, id, WebhookChange::default(), START).await.unwrap(), None);
        assert_eq!(db.replace_secret(other, id, "sealed:second".to_owned(), START).await.unwrap(), None);
        assert!(!WebhookRepository::delete(db, other, id).await.unwrap());

        let later = START + TimeDelta::hours(1);
        let named = Name::parse("Склад").unwrap();
        let (name, is_active) = (Edit::Set(Some(named.clone())), Edit::Set(false));
        let change = WebhookChange { name, is_active, ..WebhookChange::default() };
        let changed = db.update(shop.application, id, change, later).await.unwrap().unwrap();
        let details = WebhookDraft { name: Some(named), is_active: false, ..shop.webhook.details.clone() };
        assert_eq!(changed, Webhook { details, updated_at: later, ..shop.webhook.clone() });
        let url = EndpointUrl::parse("https://other.example").unwrap();
        let change = WebhookChange { name: Edit::Set(None), url: Edit::Set(url.clone()), is_active: Edit::Keep };
        let moved = db.update(shop.application, id, change, later).await.unwrap().unwrap();
        assert_eq!(moved.details, WebhookDraft { name: None, url, is_active: false });

        assert!(WebhookRepository::delete(db, shop.application, id).await.unwrap());
        assert_eq!(WebhookRepository::find(db, shop.application, id).await.unwrap(), None);
    }

    async fn an_application_has_at_most_twenty_webhooks_however_they_are_added(db: TestDatabase) {
        let shop = shop(&db).await;
        let adding: Vec<_> = (0..30)
            .map(|number| {
                let database = db.database.clone();
                let new = new_webhook(shop.project, shop.application, &format!("https://shop.example/{number}"));
                tokio::spawn(async move { WebhookRepository::insert(&database, new).await })
            })
            .collect();
        let mut refused = 0;
        for task in adding {
            match task.await.unwrap() {
                Ok(_) => {}
                Err(RecordError::Refused(WebhookRefusal::TooMany)) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(refused, 11);
        assert_eq!(WebhookRepository::list(&db.database, shop.application).await.unwrap().len(), 20);
    }

    async fn an_event_goes_once_to_each_active_webhook_of_its_application(db: TestDatabase) {
        let (mine, other) = (shop(&db).await, shop(&db).await);
        let second = new_webhook(mine.project, mine.application, "https://shop.example/second");
        let second = WebhookRepository::insert(&db.database, second).await.unwrap();
        let third = new_webhook(mine.project, mine.application, "https://shop.example/third");
        let third = WebhookRepository::insert(&db.database, third).await.unwrap();
        let off = WebhookChange { is_active: Edit::Set(false), ..WebhookChange::default() };
        db.database.update(mine.application, third.id, off, START).await.unwrap();
        let beside = application(&db, mine.project).await;
        let beside = new_webhook(mine.project, beside, "https://beside.example/hook");
        let beside = WebhookRepository::insert(&db.database, beside).await.unwrap();
        event(&db, &mine, 1, "order.paid").await;
        event(&db, &mine, 2, "order.created").await;

        let now = START + TimeDelta::seconds(3);
        assert_eq!(db.database.backlog(now).await.unwrap(), Backlog { oldest_event: Some(START), oldest_due: None });
        let done = db.database.fan_out(100, SeededRandom::shared(), now).await.unwrap();
        assert_eq!(done, FanOut { events: 1, deliveries: 2 });
        assert_eq!(db.database.backlog(now).await.unwrap(), Backlog { oldest_event: None, oldest_due: Some(now) });
        let again = db.database.fan_out(100, SeededRandom::shared(), now).await.unwrap();
        assert_eq!(again, FanOut::default());

        let page = db.database.page(mine.webhook.id, first_page()).await.unwrap();
        assert_eq!((page.total, page.items[0].event.as_str()), (1, "order.paid"));
        assert_eq!(page.items[0].event_id.to_string(), "00000000-0000-4000-8000-000000000001");
        let twin = db.database.page(second.id, first_page()).await.unwrap();
        assert_eq!(twin.items[0].event_id, page.items[0].event_id);
        assert_ne!(twin.items[0].delivery_id, page.items[0].delivery_id);
        for silent in [third.id, beside.id, other.webhook.id] {
            assert_eq!(db.database.page(silent, first_page()).await.unwrap().total, 0);
        }
    }

    async fn racing_dispatchers_fan_each_event_out_once(db: TestDatabase) {
        let shop = shop(&db).await;
        for number in 1..=40 {
            event(&db, &shop, number, "order.paid").await;
        }
        let dispatchers: Vec<_> = (0..4)
            .map(|_| {
                let database = db.database.clone();
                tokio::spawn(async move {
                    let (random, mut events) = (SeededRandom::shared(), 0);
                    for _ in 0..40 {
                        events += database.fan_out(7, random.clone(), START).await.unwrap().events;
                    }
                    events
                })
            })
            .collect();
        let mut events = 0;
        for dispatcher in dispatchers {
            events += dispatcher.await.unwrap();
        }
        assert_eq!(events, 40);
        assert_eq!(db.database.page(shop.webhook.id, first_page()).await.unwrap().total, 40);
    }

    async fn two_workers_send_each_of_a_hundred_deliveries_once(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 100).await;
        let workers: Vec<_> = ["left", "right"]
            .map(|owner| {
                let database = db.database.clone();
                tokio::spawn(async move {
                    let mut sent = Vec::new();
                    loop {
                        let round = lease_due(&database, owner, 8, START).await;
                        if round.is_empty() {
                            return sent;
                        }
                        for delivery in round {
                            let ended = attempt(&delivery, owner, SendOutcome::Answered(200), START);
                            assert!(database.record_attempt(ended).await.unwrap());
                            sent.push(delivery.message.body);
                        }
                    }
                })
            })
            .into_iter()
            .collect();
        let mut sent = Vec::new();
        for worker in workers {
            sent.extend(worker.await.unwrap());
        }
        assert_eq!(sent.len(), 100);
        assert_eq!(sent.into_iter().collect::<BTreeSet<_>>().len(), 100);
        assert!(lease_due(&db.database, "left", 8, START + TimeDelta::days(9)).await.is_empty());
    }

    async fn a_lease_keeps_others_away_until_it_runs_out(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 1).await;
        let db = &db.database;
        let dead = lease_due(db, "dead", 8, START).await;
        assert_eq!(dead.len(), 1);
        assert_eq!((dead[0].url.as_str(), dead[0].sealed_secret.as_str()), ("https://shop.example/hook", "sealed:first"));
        assert_eq!(dead[0].message.body, "{\"number\":1}");
        assert!(lease_due(db, "alive", 8, START + TimeDelta::seconds(59)).await.is_empty());

        let later = START + TimeDelta::seconds(60);
        let taken = lease_due(db, "alive", 8, later).await;
        assert_eq!(taken, dead);
        let late = attempt(&dead[0], "dead", SendOutcome::Answered(200), later);
        assert!(!db.record_attempt(late).await.unwrap());
        let ended = attempt(&taken[0], "alive", SendOutcome::Answered(503), later);
        assert!(db.record_attempt(ended.clone()).await.unwrap());
        assert!(!db.record_attempt(ended).await.unwrap());
        let logged = &db.page(shop.webhook.id, first_page()).await.unwrap().items[0];
        assert_eq!(logged.state.next_attempt_at(), Some(later + TimeDelta::minutes(1)));
        assert_eq!((logged.state.attempts(), logged.response_status), (1, Some(503)));
        assert_eq!(logged.last_error.as_deref(), Some("the receiver answered 503"));
    }

    async fn a_worker_that_stops_gives_its_leases_back(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 5).await;
        let db = &db.database;
        assert_eq!(lease_due(db, "stopping", 3, START).await.len(), 3);
        assert_eq!(lease_due(db, "other", 1, START).await.len(), 1);
        assert_eq!(db.release("stopping").await.unwrap(), 3);
        assert_eq!(db.release("stopping").await.unwrap(), 0);
        assert_eq!(lease_due(db, "other", 8, START).await.len(), 4);
    }

    async fn six_failures_end_a_delivery_and_a_resend_restarts_it(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 1).await;
        let (db, mut now) = (&db.database, START);
        let mut minutes = Vec::new();
        while let Some(due) = lease_due(db, "me", 8, now).await.pop() {
            minutes.push((now - START).num_minutes());
            let failed = attempt(&due, "me", SendOutcome::Failed(SendFailure::TimedOut), now);
            let next = failed.to.next_attempt_at();
            assert!(db.record_attempt(failed).await.unwrap());
            let Some(next) = next else { continue };
            assert!(lease_due(db, "me", 8, next - TimeDelta::seconds(1)).await.is_empty());
            now = next;
        }
        assert_eq!(minutes, [0, 1, 6, 36, 156, 876]);
        let failed = db.page(shop.webhook.id, first_page()).await.unwrap().items.remove(0);
        assert_eq!(failed.state, DeliveryState::Failed { attempts: 6 });
        assert_eq!((failed.response_status, failed.last_error.is_some()), (None, true));

        now += TimeDelta::days(1);
        let pending = failed.state.resend(now).unwrap();
        assert!(db.requeue(failed.id, failed.state, pending, now).await.unwrap());
        assert!(!db.requeue(failed.id, failed.state, pending, now).await.unwrap());
        let again = lease_due(db, "me", 8, now).await.remove(0);
        assert_eq!((again.message.delivery_id, again.message.event_id), (failed.delivery_id, failed.event_id));
        assert!(db.record_attempt(attempt(&again, "me", SendOutcome::Answered(204), now)).await.unwrap());
        let delivered = DeliveryLog::find(db, shop.webhook.id, failed.id).await.unwrap().unwrap();
        assert_eq!(delivered.state, DeliveryState::Delivered { attempts: 1, delivered_at: now });
        assert_eq!((delivered.response_status, delivered.last_error), (Some(204), None));
        assert_eq!(DeliveryLog::find(db, WebhookId::new(9999).unwrap(), failed.id).await.unwrap(), None);
    }

    async fn an_inactive_or_deleted_webhook_is_sent_nothing(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 2).await;
        let (db, id) = (&db.database, shop.webhook.id);
        let held = lease_due(db, "me", 1, START).await;
        let switched = |is_active| WebhookChange { is_active: Edit::Set(is_active), ..WebhookChange::default() };
        db.update(shop.application, id, switched(false), START).await.unwrap();
        assert!(lease_due(db, "me", 8, START).await.is_empty());
        assert_eq!(db.backlog(START).await.unwrap(), Backlog::default());
        db.update(shop.application, id, switched(true), START).await.unwrap();
        assert_eq!(lease_due(db, "me", 8, START).await.len(), 1);
        assert!(WebhookRepository::delete(db, shop.application, id).await.unwrap());
        assert!(!db.record_attempt(attempt(&held[0], "me", SendOutcome::Answered(200), START)).await.unwrap());
        assert!(lease_due(db, "me", 8, START + TimeDelta::hours(1)).await.is_empty());
    }

    async fn an_attempt_is_signed_with_the_newest_secret(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 1).await;
        let db = &db.database;
        db.replace_secret(shop.application, shop.webhook.id, "sealed:second".to_owned(), START).await.unwrap();
        assert_eq!(lease_due(db, "me", 8, START).await[0].sealed_secret, "sealed:second");
    }

    async fn a_test_is_stored_for_an_active_webhook_and_no_other(db: TestDatabase) {
        let shop = shop(&db).await;
        let new = new_webhook(shop.project, shop.application, "https://shop.example/second");
        let second = WebhookRepository::insert(&db.database, new).await.unwrap();
        let test = |number: u128| TestDelivery {
            project_id: shop.project,
            application_id: shop.application,
            webhook_id: shop.webhook.id,
            event_id: Uuid::from_u128(number),
            delivery_id: Uuid::from_u128(number + 100),
            at: START,
        };
        let db = &db.database;
        let stored = db.insert_test(test(1)).await.unwrap().unwrap();
        assert_eq!(DeliveryLog::find(db, shop.webhook.id, stored.id).await.unwrap(), Some(stored.clone()));
        assert_eq!(db.fan_out(1000, SeededRandom::shared(), START).await.unwrap(), FanOut::default());
        let leased = lease_due(db, "me", 8, START).await;
        assert_eq!(leased.len(), 1);
        assert_eq!((leased[0].webhook_id, leased[0].message.event.as_str()), (shop.webhook.id, "ping"));
        assert_eq!((&leased[0].message.body, leased[0].message.delivery_id), (&test(1).body(), stored.delivery_id));

        let off = WebhookChange { is_active: Edit::Set(false), ..WebhookChange::default() };
        db.update(shop.application, shop.webhook.id, off, START).await.unwrap();
        let of_second = db.insert_test(TestDelivery { webhook_id: second.id, ..test(2) }).await.unwrap().unwrap();
        for refused in [
            test(3),
            TestDelivery { webhook_id: WebhookId::new(9999).unwrap(), ..test(3) },
            TestDelivery { webhook_id: second.id, project_id: ProjectId::new(9999).unwrap(), ..test(3) },
            TestDelivery { webhook_id: second.id, application_id: ApplicationId::new(9999).unwrap(), ..test(3) },
        ] {
            assert_eq!(db.insert_test(refused).await.unwrap(), None, "{refused:?}");
        }
        let listing = Listing::unfiltered(Sort::descending("id"), first_page());
        let listed = db.project_page(shop.project, listing.clone()).await.unwrap();
        let found: Vec<_> = listed.items.iter().map(|one| (one.delivery.id, one.application_id)).collect();
        assert_eq!(found, [(of_second.id, shop.application), (stored.id, shop.application)]);
        let first = db.project_page(shop.project, listing.clone().among("webhook_id", [shop.webhook.id.get()])).await.unwrap();
        assert_eq!((first.total, first.items[0].delivery.id), (1, stored.id));
        assert_eq!(db.project_page(ProjectId::new(9999).unwrap(), listing).await.unwrap().total, 0);
    }

    async fn deliveries_are_listed_newest_first_in_three_statements(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 18).await;
        let before = db.statements();
        let page = db.database.page(shop.webhook.id, PageRequest::new(2, 15, 100).unwrap()).await.unwrap();
        // Begin and end of the snapshot, the count and the rows.
        assert!(db.statements() - before <= 4);
        assert_eq!((page.total, page.items.len()), (18, 3));
        assert!(page.items.is_sorted_by(|newer, older| newer.id > older.id));
        assert_eq!(page.items[2].event_id.to_string(), "00000000-0000-4000-8000-000000000001");
    }
}

/// Distinct ids for concurrent dispatchers.
pub struct SeededRandom(std::sync::atomic::AtomicU64);

impl SeededRandom {
    pub fn shared() -> Arc<dyn kontor_kernel::Random> {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let seed = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed) << 32;
        Arc::new(Self(std::sync::atomic::AtomicU64::new(seed)))
    }
}

impl kontor_kernel::Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let value = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_be_bytes();
        for (byte, value) in bytes.iter_mut().rev().zip(value.iter().rev().cycle()) {
            *byte = *value;
        }
    }
}
