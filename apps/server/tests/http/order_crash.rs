//! The service is killed at random times while customers order and staff change, redeem and refund with idempotency
//! keys. Answered requests are durable, a repeated request has one effect, and no refund or entry happens twice.
//!
//! `CRASH_KILLS` sets more kills than the short run, `CRASH_SEED` repeats its choices.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kontor::adapters::SystemClock;
use kontor_adapter_diesel::demo_data::{DemoData, PickupPoint, Shop};
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_kernel::{Clock as _, ProjectId};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::crash::rng::TestRng;
use crate::crash::{TIME_PASSES, asked};
use crate::customer_client::CustomerClient;
use crate::keyed::keyed;
use crate::owner_client::OwnerClient;
use crate::process::{PATIENCE, ProcessEnvironment};
use crate::support::Answer;

const WORKERS: usize = 5;
/// Units of a paid order, and the price of each in hundredths.
const PIECES: i64 = 4;
const PRICE: i64 = 33_333;
/// Tickets of an order, and the price of each.
const TICKETS: i64 = 2;
const ENTRY: i64 = 50_000;

/// A service that may be killed at any time, and the number of kills.
struct KillScenario {
    environment: Arc<ProcessEnvironment>,
    owner_client: OwnerClient,
    item: i64,
    ticket: i64,
    kills: AtomicUsize,
    wanted: usize,
    /// Number of requests sent more than once.
    repeated: AtomicUsize,
}

/// An order, and the responses about it.
struct Settled {
    order: i64,
    refunded: i64,
    redeemed: i64,
    changed: i64,
}

impl KillScenario {
    fn rages(&self) -> bool {
        self.kills.load(Ordering::SeqCst) < self.wanted
    }

    /// Sends a request under its key until there is a response.
    async fn retry_until_answered(&self, key: &str, request: impl Fn() -> RequestBuilder) -> Answer {
        let until = Instant::now() + PATIENCE;
        for tries in 0.. {
            if tries == 1 {
                self.repeated.fetch_add(1, Ordering::SeqCst);
            }
            if let Ok(response) = keyed(request(), key).send().await {
                let (status, headers) = (response.status(), response.headers().clone());
                if let Ok(text) = response.text().await {
                    let waits = status == 503 || status == 409 && text.contains("idempotency_in_progress");
                    if !waits {
                        return Answer { status, headers, text };
                    }
                }
            }
            retry_until!(until, "no answer under {key}");
        }
        unreachable!("the loop ends by an answer or a panic")
    }

