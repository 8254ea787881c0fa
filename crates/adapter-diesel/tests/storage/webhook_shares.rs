//! Deliveries that cannot be decoded, endpoints with timeouts, and the shares of the others.
#![expect(clippy::indexing_slicing, reason = "tests fail by panicking")]

use chrono::TimeDelta;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_kernel::Edit;
use kontor_webhooks::model::{EndpointUrl, MAX_PER_ENDPOINT, SendFailure, SendOutcome, WebhookChange};
use kontor_webhooks::ports::{DeliveryLog, DeliveryQueue, LeasedDelivery, WebhookRepository};

use crate::webhooks::{START, Shop, attempt, first_page, lease_due, paid_orders, shop, statement};

const HUNG: SendOutcome = SendOutcome::Failed(SendFailure::TimedOut);

/// Like `paid_orders`, with one statement, for another shop.
async fn many_paid_orders(db: &TestDatabase, shop: &Shop, count: u32) {
    let (project, application, webhook) = (shop.project, shop.application, shop.webhook.id);
    let numbers = format!("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})");
    let events = format!(
        "INSERT INTO outbox_events (event_id, project_id, application_id, topic, payload, created_at, dispatched_at) \
         {numbers} SELECT '00000000-0000-4000-8000-1' || substr(CAST(10000000000 + i AS TEXT), 1, 11), {project}, \
         {application}, 'order.paid', '{{}}', '1970-01-01 00:00:00', '1970-01-01 00:00:00' FROM n RETURNING id"
    );
    statement(&db.database, events).await;
    let deliveries = format!(
        "INSERT INTO webhook_deliveries (delivery_id, project_id, webhook_id, outbox_event_id, status, attempts, \
         next_attempt_at, created_at, updated_at) SELECT event_id, project_id, {webhook}, id, 'pending', 0, \
         '1970-01-01 00:00:00', '1970-01-01 00:00:00', '1970-01-01 00:00:00' FROM outbox_events \
         WHERE application_id = {application} RETURNING id"
    );
    statement(&db.database, deliveries).await;
}

async fn record(db: &Database, leased: &[LeasedDelivery], outcome: SendOutcome, seconds: i64) {
    for delivery in leased {
        let ended = attempt(delivery, "me", outcome, START + TimeDelta::seconds(seconds));
        assert!(db.record_attempt(ended).await.unwrap());
    }
}

fn of(leased: &[LeasedDelivery], shop: &Shop) -> usize {
    leased.iter().filter(|delivery| delivery.webhook_id == shop.webhook.id).count()
}

