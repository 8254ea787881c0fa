//! Killed at random moments while staff refund orders and order more under keys: what was answered is durable, a request that is
//! sent again acts once, and nobody is refunded twice.
//!
//! `CRASH_KILLS` asks for more than the short run, `CRASH_SEED` repeats its choices.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kontor::adapters::SystemClock;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::demo_data::{DemoData, PickupPoint, Shop};
use kontor_kernel::{Clock as _, ProjectId};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::crash::dice::Dice;
use crate::crash::{TIME_PASSES, asked};
use crate::desk::Desk;
use crate::keyed::keyed;
use crate::process::{PATIENCE, Site};
use crate::shopper::Shopper;
use crate::support::Answer;

const WORKERS: usize = 5;
/// Pieces of an order, and what one of them costs in hundredths.
const PIECES: i64 = 4;
const PRICE: i64 = 33_333;

/// A service that may be dead at any moment, and how often it was.
struct Storm {
    site: Arc<Site>,
    desk: Desk,
    item: i64,
    kills: AtomicUsize,
    wanted: usize,
    /// Requests that were sent more than once.
    repeated: AtomicUsize,
}

/// An order whose refunds were answered.
struct Settled {
    order: i64,
    refunded: i64,
}

impl Storm {
    fn rages(&self) -> bool {
        self.kills.load(Ordering::SeqCst) < self.wanted
    }

