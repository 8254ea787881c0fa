//! The load: customers who order, an employee who moves orders, a payer, and outside services that fail.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Instant;

use kontor_adapter_diesel::testing::moment;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::rng::TestRng;
use crate::customer_client::CustomerClient;
use crate::owner_client::OwnerClient;
use crate::process::{PATIENCE, ProcessEnvironment};
use crate::support::{Answer, send};

/// An item on sale.
#[derive(Clone)]
pub struct Item {
    pub id: i64,
    pub article: &'static str,
    /// Identifier of its stock level.
    pub inventory: i64,
    /// In hundredths of the currency.
    pub price: i64,
    /// Initial stock.
    pub stock: i64,
}

pub const PROMO: &str = "HURRY";

/// State shared by all customers.
pub struct Market {
    pub owner_client: OwnerClient,
    /// Items; the last one is scarce.
    pub items: Vec<Item>,
    /// Number of orders to get answered.
    pub wanted: usize,
    /// Number of orders started.
    pub begun: AtomicUsize,
    /// Number of jobs hit by a kill.
    pub struck: AtomicI64,
    /// `true` while the service is running.
    pub open: watch::Receiver<bool>,
    /// Time after which no new order starts.
    pub closing: Instant,
}

/// An order a customer wants to place.
#[derive(Clone)]
pub struct WantedOrder {
    pub online: bool,
    pub promo: bool,
    /// Positions in [`Market::items`] with quantities.
    pub lines: Vec<(usize, i64)>,
}

/// An answered order.
pub struct AnsweredOrder {
    pub wish: WantedOrder,
    pub answer: Value,
    pub customer_client: CustomerClient,
    /// Allowed final statuses; empty when the acquirer decides.
    pub ends: Vec<i64>,
}

/// Orders recorded by a customer.
#[derive(Default)]
pub struct Memory {
    pub kept: Vec<AnsweredOrder>,
    /// Rejected: sold out, or the promo code was used up.
    pub refused: usize,
    /// Number of orders with an unknown outcome.
    pub lost: usize,
    /// Unexpected responses.
    pub unexpected: Vec<String>,
}

impl Memory {
    /// Records a response without an order, or a missing response.
    fn note(&mut self, answer: Option<Answer>) {
        match answer.as_ref().map(|answer| answer.status) {
            None | Some(StatusCode::SERVICE_UNAVAILABLE) => self.lost += 1,
            Some(StatusCode::UNPROCESSABLE_ENTITY) => self.refused += 1,
            Some(_) => self.unexpected.push(format!("{answer:?}")),
        }
    }

    pub fn join(&mut self, other: Self) {
        self.kept.extend(other.kept);
        self.unexpected.extend(other.unexpected);
        self.refused += other.refused;
        self.lost += other.lost;
    }
}

/// Outcome of a request to a process that may die.
pub enum CountedOutcome {
    Answer(Answer),
    /// No response: the request may have been carried out.
    Nothing,
    /// The request was not sent.
    NotSent,
}

pub async fn outcome_of(request: RequestBuilder) -> CountedOutcome {
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) if error.is_connect() => return CountedOutcome::NotSent,
        Err(_) => return CountedOutcome::Nothing,
    };
    let (status, headers) = (response.status(), response.headers().clone());
    response
        .text()
        .await
        .map_or(CountedOutcome::Nothing, |text| CountedOutcome::Answer(Answer { status, headers, text }))
}

impl Market {
    /// Creates the next order: mostly of items with enough stock, often of the scarce one.
    fn wish(&self, rng: &mut TestRng) -> WantedOrder {
        let scarce = self.items.len() - 1;
        let mut lines = vec![(rng.below(scarce), 1 + i64::from(rng.one_in(2)))];
        if rng.one_in(2) {
            lines.push(((lines[0].0 + 1) % scarce, 1));
        }
        if rng.one_in(4) {
            lines.push((scarce, 1));
        }
        WantedOrder { online: !rng.one_in(3), promo: rng.one_in(4), lines }
    }

    fn body(&self, wish: &WantedOrder) -> Value {
        let line = |(item, quantity): &(usize, i64)| json!({ "id": self.items[*item].id, "quantity": quantity });
        let mut body = json!({
            "delivery_type_id": 2,
            "delivery_subtype_id": 2,
            "address": "Elbe Street 5",
            "products": wish.lines.iter().map(line).collect::<Vec<_>>(),
        });
        if wish.online {
            body["payment_method_type"] = json!("bank_card");
        }
        if wish.promo {
            body["promo_code"] = json!(PROMO);
        }
        body
    }