    /// Returns the body of a read, repeated until there is a response.
    async fn read(&self, request: impl Fn() -> RequestBuilder) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Ok(response) = request().send().await
                && response.status() == 200
                && let Ok(body) = response.json::<Value>().await
            {
                return body["order"].clone();
            }
            retry_until!(until, "{:?} cannot be read", request());
        }
    }

    /// Returns the order as staff see it.
    async fn order(&self, order: i64) -> Value {
        self.read(|| self.owner_client.request(Method::GET, &format!("/api/orders/{order}"))).await
    }

    /// Reduces the quantity while the payment waits: the payment is canceled, and another one created.
    async fn change(&self, name: &str, order: i64, line: &Value) {
        let path = format!("/api/orders/{order}/nomenclatures/{line}");
        let body = json!({ "quantity": PIECES });
        let until = Instant::now() + PATIENCE;
        for tries in 0.. {
            let edit = || self.owner_client.request(Method::PUT, &path).json(&body);
            let answer = self.retry_until_answered(&format!("change-{name}-{tries}"), edit).await;
            if answer.status != 409 {
                assert!(matches!(answer.status.as_u16(), 200 | 202), "{answer:?}");
                return;
            }
            // It was unknown if the acquirer had canceled the payment. That is the response under this key.
            assert_eq!(answer.json()["error"]["code"], "order_payment_unclear", "{answer:?}");
            retry_until!(until, every Duration::from_millis(100), "never clear");
        }
    }

    /// Redeems this many entries in sequence.
    async fn redeem(&self, name: &str, customer_client: &CustomerClient, order: i64, entries: i64) {
        let path = format!("/api/counterparty/orders/{order}");
        let token = self.read(|| customer_client.request(Method::GET, &path)).await["redeem_token"].clone();
        for entry in 0..entries {
            let scan = json!({ "redeem_token": token, "quantity": 1, "scan_id": format!("{name}-{entry}") });
            let ask = || self.owner_client.request(Method::POST, "/api/orders/redeem").json(&scan);
            self.retry_until_answered(&format!("scan-{name}-{entry}"), ask).await.expect(200);
        }
    }

    async fn until_paid(&self, order: i64) {
        let until = Instant::now() + PATIENCE;
        loop {
            let seen = self.order(order).await;
            if seen["payment_state"] == "paid" {
                return;
            }
            let payment = self.owner_client.front.payment_of(order).await;
            if payment["status"] == "pending" {
                self.owner_client.front.pay(order).await;
            }
            retry_until!(until, "order {order} is not paid: {seen} {payment}");
        }
    }

    /// Runs orders, changes, entries and refunds in sequence, until the kills are over.
    async fn trade(&self, customer_client: &CustomerClient, worker: usize, mut rng: TestRng) -> Vec<Settled> {
        let mut settled = Vec::new();
        while self.rages() {
            let name = format!("{worker}-{}", settled.len());
            let changed = i64::from(rng.one_in(2));
            let products =
                json!([{ "id": self.item, "quantity": PIECES + changed }, { "id": self.ticket, "quantity": TICKETS }]);
            let body = json!({ "delivery_type_id": 2, "delivery_subtype_id": 2, "address": "Elbe Street 5",
                "payment_method_type": "bank_card", "products": products });
            let place = || customer_client.request(Method::POST, "/api/counterparty/orders").json(&body);
            let placed = self.retry_until_answered(&format!("order-{name}"), place).await;
            assert!(matches!(placed.status.as_u16(), 201 | 202), "{placed:?}");
            let order = placed.json()["order"]["id"].as_i64().unwrap();
            let lines = self.order(order).await["reservations"].as_array().unwrap().clone();
            let line = lines.iter().find(|line| line["nomenclature"]["id"] == self.item).unwrap()["id"].clone();
            if changed > 0 {
                self.change(&name, order, &line).await;
            }
            self.until_paid(order).await;
            let redeemed = 1 + i64::from(rng.one_in(2));
            self.redeem(&name, customer_client, order, redeemed).await;
            let refunds = 1 + rng.below(3);
            for refund in 0..refunds {
                let body =
                    json!({ "lines": [{ "id": line, "quantity": 1 }], "reason": "broken", "restock": rng.one_in(2) });
                let path = format!("/api/orders/{order}/request-refund");
                let ask = || self.owner_client.request(Method::POST, &path).json(&body);
                self.retry_until_answered(&format!("refund-{name}-{refund}"), ask).await.expect(200);
            }
            settled.push(Settled { order, refunded: i64::try_from(refunds).unwrap() * PRICE, redeemed, changed });
        }
        settled
    }
}

fn minor(amount: &Value) -> i64 {
    amount.as_str().unwrap().replace('.', "").parse().unwrap()
}

async fn furnished(environment: &ProcessEnvironment) -> OwnerClient {
    let owner_client = OwnerClient::sign_in(environment, environment.create_project("owner")).await;
    let price = |minor: i64| format!("{},{:02}", minor / 100, minor % 100);
    let stock = format!(
        "article;warehouse;quantity;price\nAnchor;Main;1000000;{}\nRegatta;Main;1000000;{}",
        price(PRICE),
        price(ENTRY)
    );
    owner_client
        .import_catalog("article;name;category;price\nAnchor;Anchor;Harbour;\nRegatta;Regatta;Harbour;", &stock)
        .await;
    environment.execute(&["UPDATE nomenclatures SET type_id = 6 WHERE article = 'Regatta'"]).await;
    let data = DemoData {
        shop: Shop { known: None, name: "Shop", address: "Quay 1", phone: "79001110000" },
        pickup_point: PickupPoint { known: None, name: "Gate", address: "Quay 2" },
        delivery_types: Vec::new(),
        delivery_subtypes: Vec::new(),
        payment_types: Vec::new(),
    };
    let project = ProjectId::new(owner_client.project["project_id"].as_i64().unwrap()).unwrap();
    environment.connect().add_demo_data(project, data, SystemClock.now()).await.unwrap();
    owner_client
}

