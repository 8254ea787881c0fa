//! Webhook events: from the outbox to a receiver, and the list of deliveries.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use kontor::config::Config;
use kontor::instance::Roles;
use kontor::wiring::{Adapters, delivery_worker};
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_kernel::Clock;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use kontor_webhooks::{DeliveryRound, DeliveryWorker};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Project, TestServer, send};

/// A project with one webhook that leads to a receiver, and the worker that serves it.
struct Scene {
    server: TestServer,
    sandbox: SandboxHandle,
    worker: DeliveryWorker,
    project: Project,
    owner: String,
    webhook: Value,
    hook: String,
}

/// Creates a worker beside the server, as in another process.
fn worker(server: &TestServer) -> DeliveryWorker {
    let config = Config { webhook_allow_internal: true, ..Config::default() };
    let around = Adapters::new(&config, server.clock.clone()).unwrap();
    delivery_worker(&config, &server.db.database, &around).unwrap()
}

/// Works until nothing is left. Returns the number of accepted deliveries.
async fn work_off(worker: &DeliveryWorker, owner: &str) -> usize {
    while worker.dispatch().await.unwrap().events > 0 {}
    let mut delivered = 0;
    loop {
        let round = worker.deliver_due(owner).await.unwrap();
        delivered += round.delivered;
        if round.leased == 0 {
            return delivered;
        }
    }
}

impl Scene {
    /// Starts with a receiver that answers `status` the first `times` times, then 200.
    async fn start(db: kontor_adapter_diesel::testing::TestDatabase, status: u16, times: u32) -> Self {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let sandbox = Sandbox::start(SandboxConfig::new(server.clock.clone())).await.unwrap();
        let worker = worker(&server);
        let opened = server.http.post(format!("{}/control/hooks", sandbox.url()));
        let opened = send(opened.json(&json!({ "status": status, "times": times }))).await.expect(201);
        let path = format!("/api/applications/{}/webhooks", project.application_id);
        let created = send(server.as_staff(&owner, Method::POST, &path).json(&json!({ "url": opened["url"] })));
        let webhook = created.await.expect(201)["webhook"].clone();
        let hook = opened["id"].as_str().unwrap().to_owned();
        Self { server, sandbox, worker, project, owner, webhook, hook }
    }

    async fn event(&self, number: u32, topic: &str) {
        let Project { id, application_id, .. } = self.project;
        let event = format!(
            "INSERT INTO outbox_events (event_id, project_id, application_id, topic, payload, created_at) VALUES \
             ('00000000-0000-4000-8000-{number:012}', {id}, {application_id}, '{topic}', '{{\"order_id\":{number}}}', \
             '2026-01-01 00:00:00') RETURNING id"
        );
        self.server.insert(event).await;
    }

    async fn work(&self) -> DeliveryRound {
        self.worker.dispatch().await.unwrap();
        self.worker.deliver_due("test").await.unwrap()
    }

    fn path(&self, rest: &str) -> String {
        let Project { application_id, .. } = self.project;
        format!("/api/applications/{application_id}/webhooks/{}{rest}", self.webhook["id"])
    }

    async fn deliveries(&self) -> Value {
        send(self.server.as_staff(&self.owner, Method::GET, &self.path("/deliveries"))).await.expect(200)
    }

    async fn resend(&self, delivery: &Value) -> crate::support::Answer {
        let path = self.path(&format!("/deliveries/{}/resend", delivery["id"]));
        send(self.server.as_staff(&self.owner, Method::POST, &path)).await
    }

    /// Returns the received deliveries, oldest first.
    async fn received(&self) -> Vec<Value> {
        let got = self.server.http.get(format!("{}/control/hooks/{}", self.sandbox.url(), self.hook));
        send(got).await.expect(200)["deliveries"].as_array().unwrap().clone()
    }
}