database_tests! {
    async fn deliveries_that_cannot_be_read_are_parked_and_the_others_go_on(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 4).await;
        let ids: Vec<i64> = {
            let page = db.database.page(shop.webhook.id, first_page()).await.unwrap();
            page.items.iter().rev().map(|delivery| delivery.id.get()).collect()
        };
        let broken = format!("UPDATE webhook_deliveries SET delivery_id = 'no uuid' WHERE id = {} RETURNING id", ids[0]);
        statement(&db.database, broken).await;
        let broken = format!("UPDATE webhook_deliveries SET attempts = -1 WHERE id = {} RETURNING id", ids[1]);
        statement(&db.database, broken).await;
        let leased = lease_due(&db.database, "me", 1, START).await;
        assert_eq!(leased.len(), 1, "one that cannot be read takes nobody's turn");
        assert_eq!(leased[0].id.get(), ids[2]);
        let next = lease_due(&db.database, "me", 8, START).await;
        assert_eq!(next.iter().map(|delivery| delivery.id.get()).collect::<Vec<_>>(), [ids[3]]);

        let parked = db.database.parked().await.unwrap();
        let reported: Vec<_> = parked.iter().map(|row| (row.table, row.id.clone(), row.since)).collect();
        let expected = |id: i64| ("webhook_deliveries", id.to_string(), START);
        assert_eq!(reported, [expected(ids[0]), expected(ids[1])]);
        assert!(parked[0].reason.starts_with(&format!("webhook_deliveries {}: ", ids[0])), "{}", parked[0].reason);
        assert!(db.database.count_parked().await.unwrap().contains(&("webhook_deliveries", 2)));
        // No longer due, not even after every lease has expired.
        let later = START + TimeDelta::days(1);
        assert_eq!(lease_due(&db.database, "other", 8, later).await.len(), 2);

        let repaired = format!("UPDATE webhook_deliveries SET attempts = 0 WHERE id = {} RETURNING id", ids[1]);
        statement(&db.database, repaired).await;
        assert_eq!(db.database.release_parked().await.unwrap(), 2);
        assert_eq!(db.database.release_parked().await.unwrap(), 0);
        let again = lease_due(&db.database, "me", 8, later).await;
        assert_eq!(again.iter().map(|delivery| delivery.id.get()).collect::<Vec<_>>(), [ids[1]]);
        assert!(db.database.count_parked().await.unwrap().contains(&("webhook_deliveries", 1)));
    }

    async fn an_endpoint_with_thousands_of_due_deliveries_is_sent_its_share_alone(db: TestDatabase) {
        let (busy, quiet) = (shop(&db).await, shop(&db).await);
        many_paid_orders(&db, &busy, 5_000).await;
        paid_orders(&db, &quiet, 1).await;
        let before = db.statements();
        let leased = lease_due(&db.database, "me", 64, START).await;
        assert!(db.statements() - before <= 12, "{} statements", db.statements() - before);
        assert_eq!((of(&leased, &busy), of(&leased, &quiet)), (MAX_PER_ENDPOINT, 1));
        assert!(lease_due(&db.database, "other", 64, START).await.is_empty(), "no worker sends it more");
        record(&db.database, &leased[..1], SendOutcome::Answered(200), 0).await;
        assert_eq!(lease_due(&db.database, "other", 64, START).await.len(), 1, "a slot that is free takes the next");
    }

    async fn racing_workers_together_send_an_endpoint_no_more_than_its_share(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 100).await;
        let workers: Vec<_> = (0..6)
            .map(|number| {
                let database = db.database.clone();
                tokio::spawn(async move { lease_due(&database, &format!("worker {number}"), 64, START).await.len() })
            })
            .collect();
        let mut leased = 0;
        for worker in workers {
            leased += worker.await.unwrap();
        }
        assert_eq!(leased, MAX_PER_ENDPOINT);
    }

    async fn a_lease_is_renewed_while_its_owner_works_and_no_longer(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 1).await;
        let at = |seconds: i64| START + TimeDelta::seconds(seconds);
        let renew = async |owner: &str, seconds| db.database.renew_leases(owner, at(seconds)).await.unwrap();
        assert_eq!(lease_due(&db.database, "me", 8, at(0)).await.len(), 1);
        assert_eq!((renew("other", 50).await, renew("me", 0).await, renew("me", 50).await), (0, 0, 1));
        assert!(lease_due(&db.database, "other", 8, at(109)).await.is_empty());
        assert_eq!(renew("me", 110).await, 0, "a lease that ran out is lost");
        assert_eq!(lease_due(&db.database, "other", 8, at(110)).await.len(), 1);
        assert_eq!((renew("me", 120).await, renew("other", 120).await), (0, 1));
    }

    async fn an_endpoint_that_hangs_rests_and_is_then_tried_by_one(db: TestDatabase) {
        let (hanging, sound) = (shop(&db).await, shop(&db).await);
        many_paid_orders(&db, &hanging, 50).await;
        let db = &db;
        let at = |seconds: i64| START + TimeDelta::seconds(seconds);
        let first = lease_due(&db.database, "me", 64, START).await;
        record(&db.database, &first, HUNG, 10).await;
        assert!(lease_due(&db.database, "other", 64, at(24)).await.is_empty(), "attempts that began together count once");
        assert_eq!(db.database.backlog(at(24)).await.unwrap().oldest_due, None);
        paid_orders(db, &sound, 1).await;
        assert_eq!(of(&lease_due(&db.database, "me", 64, at(24)).await, &sound), 1);

        let trial = lease_due(&db.database, "me", 64, at(25)).await;
        assert_eq!((trial.len(), trial[0].circuit.timeouts()), (1, 1));
        assert!(lease_due(&db.database, "other", 64, at(25)).await.is_empty());
        record(&db.database, &trial, HUNG, 35).await;
        assert!(lease_due(&db.database, "me", 64, at(64)).await.is_empty());
        let trial = lease_due(&db.database, "me", 64, at(65)).await;
        assert_eq!(trial.len(), 1);
        record(&db.database, &trial, SendOutcome::Answered(500), 66).await;
        assert_eq!(lease_due(&db.database, "me", 64, at(66)).await.len(), MAX_PER_ENDPOINT);
    }

    async fn staff_end_a_rest_by_another_address_or_a_resend(db: TestDatabase) {
        let shop = shop(&db).await;
        paid_orders(&db, &shop, 3).await;
        let db = &db.database;
        let leased = lease_due(db, "me", 3, START).await;
        record(db, &leased[..1], SendOutcome::Answered(200), 5).await;
        record(db, &leased[1..2], HUNG, 5).await;
        assert!(db.release("me").await.unwrap() > 0);
        let soon = START + TimeDelta::seconds(6);
        assert!(lease_due(db, "me", 64, soon).await.is_empty());
        let delivered = DeliveryLog::find(db, shop.webhook.id, leased[0].id).await.unwrap().unwrap();
        let pending = delivered.state.resend(soon).unwrap();
        assert!(db.requeue(delivered.id, delivered.state, pending, soon).await.unwrap());
        let trial = lease_due(db, "me", 64, soon).await;
        assert_eq!(trial.len(), 1, "an endpoint that hung is still tried by one");
        record(db, &trial, HUNG, 6).await;
        assert!(lease_due(db, "me", 64, soon).await.is_empty());
        let url = EndpointUrl::parse("https://elsewhere.example").unwrap();
        let change = WebhookChange { url: Edit::Set(url), ..WebhookChange::default() };
        db.update(shop.application, shop.webhook.id, change, soon).await.unwrap();
        let open = lease_due(db, "me", 64, soon).await;
        assert_eq!((open.len(), open[0].circuit.timeouts()), (1, 0));
    }
}