database_tests! {
    async fn nothing_is_refunded_or_ordered_twice_when_the_process_is_killed(db: TestDatabase) {
        let (kind, started) = (db.kind, Instant::now());
        let seed = asked("CRASH_SEED").unwrap_or_else(TestRng::any_seed);
        let wanted = asked("CRASH_KILLS").map_or(8, |kills| usize::try_from(kills).unwrap());
        println!("{kind:?}: CRASH_SEED={seed} repeats the choices of this run");
        let mut rng = TestRng::new(seed);
        let environment = Arc::new(ProcessEnvironment::open(db, 0.05).await);
        let mut process = environment.serve().await;
        let owner_client = furnished(&environment).await;
        let unpaid = json!({ "cancels_unpaid": true });
        crate::support::send(environment.http.post(format!("{}/control/acquirer", environment.sandbox.url())).json(&unpaid)).await.expect(200);
        let item = owner_client.product("Anchor").await["id"].as_i64().unwrap();
        let ticket = owner_client.product("Regatta").await["id"].as_i64().unwrap();
        let scenario = Arc::new(KillScenario { environment: Arc::clone(&environment), owner_client, item, ticket, kills: AtomicUsize::new(0), wanted, repeated: AtomicUsize::new(0) });
        let mut workers = Vec::new();
        for worker in 0..WORKERS {
            let customer_client = scenario.owner_client.front.sign_in(&format!("7900555010{worker}")).await;
            let (scenario, rng) = (Arc::clone(&scenario), rng.split());
            workers.push(tokio::spawn(async move { scenario.trade(&customer_client, worker, rng).await }));
        }
        while scenario.rages() {
            rng.rest(20, 500).await;
            process.kill();
            scenario.kills.fetch_add(1, Ordering::SeqCst);
            environment.execute(&TIME_PASSES).await;
            process = environment.serve().await;
        }
        let mut settled = Vec::new();
        for worker in workers {
            settled.extend(worker.await.unwrap());
        }
        assert!(settled.len() >= WORKERS, "{} orders are too few to tell", settled.len());

        // Every refund reaches the acquirer, once.
        let until = Instant::now() + PATIENCE;
        for Settled { order, refunded, redeemed, changed } in &settled {
            let seen = loop {
                let seen = scenario.order(*order).await;
                if minor(&seen["refunding_amount"]) == 0 {
                    break seen;
                }
                retry_until!(until, "the money of order {order} does not go back: {seen}");
            };
            assert_eq!(minor(&seen["refunded_amount"]), *refunded, "{seen}");
            assert_eq!(seen["refunds"].as_array().unwrap().len(), usize::try_from(refunded / PRICE).unwrap(), "{seen}");
            assert_eq!(minor(&seen["captured_amount"]), PIECES * PRICE + TICKETS * ENTRY, "{seen}");
            let reported = |event: &str| format!("SELECT count(*) AS id FROM order_events WHERE order_id = {order} AND event = '{event}'");
            let (changes, entries) = (environment.number(&reported("lines_changed")).await, environment.number(&reported("tickets_redeemed")).await);
            assert_eq!((changes, entries), (*changed, *redeemed), "{seen}");
            let counted = format!("SELECT redeemed AS id FROM order_tickets WHERE order_id = {order}");
            assert_eq!(environment.number(&counted).await, *redeemed, "{seen}");
        }
        let payments = environment.control("/payments?limit=1000000").await["payments"].as_array().unwrap().clone();
        for Settled { order, refunded, .. } in &settled {
            let theirs = |payment: &&Value| {
                payment["metadata"]["order_id"] == json!(order.to_string()) && payment["status"] == "succeeded"
            };
            let paid: Vec<&Value> = payments.iter().filter(theirs).collect();
            assert_eq!(paid.len(), 1, "order {order} is paid once");
            assert_eq!(minor(&paid[0]["refunded_amount"]["value"]), *refunded, "{paid:?}");
        }
        let orders = scenario.environment.number("SELECT count(*) AS id FROM orders").await;
        assert_eq!(usize::try_from(orders).unwrap(), settled.len(), "each key made one order");
        let examined = environment.command(&["doctor", "--json"]).output().unwrap();
        assert!(examined.status.success(), "{}", String::from_utf8_lossy(&examined.stdout));
        process.terminate();
        assert!(process.ended().await.success());
        println!(
            "{kind:?}: {} orders, {} kills, {} requests sent again, {:.1?}",
            settled.len(),
            scenario.kills.load(Ordering::SeqCst),
            scenario.repeated.load(Ordering::SeqCst),
            started.elapsed()
        );
    }
}