/// Returns the signature that a delivery must carry.
pub fn signature(secret: &Value, delivery: &Value) -> String {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_str().unwrap().as_bytes());
    let (timestamp, body) = (&delivery["headers"]["x-webhook-timestamp"], delivery["body"].as_str().unwrap());
    let tag = ring::hmac::sign(&key, format!("{}.{body}", timestamp.as_str().unwrap()).as_bytes());
    tag.as_ref().iter().fold("sha256=".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

const DUE: u32 = 5_000;

/// Creates a project whose application sends events to this address.
async fn notified_at(server: &TestServer, url: &str) -> Project {
    let project = server.project().await;
    let owner = server.owner(&project).await;
    let path = format!("/api/applications/{}/webhooks", project.application_id);
    send(server.as_staff(&owner, Method::POST, &path).json(&json!({ "url": url }))).await.expect(201);
    project
}

async fn events(server: &TestServer, project: &Project, count: u32) {
    let Project { id, application_id, .. } = project;
    let events = format!(
        "INSERT INTO outbox_events (event_id, project_id, application_id, topic, payload, created_at) \
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
         SELECT '00000000-0000-4000-8000-1' || substr(CAST({id} * 1000000 + 10000000000 + i AS TEXT), 1, 11), {id}, \
         {application_id}, 'order.paid', '{{}}', '2026-01-01 00:00:00' FROM n"
    );
    server.execute(&events).await;
}

database_tests! {
    async fn a_paid_order_reaches_the_receiver_signed(db: TestDatabase) {
        let scene = Scene::start(db, 204, 9).await;
        scene.event(7, "order.paid").await;
        scene.event(8, "order.created").await;
        assert_eq!(scene.work().await, DeliveryRound { leased: 1, delivered: 1, ..DeliveryRound::default() });
        assert_eq!(scene.work().await, DeliveryRound::default());

        let received = scene.received().await;
        assert_eq!(received.len(), 1);
        let headers = &received[0]["headers"];
        assert_eq!(headers["x-webhook-event"], "order.paid");
        assert_eq!(headers["x-webhook-event-id"], "00000000-0000-4000-8000-000000000007");
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["x-signature"], signature(&scene.webhook["secret"], &received[0]));
        let sent: i64 = headers["x-webhook-timestamp"].as_str().unwrap().parse().unwrap();
        assert!((scene.server.clock.now().timestamp() - sent).abs() < 60);
        assert_eq!(serde_json::from_str::<Value>(received[0]["body"].as_str().unwrap()).unwrap(), json!({ "order_id": 7 }));

        let listed = scene.deliveries().await;
        assert_eq!(listed["deliveriesCount"], 1);
        assert_eq!(listed["pagination"]["per_page"], 15);
        let delivery = &listed["deliveries"][0];
        assert_eq!((delivery["status"].as_str(), delivery["attempts"].as_u64()), (Some("delivered"), Some(1)));
        assert_eq!((delivery["event"].as_str(), delivery["response_status"].as_u64()), (Some("order.paid"), Some(204)));
        assert_eq!(delivery["delivery_id"], headers["x-webhook-delivery-id"]);
        assert_eq!((&delivery["last_error"], &delivery["next_attempt_at"]), (&Value::Null, &Value::Null));
        assert!(delivery["delivered_at"].is_string());
    }

    async fn six_failures_end_in_failed_and_a_resend_reaches_the_receiver_again(db: TestDatabase) {
        let scene = Scene::start(db, 302, 6).await;
        scene.event(7, "order.paid").await;
        let (start, mut minutes) = (scene.server.clock.now(), Vec::new());
        for _ in 0..6 {
            assert_eq!(scene.work().await.leased, 1);
            minutes.push((scene.server.clock.now() - start).num_minutes());
            let delivery = scene.deliveries().await["deliveries"][0].clone();
            let Some(next) = delivery["next_attempt_at"].as_str() else { continue };
            assert_eq!(scene.resend(&delivery).await.status.as_u16(), 409);
            assert_eq!(scene.work().await.leased, 0);
            let next: DateTime<Utc> = next.parse().unwrap();
            let pause = next - scene.server.clock.now() + TimeDelta::seconds(1);
            scene.server.clock.advance(pause.num_seconds());
        }
        assert_eq!(minutes, [0, 1, 6, 36, 156, 876]);
        let failed = scene.deliveries().await["deliveries"][0].clone();
        assert_eq!((failed["status"].as_str(), failed["attempts"].as_u64()), (Some("failed"), Some(6)));
        assert_eq!(failed["last_error"], "the receiver answered 302");
        scene.server.clock.advance(86_400);
        assert_eq!(scene.work().await.leased, 0);

        let resent = scene.resend(&failed).await.expect(200)["delivery"].clone();
        assert_eq!((resent["status"].as_str(), resent["attempts"].as_u64()), (Some("pending"), Some(0)));
        assert_eq!(scene.work().await.delivered, 1);
        let received = scene.received().await;
        assert_eq!(received.len(), 7);
        for header in ["x-webhook-event-id", "x-webhook-delivery-id"] {
            assert!(received.iter().all(|delivery| delivery["headers"][header] == received[0]["headers"][header]));
        }
        let last = &received[6]["headers"];
        assert_ne!(last["x-webhook-timestamp"], received[0]["headers"]["x-webhook-timestamp"]);
        assert_eq!(last["x-signature"], signature(&scene.webhook["secret"], &received[6]));
        // A successful delivery may be sent again, too.
        let delivered = scene.deliveries().await["deliveries"][0].clone();
        scene.resend(&delivered).await.expect(200);
        assert_eq!(scene.work().await.delivered, 1);
        assert_eq!(scene.resend(&json!({ "id": 999_999 })).await.status.as_u16(), 404);
    }

    async fn two_workers_send_a_hundred_deliveries_once_each(db: TestDatabase) {
        let scene = Scene::start(db, 200, 0).await;
        for number in 1..=100 {
            scene.event(number, "order.paid").await;
        }
        let other = worker(&scene.server);
        let (left, right) = tokio::join!(work_off(&scene.worker, "left"), work_off(&other, "right"));
        assert_eq!((left + right, work_off(&other, "right").await), (100, 0));
        let received = scene.received().await;
        let ids: BTreeSet<_> =
            received.iter().map(|delivery| delivery["headers"]["x-webhook-delivery-id"].to_string()).collect();
        assert_eq!((received.len(), ids.len()), (100, 100));
    }

    async fn a_rotated_secret_signs_what_is_sent_afterwards(db: TestDatabase) {
        let scene = Scene::start(db, 500, 1).await;
        scene.event(7, "order.paid").await;
        scene.work().await;
        let rotated = send(scene.server.as_staff(&scene.owner, Method::POST, &scene.path("/rotate-secret"))).await;
        let new = rotated.expect(200)["webhook"]["secret"].clone();
        scene.server.clock.advance(61);
        scene.work().await;
        let received = scene.received().await;
        let signed = |index: usize| received[index]["headers"]["x-signature"].as_str().unwrap();
        assert_eq!(signed(0), signature(&scene.webhook["secret"], &received[0]));
        assert_eq!(signed(1), signature(&new, &received[1]));
        assert_ne!(signed(1), signature(&scene.webhook["secret"], &received[1]));
    }

    async fn an_inactive_webhook_is_sent_nothing(db: TestDatabase) {
        let scene = Scene::start(db, 500, 1).await;
        scene.event(7, "order.paid").await;
        scene.work().await;
        let switch = |active: bool| {
            scene.server.as_staff(&scene.owner, Method::PATCH, &scene.path("")).json(&json!({ "is_active": active }))
        };
        send(switch(false)).await.expect(200);
        scene.event(8, "order.paid").await;
        scene.server.clock.advance(3600);
        assert_eq!(scene.work().await.leased, 0);
        send(switch(true)).await.expect(200);
        assert_eq!(scene.work().await.delivered, 1);
        let delivered = scene.deliveries().await["deliveries"][0].clone();
        assert_eq!(delivered["event_id"], "00000000-0000-4000-8000-000000000007");
        send(switch(false)).await.expect(200);
        assert_eq!(scene.resend(&delivered).await.status.as_u16(), 409);
    }

    async fn deliveries_come_in_pages_newest_first(db: TestDatabase) {
        let scene = Scene::start(db, 200, 0).await;
        for number in 1..=18 {
            scene.event(number, "order.paid").await;
        }
        scene.worker.dispatch().await.unwrap();
        let page = |query: &str| scene.server.as_staff(&scene.owner, Method::GET, &scene.path(&format!("/deliveries?{query}")));
        let before = scene.server.db.database.statements();
        let second = send(page("page=2")).await.expect(200);
        assert!(scene.server.db.database.statements() - before <= 12);
        assert_eq!((second["deliveriesCount"].as_u64(), second["deliveries"].as_array().unwrap().len()), (Some(18), 3));
        assert_eq!(second["deliveries"][2]["event_id"], "00000000-0000-4000-8000-000000000001");
        assert_eq!(second["pagination"]["last_page"], 2);
        assert_eq!(send(page("page=9")).await.expect(200)["deliveries"], json!([]));
        for (query, field) in [("page=0", "page"), ("per_page=101", "per_page"), ("per_page=x", "per_page"), ("state=failed", "state")] {
            send(page(query)).await.expect_invalid(&[field]);
        }
    }

    async fn a_test_is_sent_signed_to_this_webhook_alone(db: TestDatabase) {
        let scene = Scene::start(db, 204, 9).await;
        let hooks = format!("/api/applications/{}/webhooks", scene.project.application_id);
        let other = json!({ "url": "http://127.0.0.1:9/other" });
        send(scene.server.as_staff(&scene.owner, Method::POST, &hooks).json(&other)).await.expect(201);
        let test = async || send(scene.server.as_staff(&scene.owner, Method::POST, &scene.path("/test"))).await;
        let stored = test().await.expect(201)["delivery"].clone();
        assert_eq!((&stored["event"], &stored["status"], &stored["attempts"]), (&json!("ping"), &json!("pending"), &json!(0)));
        assert_eq!(scene.work().await, DeliveryRound { leased: 1, delivered: 1, ..DeliveryRound::default() });
        assert_eq!(scene.work().await, DeliveryRound::default(), "the other webhook gets nothing");

        let received = scene.received().await;
        let headers = &received[0]["headers"];
        assert_eq!((received.len(), &headers["x-webhook-event"]), (1, &json!("ping")));
        assert_eq!((&headers["x-webhook-event-id"], &headers["x-webhook-delivery-id"]), (&stored["event_id"], &stored["delivery_id"]));
        assert_eq!(headers["x-signature"], signature(&scene.webhook["secret"], &received[0]));
        let body: Value = serde_json::from_str(received[0]["body"].as_str().unwrap()).unwrap();
        assert_eq!((&body["id"], &body["event"]), (&stored["event_id"], &json!("ping")));
        let Project { id, application_id, .. } = scene.project;
        assert_eq!(body["data"], json!({ "webhook_id": scene.webhook["id"], "application_id": application_id, "project_id": id }));

        let one = scene.path(&format!("/deliveries/{}", stored["id"]));
        let read = send(scene.server.as_staff(&scene.owner, Method::GET, &one)).await.expect(200)["delivery"].clone();
        assert_eq!((&read["id"], &read["status"], &read["response_status"]), (&stored["id"], &json!("delivered"), &json!(204)));
        for absent in ["/deliveries/999999", "/deliveries/x"] {
            send(scene.server.as_staff(&scene.owner, Method::GET, &scene.path(absent))).await.expect(404);
        }
        scene.resend(&read).await.expect(200);
        assert_eq!(scene.work().await.delivered, 1);

        // A test that failed is retried, and the next one does not wait for the end of a pause.
        let pause = format!("UPDATE webhooks SET paused_until = '2999-01-01 00:00:00' WHERE id = {}", scene.webhook["id"]);
        scene.server.execute(&pause).await;
        test().await.expect(201);
        assert_eq!(scene.work().await.delivered, 1);
        let off = scene.server.as_staff(&scene.owner, Method::PATCH, &scene.path("")).json(&json!({ "is_active": false }));
        send(off).await.expect(200);
        test().await.expect(409);
        assert_eq!(scene.deliveries().await["deliveriesCount"], 2);
    }

    async fn tests_are_limited_and_a_key_makes_one_of_many(db: TestDatabase) {
        let scene = Scene::start(db, 200, 0).await;
        let test = || scene.server.as_staff(&scene.owner, Method::POST, &scene.path("/test"));
        let keyed = async || send(test().header("Idempotency-Key", "one-test")).await.expect(201)["delivery"]["id"].clone();
        assert_eq!(keyed().await, keyed().await);
        let mut sent = 1;
        let refused = loop {
            let answer = send(test()).await;
            if answer.status == 429 {
                break answer;
            }
            answer.expect(201);
            sent += 1;
        };
        assert!((20..=30).contains(&sent), "{sent}");
        assert!(refused.headers.contains_key("retry-after"));
        assert_eq!(scene.deliveries().await["deliveriesCount"], sent);
        scene.server.clock.advance(61);
        send(test()).await.expect(201);
    }

    async fn the_deliveries_of_all_webhooks_are_one_list(db: TestDatabase) {
        let scene = Scene::start(db, 500, 1).await;
        let (server, owner) = (&scene.server, &scene.owner);
        let hooks = format!("/api/applications/{}/webhooks", scene.project.application_id);
        let second = json!({ "url": "http://127.0.0.1:9/second", "name": "Second", "is_active": true });
        let second = send(server.as_staff(owner, Method::POST, &hooks).json(&second)).await.expect(201)["webhook"]["id"].clone();
        for number in 1..=3 {
            scene.event(number, "order.paid").await;
        }
        scene.worker.dispatch().await.unwrap();
        server.execute(&format!("UPDATE webhook_deliveries SET status = 'failed' WHERE webhook_id = {second}")).await;
        let list = async |query: &str| send(server.as_staff(owner, Method::GET, &format!("/api/webhook_deliveries{query}"))).await;
        let all = list("").await.expect(200);
        let ids: Vec<i64> = all["webhookDeliveries"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect();
        assert!(ids.is_sorted_by(|newer, older| newer > older), "{ids:?}");
        assert_eq!((ids.len(), &all["webhookDeliveriesCount"], &all["pagination"]["per_page"]), (6, &json!(6), &json!(100)));

        let failed = list("?status=failed&per_page=2").await.expect(200);
        assert_eq!((&failed["webhookDeliveriesCount"], &failed["pagination"]["last_page"]), (&json!(3), &json!(2)));
        let one = &failed["webhookDeliveries"][0];
        assert_eq!((&one["webhook_id"], &one["webhook_name"], &one["status"]), (&second, &json!("Second"), &json!("failed")));
        assert_eq!((&one["application_id"], &one["event"]), (&json!(scene.project.application_id), &json!("order.paid")));
        let resend = format!("/api/applications/{}/webhooks/{second}/deliveries/{}/resend", one["application_id"], one["id"]);
        send(server.as_staff(owner, Method::POST, &resend)).await.expect(200);
        assert_eq!(list("?status=failed").await.expect(200)["webhookDeliveriesCount"], 2);
        assert_eq!(list("?status[]=failed&status[]=pending").await.expect(200)["webhookDeliveriesCount"], 6);
        assert_eq!(list(&format!("?webhook_id={second}&status=pending")).await.expect(200)["webhookDeliveriesCount"], 1);
        list("?status=lost&webhook_id=x&page=0&colour=red").await.expect_invalid(&["status", "webhook_id", "page", "colour"]);

        let table = send(server.as_staff(owner, Method::GET, "/api/tables/webhook_deliveries?order_by=id_asc")).await.expect(200);
        assert_eq!((table["webhook_deliveries"].as_array().unwrap().len(), &table["pagination"]["total"]), (6, &json!(6)));
        let of_one = server.fewest_statements(async || list("?per_page=1").await.expect(200)).await;
        let of_all = server.fewest_statements(async || list("").await.expect(200)).await;
        assert_eq!(of_one, of_all, "the length of a page costs no statements");

        let viewer = server.staff_with(&scene.project, &["view-webhooks"]).await;
        let editor = server.staff_with(&scene.project, &["edit-webhooks"]).await;
        for path in ["/api/webhook_deliveries", "/api/tables/webhook_deliveries"] {
            send(server.as_staff(&viewer, Method::GET, path)).await.expect(200);
            send(server.as_staff(&editor, Method::GET, path)).await.expect(403);
        }
        let outsider = server.owner(&server.project().await).await;
        let theirs = send(server.as_staff(&outsider, Method::GET, "/api/webhook_deliveries")).await.expect(200);
        assert_eq!(theirs["webhookDeliveriesCount"], 0);
    }

    async fn one_that_hangs_with_thousands_of_due_events_delays_no_other(db: TestDatabase) {
        let server = TestServer::start_as(db, Roles::Both, |_| {}).await;
        // The system accepts connections, but no response is ever sent.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let hanging = notified_at(&server, &format!("http://{}/hook", silent.local_addr().unwrap())).await;
        let sandbox = Sandbox::start(SandboxConfig::new(server.clock.clone())).await.unwrap();
        let hook = send(server.http.post(format!("{}/control/hooks", sandbox.url())).json(&json!({}))).await.expect(201);
        let sound = notified_at(&server, hook["url"].as_str().unwrap()).await;
        let received = async || -> usize {
            let got = server.http.get(format!("{}/control/hooks/{}", sandbox.url(), hook["id"].as_str().unwrap()));
            send(got).await.expect(200)["deliveries"].as_array().map_or(0, Vec::len)
        };

        events(&server, &hanging, DUE).await;
        let left = "SELECT count(*) AS id FROM outbox_events WHERE dispatched_at IS NULL";
        let until = Instant::now() + Duration::from_mins(2);
        while server.insert(left.to_owned()).await > 0 {
            retry_until!(until, "events are not fanned out");
        }
        events(&server, &sound, 1).await;
        let until = Instant::now() + Duration::from_secs(2);
        while received().await == 0 {
            retry_until!(until, "another project waits for a receiver that hangs");
        }
        assert_eq!(received().await, 1);
        let waiting = format!(
            "SELECT count(*) AS id FROM webhook_deliveries WHERE status = 'pending' AND project_id = {}",
            hanging.id
        );
        assert_eq!(server.insert(waiting).await, i64::from(DUE));
    }
}