    /// Returns `true` if another order may start.
    fn begin(&self) -> bool {
        let one_more = |begun| (begun < self.wanted).then_some(begun + 1);
        self.begun.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_ok()
    }

    /// Returns `true` while time is left and more orders are wanted.
    pub fn is_trading(&self) -> bool {
        Instant::now() < self.closing && self.begun.load(Ordering::SeqCst) < self.wanted
    }

    /// Returns the number of jobs hit by a kill.
    pub fn struck(&self) -> i64 {
        self.struck.load(Ordering::SeqCst)
    }

    /// Returns `true` while files are still sent: while customers order, and until a job was hit.
    pub fn imports(&self) -> bool {
        self.is_trading() || self.struck() == 0 && Instant::now() < self.closing + PATIENCE
    }

    pub async fn wait_until_open(&self) {
        let mut open = self.open.clone();
        open.wait_for(|open| *open).await.unwrap();
    }

    /// Runs one customer until there are enough orders. Failed orders do not count.
    pub async fn trade(&self, customer_client: CustomerClient, mut rng: TestRng) -> Memory {
        let mut memory = Memory::default();
        while Instant::now() < self.closing && self.begin() {
            let wish = self.wish(&mut rng);
            let answer = loop {
                self.wait_until_open().await;
                let order = customer_client.request(Method::POST, "/api/counterparty/orders").json(&self.body(&wish));
                match outcome_of(order).await {
                    CountedOutcome::Answer(answer) => break Some(answer),
                    CountedOutcome::Nothing => break None,
                    // The process is dead, but the killer has not set `open` yet.
                    CountedOutcome::NotSent => rng.rest(5, 0).await,
                }
            };
            let answer = match answer {
                Some(answer) if matches!(answer.status, StatusCode::CREATED | StatusCode::ACCEPTED) => answer,
                other => {
                    memory.note(other);
                    self.begun.fetch_sub(1, Ordering::SeqCst);
                    continue;
                }
            };
            let answer = answer.json()["order"].clone();
            let ends = if wish.online { Vec::new() } else { self.handle(&answer, &mut rng).await };
            memory.kept.push(AnsweredOrder { wish, answer, customer_client: customer_client.clone(), ends });
        }
        memory
    }

    /// The employee may issue an order, cancel it, or take the money for it. Returns the statuses it may have now.
    async fn handle(&self, order: &Value, rng: &mut TestRng) -> Vec<i64> {
        let target = rng.pick(&[1, 5, 6, 22]);
        if target == 1 {
            return vec![1];
        }
        let path = format!("/api/orders/{}", order["id"]);
        let moved = self.owner_client.request(Method::PUT, &path).json(&json!({ "status_id": target }));
        match outcome_of(moved).await {
            CountedOutcome::Answer(answer) if answer.status == StatusCode::OK => vec![target],
            CountedOutcome::NotSent => vec![1],
            CountedOutcome::Answer(_) | CountedOutcome::Nothing => vec![1, target],
        }
    }
}

/// Returns the card of an order; every fifth order gets a declined one.
fn card(order: &str) -> &'static str {
    if order.parse::<i64>().unwrap() % 5 == 0 { "5555555555554600" } else { "5555555555554444" }
}

/// Pays every pending payment, forever.
pub async fn pay_everything(environment: &ProcessEnvironment) {
    loop {
        for payment in environment.control("/payments?limit=300").await["payments"].as_array().unwrap() {
            if payment["status"] == "pending" {
                let order = payment["metadata"]["order_id"].as_str().unwrap();
                let path =
                    format!("{}/control/payments/{}", environment.sandbox.url(), payment["id"].as_str().unwrap());
                send(environment.http.post(path).json(&json!({ "outcome": "succeed", "card": card(order) })))
                    .await
                    .expect(200);
            }
        }
        moment().await;
    }
}

/// Makes outside services fail at times, forever.
pub async fn cause_trouble(environment: &ProcessEnvironment, mut rng: TestRng) {
    const TROUBLES: [(&str, &str); 10] = [
        ("acquirer", "timeout"),
        ("acquirer", "http_500_after_commit"),
        ("acquirer", "http_500"),
        ("acquirer", "drop"),
        ("acquirer", "delay"),
        ("acquirer", "duplicate"),
        ("acquirer", "reorder"),
        ("webhook", "http_500"),
        ("webhook", "http_500_after_commit"),
        ("webhook", "timeout"),
    ];
    loop {
        rng.rest(50, 250).await;
        let (service, fault) = rng.pick(&TROUBLES);
        environment.fault(service, fault, 1, rng.pause(300)).await;
    }
}