    /// Sends a request under its key until somebody answers it.
    async fn insist(&self, key: &str, request: impl Fn() -> RequestBuilder) -> Answer {
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
            assert!(Instant::now() < until, "no answer under {key}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        unreachable!("the loop ends by an answer or a panic")
    }

    /// What staff see of an order.
    async fn order(&self, order: i64) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let request = self.desk.request(Method::GET, &format!("/api/orders/{order}"));
            if let Ok(response) = request.send().await
                && response.status() == 200
                && let Ok(body) = response.json::<Value>().await
            {
                return body["order"].clone();
            }
            assert!(Instant::now() < until, "order {order} cannot be read");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn until_paid(&self, order: i64) {
        let until = Instant::now() + PATIENCE;
        while self.order(order).await["payment_state"] != "paid" {
            assert!(Instant::now() < until, "order {order} is not paid");
            let payment = self.desk.front.payment_of(order).await;
            if payment["status"] == "pending" {
                self.desk.front.pay(order).await;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Orders and refunds, one order after the other, until the storm is over.
    async fn trade(&self, shopper: &Shopper, worker: usize, mut dice: Dice) -> Vec<Settled> {
        let mut settled = Vec::new();
        while self.rages() {
            let name = format!("{worker}-{}", settled.len());
            let body = json!({ "delivery_type_id": 2, "delivery_subtype_id": 2, "address": "Elbe Street 5",
                "payment_method_type": "bank_card", "products": [{ "id": self.item, "quantity": PIECES }] });
            let place = || shopper.request(Method::POST, "/api/counterparty/orders").json(&body);
            let placed = self.insist(&format!("order-{name}"), place).await;
            assert!(matches!(placed.status.as_u16(), 201 | 202), "{placed:?}");
            let order = placed.json()["order"]["id"].as_i64().unwrap();
            self.until_paid(order).await;
            let line = self.order(order).await["reservations"][0]["id"].clone();
            let refunds = 1 + dice.below(3);
            for refund in 0..refunds {
                let body =
                    json!({ "lines": [{ "id": line, "quantity": 1 }], "reason": "broken", "restock": dice.one_in(2) });
                let path = format!("/api/orders/{order}/request-refund");
                let ask = || self.desk.request(Method::POST, &path).json(&body);
                self.insist(&format!("refund-{name}-{refund}"), ask).await.expect(200);
            }
            settled.push(Settled { order, refunded: i64::try_from(refunds).unwrap() * PRICE });
        }
        settled
    }
}

fn minor(amount: &Value) -> i64 {
    amount.as_str().unwrap().replace('.', "").parse().unwrap()
}

async fn furnished(site: &Site) -> Desk {
    let desk = Desk::sign_in(site, site.create_project("owner")).await;
    let price = format!("{},{:02}", PRICE / 100, PRICE % 100);
    let stock = format!("article;warehouse;quantity;price\nAnchor;Main;1000000;{price}");
    desk.furnish("article;name;category;price\nAnchor;Anchor;Harbour;", &stock).await;
    let data = DemoData {
        shop: Shop { known: None, name: "Shop", address: "Quay 1", phone: "79001110000" },
        pickup_point: PickupPoint { known: None, name: "Gate", address: "Quay 2" },
        delivery_types: Vec::new(),
        delivery_subtypes: Vec::new(),
        payment_types: Vec::new(),
    };
    let project = ProjectId::new(desk.project["project_id"].as_i64().unwrap()).unwrap();
    site.connect().add_demo_data(project, data, SystemClock.now()).await.unwrap();
    desk
}

database_tests! {
    async fn nothing_is_refunded_or_ordered_twice_when_the_process_is_killed(db: TestDatabase) {
        let (kind, started) = (db.kind, Instant::now());
        let seed = asked("CRASH_SEED").unwrap_or_else(Dice::any_seed);
        let wanted = asked("CRASH_KILLS").map_or(8, |kills| usize::try_from(kills).unwrap());
        println!("{kind:?}: CRASH_SEED={seed} repeats the choices of this run");
        let mut dice = Dice::new(seed);
        let site = Arc::new(Site::open(db, 0.05).await);
        let mut process = site.serve().await;
        let desk = furnished(&site).await;
        let item = desk.product("Anchor").await["id"].as_i64().unwrap();
        let storm = Arc::new(Storm { site: Arc::clone(&site), desk, item, kills: AtomicUsize::new(0), wanted, repeated: AtomicUsize::new(0) });
        let mut workers = Vec::new();
        for worker in 0..WORKERS {
            let shopper = storm.desk.front.sign_in(&format!("7900555010{worker}")).await;
            let (storm, dice) = (Arc::clone(&storm), dice.split());
            workers.push(tokio::spawn(async move { storm.trade(&shopper, worker, dice).await }));
        }
        while storm.rages() {
            tokio::time::sleep(Duration::from_millis(20) + dice.pause(500)).await;
            process.kill();
            storm.kills.fetch_add(1, Ordering::SeqCst);
            site.execute(&TIME_PASSES).await;
            process = site.serve().await;
        }
        let mut settled = Vec::new();
        for worker in workers {
            settled.extend(worker.await.unwrap());
        }
        assert!(settled.len() >= WORKERS, "{} orders are too few to tell", settled.len());

        // Every refund reaches the acquirer, once.
        let until = Instant::now() + PATIENCE;
        for Settled { order, refunded } in &settled {
            let seen = loop {
                let seen = storm.order(*order).await;
                if minor(&seen["refunding_amount"]) == 0 {
                    break seen;
                }
                assert!(Instant::now() < until, "the money of order {order} does not go back: {seen}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            };
            assert_eq!(minor(&seen["refunded_amount"]), *refunded, "{seen}");
            assert_eq!(seen["refunds"].as_array().unwrap().len(), usize::try_from(refunded / PRICE).unwrap(), "{seen}");
        }
        let payments = site.control("/payments?limit=1000000").await["payments"].as_array().unwrap().clone();
        for Settled { order, refunded } in &settled {
            let theirs = |payment: &&Value| payment["metadata"]["order_id"] == json!(order.to_string());
            let paid: Vec<&Value> = payments.iter().filter(theirs).collect();
            assert_eq!(paid.len(), 1, "order {order} is paid once");
            assert_eq!(minor(&paid[0]["refunded_amount"]["value"]), *refunded, "{paid:?}");
        }
        let orders = storm.site.number("SELECT count(*) AS id FROM orders").await;
        assert_eq!(usize::try_from(orders).unwrap(), settled.len(), "each key made one order");
        let examined = site.command(&["doctor", "--json"]).output().unwrap();
        assert!(examined.status.success(), "{}", String::from_utf8_lossy(&examined.stdout));
        process.terminate();
        assert!(process.ended().await.success());
        println!(
            "{kind:?}: {} orders, {} kills, {} requests sent again, {:.1?}",
            settled.len(),
            storm.kills.load(Ordering::SeqCst),
            storm.repeated.load(Ordering::SeqCst),
            started.elapsed()
        );
    }
}
