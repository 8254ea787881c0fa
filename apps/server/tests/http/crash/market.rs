//! The load: customers who order, a clerk who moves orders on, a payer, and an outside world that fails.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::dice::Dice;
use crate::desk::Desk;
use crate::process::{PATIENCE, Site};
use crate::shopper::Shopper;
use crate::support::{Answer, send};

/// An item on sale.
#[derive(Clone)]
pub struct Item {
    pub id: i64,
    pub article: &'static str,
    /// Its stock record.
    pub inventory: i64,
    /// Hundredths of the currency.
    pub price: i64,
    /// How many there were at the beginning.
    pub stock: i64,
}

pub const PROMO: &str = "HURRY";

/// What all customers share.
pub struct Market {
    pub desk: Desk,
    /// The last one is scarce.
    pub items: Vec<Item>,
    /// How many orders are to be answered.
    pub wanted: usize,
    /// How many of these have begun.
    pub begun: AtomicUsize,
    /// Jobs that were hit by a kill.
    pub struck: AtomicI64,
    /// Whether the service is there.
    pub open: watch::Receiver<bool>,
    /// No wish begins later than this.
    pub closing: Instant,
}

/// What a customer wants.
#[derive(Clone)]
pub struct Wish {
    pub online: bool,
    pub promo: bool,
    /// Positions in [`Market::items`] and how many of each.
    pub lines: Vec<(usize, i64)>,
}

/// An order that was answered.
pub struct Kept {
    pub wish: Wish,
    pub answer: Value,
    pub shopper: Shopper,
    /// The states it may be in when nothing moves any more; empty when the acquirer decides.
    pub ends: Vec<i64>,
}

/// What a customer remembers.
#[derive(Default)]
pub struct Memory {
    pub kept: Vec<Kept>,
    /// Turned down: sold out, or the promo code was used up.
    pub refused: usize,
    /// Wishes whose outcome nobody told.
    pub lost: usize,
    /// Answers that nobody should get.
    pub strange: Vec<String>,
}

impl Memory {
    /// No order came of it, or nobody knows of one.
    fn note(&mut self, answer: Option<Answer>) {
        match answer.as_ref().map(|answer| answer.status) {
            None | Some(StatusCode::SERVICE_UNAVAILABLE) => self.lost += 1,
            Some(StatusCode::UNPROCESSABLE_ENTITY) => self.refused += 1,
            Some(_) => self.strange.push(format!("{answer:?}")),
        }
    }

    pub fn join(&mut self, other: Self) {
        self.kept.extend(other.kept);
        self.strange.extend(other.strange);
        self.refused += other.refused;
        self.lost += other.lost;
    }
}

/// What comes of a request to a process that may die.
pub enum Told {
    Answer(Answer),
    /// It may have happened.
    Nothing,
    /// It has not even begun.
    NotSent,
}

pub async fn tell(request: RequestBuilder) -> Told {
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) if error.is_connect() => return Told::NotSent,
        Err(_) => return Told::Nothing,
    };
    let (status, headers) = (response.status(), response.headers().clone());
    response.text().await.map_or(Told::Nothing, |text| Told::Answer(Answer { status, headers, text }))
}

impl Market {
    /// The next wish: mostly goods that are there for everybody, often the scarce one.
    fn wish(&self, dice: &mut Dice) -> Wish {
        let scarce = self.items.len() - 1;
        let mut lines = vec![(dice.below(scarce), 1 + i64::from(dice.one_in(2)))];
        if dice.one_in(2) {
            lines.push(((lines[0].0 + 1) % scarce, 1));
        }
        if dice.one_in(4) {
            lines.push((scarce, 1));
        }
        Wish { online: !dice.one_in(3), promo: dice.one_in(4), lines }
    }

    fn body(&self, wish: &Wish) -> Value {
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

    /// Whether another order is wanted.
    fn begin(&self) -> bool {
        let one_more = |begun| (begun < self.wanted).then_some(begun + 1);
        self.begun.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_ok()
    }

    /// Whether there is time left, and fewer orders than were wanted.
    pub fn is_trading(&self) -> bool {
        Instant::now() < self.closing && self.begun.load(Ordering::SeqCst) < self.wanted
    }

    /// Jobs that were hit by a kill.
    pub fn struck(&self) -> i64 {
        self.struck.load(Ordering::SeqCst)
    }

    /// Whether files are still sent: as long as customers order, and until a job was hit.
    pub fn imports(&self) -> bool {
        self.is_trading() || self.struck() == 0 && Instant::now() < self.closing + PATIENCE
    }

    pub async fn wait_until_open(&self) {
        let mut open = self.open.clone();
        open.wait_for(|open| *open).await.unwrap();
    }

    /// One customer, until there are orders enough. What comes to nothing does not count.
    pub async fn trade(&self, shopper: Shopper, mut dice: Dice) -> Memory {
        let mut memory = Memory::default();
        while Instant::now() < self.closing && self.begin() {
            let wish = self.wish(&mut dice);
            let answer = loop {
                self.wait_until_open().await;
                let order = shopper.request(Method::POST, "/api/counterparty/orders").json(&self.body(&wish));
                match tell(order).await {
                    Told::Answer(answer) => break Some(answer),
                    Told::Nothing => break None,
                    // The process is dead and the killer has not said so yet.
                    Told::NotSent => tokio::time::sleep(Duration::from_millis(5)).await,
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
            let ends = if wish.online { Vec::new() } else { self.handle(&answer, &mut dice).await };
            memory.kept.push(Kept { wish, answer, shopper: shopper.clone(), ends });
        }
        memory
    }

    /// The clerk may issue an order, cancel it, or take the money for it. Gives the states it may be in now.
    async fn handle(&self, order: &Value, dice: &mut Dice) -> Vec<i64> {
        let target = dice.pick(&[1, 5, 6, 22]);
        if target == 1 {
            return vec![1];
        }
        let path = format!("/api/orders/{}", order["id"]);
        let moved = self.desk.request(Method::PUT, &path).json(&json!({ "status_id": target }));
        match tell(moved).await {
            Told::Answer(answer) if answer.status == StatusCode::OK => vec![target],
            Told::NotSent => vec![1],
            Told::Answer(_) | Told::Nothing => vec![1, target],
        }
    }
}

/// Declined for every fifth order.
fn card(order: &str) -> &'static str {
    if order.parse::<i64>().unwrap() % 5 == 0 { "5555555555554600" } else { "5555555555554444" }
}

/// Pays whatever waits for a payer, for ever.
pub async fn pay_everything(site: &Site) {
    loop {
        for payment in site.control("/payments?limit=300").await["payments"].as_array().unwrap() {
            if payment["status"] == "pending" {
                let order = payment["metadata"]["order_id"].as_str().unwrap();
                let path = format!("{}/control/payments/{}", site.sandbox.url(), payment["id"].as_str().unwrap());
                send(site.http.post(path).json(&json!({ "outcome": "succeed", "card": card(order) })))
                    .await
                    .expect(200);
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Lets the outside world fail now and then, for ever.
pub async fn cause_trouble(site: &Site, mut dice: Dice) {
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
        tokio::time::sleep(Duration::from_millis(50) + dice.pause(250)).await;
        let (service, fault) = dice.pick(&TROUBLES);
        site.fault(service, fault, 1, dice.pause(300)).await;
    }
}
