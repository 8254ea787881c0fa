//! Graceful shutdown, and processes that share the work.

use std::time::{Duration, Instant};

use kontor_adapter_diesel::{database_tests, look_again};
use serde_json::json;
use tokio::net::TcpStream;

use crate::desk::Desk;
use crate::process::{PATIENCE, Process, Site};
use crate::shopper::Shopper;
use crate::support::send;

const CARDS: &str = "article;name;category;price\nA-1;Anchor;Harbour;\n";
const STOCK: &str = "article;warehouse;quantity;price\nA-1;Main;50;12500,50\n";
const LEASED: &str = "SELECT (SELECT count(*) FROM webhook_deliveries WHERE lease_owner IS NOT NULL) \
                      + (SELECT count(*) FROM charges WHERE lease_owner IS NOT NULL) AS id";
const WORKERS: &str = "SELECT count(*) AS id FROM workers";

async fn ends_well(process: Process) {
    process.terminate();
    let status = process.ended().await;
    assert!(status.success(), "{status}");
}

/// Waits until no new connections are accepted.
async fn closed(site: &Site) {
    let until = Instant::now() + PATIENCE;
    while TcpStream::connect(site.address()).await.is_ok() {
        look_again!(until, "connections are accepted");
    }
}

/// Creates a project with an item for sale, and a customer.
async fn open_shop(site: &Site) -> (Desk, Shopper, i64) {
    let desk = Desk::sign_in(site, site.create_project("owner")).await;
    desk.furnish(CARDS, STOCK).await;
    let customer = desk.front.sign_in("79005550003").await;
    let anchor = desk.product("anchor").await["id"].as_i64().unwrap();
    (desk, customer, anchor)
}

database_tests! {
    async fn requests_in_flight_finish_and_leases_are_given_back(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        let process = site.serve().await;
        let (desk, customer, anchor) = open_shop(&site).await;
        let hook = desk.hook().await;

        // A slow webhook receiver and a slow acquirer: long enough for the steps in the meantime, and shorter than
        // the timeouts.
        let pause = Duration::from_secs(6);
        let paid = customer.order(anchor, 1, true).await.expect(201)["order"]["id"].as_i64().unwrap();
        site.fault("webhook", "timeout", 1, pause).await;
        customer.front.pay(paid).await;
        site.faults_are_met().await;
        site.fault("acquirer", "delay", 3, pause).await;
        let orders: Vec<_> = (0..3)
            .map(|_| {
                let customer = customer.clone();
                tokio::spawn(async move { customer.order(anchor, 2, true).await })
            })
            .collect();
        site.faults_are_met().await;
        assert_eq!(site.number(LEASED).await, 1);

        process.terminate();
        closed(&site).await;
        assert!(orders.iter().all(|order| !order.is_finished()), "the requests were still in flight");
        for order in orders {
            let order = order.await.unwrap().expect(201)["order"].clone();
            assert!(order["payment_link"].is_string(), "{order}");
        }
        let status = process.ended().await;
        assert!(status.success(), "{status}");
        assert_eq!((site.number(LEASED).await, site.number(WORKERS).await), (0, 0));
        let delivered = desk.received(&hook).await;
        assert_eq!((delivered.len(), hook.order_of(&delivered[0])), (1, paid));
        assert_eq!(site.number("SELECT count(*) AS id FROM webhook_deliveries WHERE status = 'delivered'").await, 1);
    }

    async fn a_worker_of_its_own_does_the_work_of_a_server_without(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        // The acquirer sends no notifications: the worker has to read the payments.
        let silent = json!({ "notification_url": null });
        send(site.http.post(format!("{}/control/acquirer", site.sandbox.url())).json(&silent)).await.expect(200);
        let server = site.spawn(&["serve", "--no-worker"]);
        let until = Instant::now() + PATIENCE;
        let (status, answer) = loop {
            if let Some(answer) = site.readiness().await {
                break answer;
            }
            look_again!(until, "nothing listens:\n{}", site.log());
        };
        let checks = json!({ "database": "ok", "migrations": "ok", "worker": "missing" });
        assert_eq!((status, &answer["checks"]), (200, &checks), "it can serve without");

        let mut worker = site.spawn(&["worker"]);
        site.ready(&mut worker).await;
        let (_, answer) = site.readiness().await.unwrap();
        assert_eq!(answer["checks"]["worker"], "ok");

        let (desk, customer, anchor) = open_shop(&site).await;
        let hook = desk.hook().await;
        let order = customer.order(anchor, 1, true).await.expect(201)["order"]["id"].as_i64().unwrap();
        customer.front.pay(order).await;
        customer.wait_for_status(order, 22).await;
        assert_eq!(hook.order_of(&desk.first_received(&hook).await), order);

        ends_well(worker).await;
        assert_eq!((site.number(LEASED).await, site.number(WORKERS).await), (0, 0));
        ends_well(server).await;
    }
}
