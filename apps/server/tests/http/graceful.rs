//! Graceful shutdown, and processes that share the work.

use std::time::{Duration, Instant};

use kontor_adapter_diesel::{database_tests, retry_until};
use serde_json::json;
use tokio::net::TcpStream;

use crate::customer_client::CustomerClient;
use crate::owner_client::OwnerClient;
use crate::process::{PATIENCE, Process, ProcessEnvironment};
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
async fn closed(environment: &ProcessEnvironment) {
    let until = Instant::now() + PATIENCE;
    while TcpStream::connect(environment.address()).await.is_ok() {
        retry_until!(until, "connections are accepted");
    }
}

/// Creates a project with an item for sale, and a customer.
async fn open_shop(environment: &ProcessEnvironment) -> (OwnerClient, CustomerClient, i64) {
    let owner_client = OwnerClient::sign_in(environment, environment.create_project("owner")).await;
    owner_client.import_catalog(CARDS, STOCK).await;
    let customer = owner_client.front.sign_in("79005550003").await;
    let anchor = owner_client.product("anchor").await["id"].as_i64().unwrap();
    (owner_client, customer, anchor)
}

database_tests! {
    async fn requests_in_flight_finish_and_leases_are_given_back(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let (owner_client, customer, anchor) = open_shop(&environment).await;
        let hook = owner_client.hook().await;

        // A slow webhook receiver and a slow acquirer: long enough for the steps in the meantime, and shorter than
        // the timeouts.
        let pause = Duration::from_secs(6);
        let paid = customer.order(anchor, 1, true).await.expect(201)["order"]["id"].as_i64().unwrap();
        environment.fault("webhook", "timeout", 1, pause).await;
        customer.front.pay(paid).await;
        environment.faults_are_met().await;
        environment.fault("acquirer", "delay", 3, pause).await;
        let orders: Vec<_> = (0..3)
            .map(|_| {
                let customer = customer.clone();
                tokio::spawn(async move { customer.order(anchor, 2, true).await })
            })
            .collect();
        environment.faults_are_met().await;
        assert_eq!(environment.number(LEASED).await, 1);

        process.terminate();
        closed(&environment).await;
        assert!(orders.iter().all(|order| !order.is_finished()), "the requests were still in flight");
        for order in orders {
            let order = order.await.unwrap().expect(201)["order"].clone();
            assert!(order["payment_link"].is_string(), "{order}");
        }
        let status = process.ended().await;
        assert!(status.success(), "{status}");
        assert_eq!((environment.number(LEASED).await, environment.number(WORKERS).await), (0, 0));
        let delivered = owner_client.received(&hook).await;
        assert_eq!((delivered.len(), hook.order_of(&delivered[0])), (1, paid));
        assert_eq!(environment.number("SELECT count(*) AS id FROM webhook_deliveries WHERE status = 'delivered'").await, 1);
    }

    async fn a_worker_of_its_own_does_the_work_of_a_server_without(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        // The acquirer sends no notifications: the worker has to read the payments.
        let silent = json!({ "notification_url": null });
        send(environment.http.post(format!("{}/control/acquirer", environment.sandbox.url())).json(&silent)).await.expect(200);
        let server = environment.spawn(&["serve", "--no-worker"]);
        let until = Instant::now() + PATIENCE;
        let (status, answer) = loop {
            if let Some(answer) = environment.readiness().await {
                break answer;
            }
            retry_until!(until, "nothing listens:\n{}", environment.log());
        };
        let checks = json!({ "database": "ok", "migrations": "ok", "worker": "missing" });
        assert_eq!((status, &answer["checks"]), (200, &checks), "it can serve without");

        let mut worker = environment.spawn(&["worker"]);
        environment.ready(&mut worker).await;
        let (_, answer) = environment.readiness().await.unwrap();
        assert_eq!(answer["checks"]["worker"], "ok");

        let (owner_client, customer, anchor) = open_shop(&environment).await;
        let hook = owner_client.hook().await;
        let order = customer.order(anchor, 1, true).await.expect(201)["order"]["id"].as_i64().unwrap();
        customer.front.pay(order).await;
        customer.wait_for_status(order, 22).await;
        assert_eq!(hook.order_of(&owner_client.first_received(&hook).await), order);

        ends_well(worker).await;
        assert_eq!((environment.number(LEASED).await, environment.number(WORKERS).await), (0, 0));
        ends_well(server).await;
    }
}
