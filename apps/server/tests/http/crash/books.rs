//! Comparison after the crash test: responses with the database, the acquirer and the receiver.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Value, json};

use super::importer::{FIRST_PIECES, Imports, ROWS};
use super::job_books::{self, ImportFigures};
use super::market::{AnsweredOrder, Market};
use super::stock_worker::{FIRST_PIECES as FIRST_STOCK, Ledger};
use crate::owner_client::Hook;
use crate::process::ProcessEnvironment;
use crate::support::send;

/// Rules for rows, each as a query that counts the rows that break it.
const RULES: &[(&str, &str)] = &[
    ("an order has lines", "orders o WHERE NOT EXISTS (SELECT 1 FROM reservations r WHERE r.order_id = o.id)"),
    (
        "an order sums up its lines",
        "orders o WHERE o.original_price <> (SELECT sum(r.unit_price * r.quantity) FROM reservations r WHERE r.order_id = o.id) \
         OR o.final_price <> (SELECT sum(r.total) FROM reservations r WHERE r.order_id = o.id) \
         OR o.promo_discount <> (SELECT sum(r.promo_discount) FROM reservations r WHERE r.order_id = o.id)",
    ),
    (
        "the history of an order begins with it and tells its state",
        "orders o WHERE (SELECT count(*) FROM order_events e WHERE e.order_id = o.id AND e.event = 'created') <> 1 \
         OR (SELECT e.status_id FROM order_events e WHERE e.order_id = o.id ORDER BY e.id DESC LIMIT 1) <> o.status_id",
    ),
    (
        "what is reserved is held by orders",
        "inventories i WHERE i.reserved <> COALESCE((SELECT sum(r.quantity) FROM reservations r \
         WHERE r.inventory_id = i.id AND r.state = 'held'), 0)",
    ),
    ("stock is never negative", "inventories i WHERE NOT (i.quantity >= i.reserved AND i.reserved >= 0)"),
    (
        "a line is held, sold or released as its order stands",
        "reservations r JOIN orders o ON o.id = r.order_id WHERE r.state <> \
         CASE o.status_id WHEN 6 THEN 'released' WHEN 5 THEN 'sold' ELSE 'held' END",
    ),
    (
        "a discount counts its uses",
        "discounts d WHERE d.used_count <> (SELECT count(*) FROM discount_usages u WHERE u.discount_id = d.id)",
    ),
    (
        "a discount counts what its code let off",
        "discounts d WHERE d.used_amount <> (SELECT coalesce(sum(o.promo_discount), 0) FROM discount_usages u \
         JOIN orders o ON o.id = u.order_id WHERE u.discount_id = d.id)",
    ),
    (
        "exactly the orders that stand use their promo code",
        "orders o WHERE (o.discount_id IS NOT NULL AND o.status_id <> 6) \
         <> EXISTS (SELECT 1 FROM discount_usages u WHERE u.order_id = o.id)",
    ),
    (
        "an online order has one charge, any other none",
        "orders o WHERE (SELECT count(*) FROM charges a WHERE a.purpose = 'order' AND a.purpose_id = o.id) \
         <> CASE WHEN o.payment_method_type IS NULL THEN 0 ELSE 1 END",
    ),
    (
        "a charge asks for the price of its order",
        "charges a JOIN orders o ON a.purpose = 'order' AND o.id = a.purpose_id WHERE a.amount <> o.final_price",
    ),
    (
        "a charge has ended as its order says",
        "charges a JOIN orders o ON a.purpose = 'order' AND o.id = a.purpose_id WHERE NOT ((a.state = 'succeeded' AND o.status_id = 22) \
         OR (a.state IN ('canceled', 'expired') AND o.status_id = 6))",
    ),
    ("paid orders know when", "orders o WHERE (o.paid_at IS NOT NULL) <> (o.status_id = 22)"),
    (
        "a paid order is announced once, any other never",
        "orders o WHERE (SELECT count(*) FROM outbox_events e WHERE e.topic = 'order.paid' \
         AND e.payload LIKE '%\"order_id\":' || o.id || ',%') <> CASE WHEN o.paid_at IS NULL THEN 0 ELSE 1 END",
    ),
    ("no announcement waits", "outbox_events e WHERE e.dispatched_at IS NULL"),
    ("every delivery has arrived", "webhook_deliveries d WHERE d.status <> 'delivered'"),
    (
        "the storefront shows what can be bought",
        "inventories i WHERE (i.quantity > i.reserved) <> EXISTS \
         (SELECT 1 FROM storefront_offers f WHERE f.nomenclature_id = i.nomenclature_id)",
    ),
    (
        "nobody holds a lease",
        "(SELECT lease_owner FROM charges UNION ALL SELECT lease_owner FROM webhook_deliveries \
         UNION ALL SELECT lease_owner FROM jobs) l WHERE l.lease_owner IS NOT NULL",
    ),
];

/// Figures printed at the end of the test.
#[derive(Debug, Default)]
pub struct Figures {
    pub orders: i64,
    pub answered: usize,
    pub succeeded: usize,
    pub canceled: usize,
    pub deliveries: usize,
    pub duplicates: usize,
    pub stock_changes: i64,
    pub imports: ImportFigures,
}

/// Records of the test's workers.
pub struct TestRecords<'a> {
    pub kept: &'a [AnsweredOrder],
    /// Number of orders that may exist without a response.
    pub lost: usize,
    pub ledger: &'a Ledger,
    pub imports: &'a Imports,
    pub hook: &'a Hook,
    pub kills: usize,
}

/// All differences found, as text.
pub struct Audit<'a> {
    pub(super) environment: &'a ProcessEnvironment,
    market: &'a Market,
    wrong: Vec<String>,
    pub(super) figures: Figures,
}

fn cents(value: &Value) -> i64 {
    let text = value.as_str().map_or_else(|| format!("{:.2}", value.as_f64().unwrap()), str::to_owned);
    text.replace('.', "").parse().unwrap()
}

impl<'a> Audit<'a> {
    pub fn new(environment: &'a ProcessEnvironment, market: &'a Market) -> Self {
        Self { environment, market, wrong: Vec::new(), figures: Figures::default() }
    }

    /// Compares everything.
    pub async fn examine(mut self, reported: TestRecords<'_>) -> Figures {
        let TestRecords { kept, lost, ledger, imports, hook, kills } = reported;
        self.figures.answered = kept.len();
        self.figures.orders = self.environment.number("SELECT count(*) AS id FROM orders").await;
        let most = i64::try_from(kept.len() + lost).unwrap();
        self.check(self.figures.orders <= most, || format!("there are more than {most} orders"));
        for (rule, broken) in RULES.iter().chain(job_books::RULES) {
            let rows = self.environment.number(&format!("SELECT count(*) AS id FROM {broken}")).await;
            self.check(rows == 0, || format!("{rule}: broken {rows} times"));
        }
        self.stock().await;
        self.stock_worker(ledger).await;
        self.imports(imports, kills).await;
        self.doctor();
        let outcomes = self.acquirer().await;
        for order in kept {
            self.order(order, &outcomes).await;
        }
        self.announcements(hook).await;
        assert!(self.wrong.is_empty(), "{:?}\n{}", self.figures, self.wrong.join("\n"));
        self.figures
    }

    pub(super) fn check(&mut self, fine: bool, otherwise: impl FnOnce() -> String) {
        if !fine {
            self.wrong.push(otherwise());
        }
    }

    /// Checks that missing stock was sold or set by staff, and that no item was oversold.
    async fn stock(&mut self) {
        for item in &self.market.items {
            let there = format!(
                "SELECT i.quantity + COALESCE((SELECT sum(r.quantity) FROM reservations r \
                 WHERE r.inventory_id = i.id AND r.state = 'sold'), 0) AS id FROM inventories i WHERE nomenclature_id = {}",
                item.id
            );
            let there = self.environment.number(&format!("SELECT CAST(s.id AS BIGINT) AS id FROM ({there}) s")).await;
            let set = format!(
                "SELECT CAST(sum(m.quantity) AS BIGINT) AS id FROM stock_movements m WHERE m.inventory_id = {} \
                 AND m.reason IN ('edit', 'upload')",
                item.inventory
            );
            let set = self.environment.number(&set).await;
            self.check(there == set, || format!("item {}: {there} of {set} are accounted for", item.id));
        }
        let scarce = self.market.items.last().unwrap();
        let sold = format!(
            "SELECT CAST(COALESCE(sum(r.quantity), 0) AS BIGINT) AS id FROM reservations r \
             WHERE r.inventory_id = {} AND r.state IN ('sold', 'held')",
            scarce.inventory
        );
        let sold = self.environment.number(&sold).await;
        self.check(sold <= scarce.stock, || format!("{sold} of {} scarce pieces are sold", scarce.stock));
    }

    /// Checks that every answered stock change is in the ledger once. Other entries may only come from requests
    /// without a response.
    async fn stock_worker(&mut self, ledger: &Ledger) {
        for (inventory, pieces) in &ledger.answered {
            let entered = format!(
                "SELECT count(*) AS id FROM stock_movements WHERE inventory_id = {inventory} \
                 AND quantity_after = {pieces} AND reason IN ('edit', 'upload')"
            );
            let entered = self.environment.number(&entered).await;
            self.check(entered == 1, || format!("inventory {inventory}: {pieces} pieces were set {entered} times"));
        }
        let all = format!(
            "SELECT count(*) AS id FROM stock_movements WHERE reason IN ('edit', 'upload') \
             AND quantity_after > {FIRST_STOCK} AND quantity_after <= {FIRST_PIECES}"
        );
        self.figures.stock_changes = self.environment.number(&all).await;
        let most = i64::try_from(ledger.answered.len() + ledger.lost).unwrap();
        let changes = self.figures.stock_changes;
        self.check(changes <= most, || format!("{changes} changes of stock, {most} were asked for"));
    }

    /// Checks that `kontor doctor` finds nothing; a difference fails `run`.
    fn doctor(&mut self) {
        let output = self.environment.run(&["doctor", "--json"]);
        let text = String::from_utf8(output.stdout).unwrap();
        let reported: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let items = self.market.items.len() + ROWS - 1;
        self.check(reported["differences"] == 0 && reported["examined"]["inventories"] == json!(items), || {
            text.clone()
        });
    }

    /// Returns the outcome of each order's payment at the acquirer. There is never a second payment.
    async fn acquirer(&mut self) -> BTreeMap<i64, String> {
        let payments =
            self.environment.control("/payments?limit=1000000").await["payments"].as_array().unwrap().clone();
        let mut outcomes = BTreeMap::new();
        for payment in payments {
            let order: i64 = payment["metadata"]["order_id"].as_str().unwrap().parse().unwrap();
            let status = payment["status"].as_str().unwrap().to_owned();
            match status.as_str() {
                "succeeded" => self.figures.succeeded += 1,
                "canceled" => self.figures.canceled += 1,
                _ => self.wrong.push(format!("order {order}: its payment is {status}")),
            }
            let stored = format!(
                "SELECT count(*) AS id FROM charges WHERE purpose = 'order' AND purpose_id = {order} AND state = '{status}' \
                 AND provider_payment_id = '{}' AND amount = {}",
                payment["id"].as_str().unwrap(),
                cents(&payment["amount"]["value"])
            );
            let stored = self.environment.number(&stored).await;
            self.check(stored == 1, || format!("order {order}: its books do not know {payment}"));
            if outcomes.insert(order, status).is_some() {
                self.wrong.push(format!("order {order} has two payments"));
            }
        }
        outcomes
    }

    /// Checks that an answered order reads as it was answered and has an allowed status.
    async fn order(&mut self, kept: &AnsweredOrder, outcomes: &BTreeMap<i64, String>) {
        let id = kept.answer["id"].as_i64().unwrap();
        let read = send(kept.customer_client.request(Method::GET, &format!("/api/counterparty/orders/{id}"))).await;
        if read.status != 200 {
            return self.wrong.push(format!("order {id} was answered and is gone: {}", read.text));
        }
        let read = read.json()["order"].clone();
        for field in [
            "price",
            "promo_code",
            "original_price",
            "promo_discount_amount",
            "final_price",
            "address",
            "products",
            "acquirer_payment_method_type",
            "created_at",
        ] {
            let (was, is) = (&kept.answer[field], &read[field]);
            self.check(was == is, || format!("order {id}: {field} was {was} and is {is}"));
        }
        let wished: Vec<Value> = kept
            .wish
            .lines
            .iter()
            .map(|(item, quantity)| json!([self.market.items[*item].id, self.market.items[*item].price, quantity]))
            .collect();
        let products = read["products"].as_array().unwrap();
        let got: Vec<Value> =
            products.iter().map(|line| json!([line["id"], cents(&line["price"]), line["quantity"]])).collect();
        self.check(wished == got, || format!("order {id}: wished {wished:?}, got {got:?}"));
        let sum: i64 = kept.wish.lines.iter().map(|(item, quantity)| self.market.items[*item].price * quantity).sum();
        self.check(cents(&read["original_price"]) == sum, || format!("order {id}: the lines cost {sum}: {read}"));
        let discounted = cents(&read["final_price"]) < sum;
        self.check(discounted == kept.wish.promo, || format!("order {id}: the promo code is not in the price: {read}"));

        let status = read["status"]["id"].as_i64().unwrap();
        let ends = match (kept.wish.online, outcomes.get(&id).map(String::as_str)) {
            (true, Some("succeeded")) => vec![22],
            (true, _) => vec![6],
            (false, _) => kept.ends.clone(),
        };
        self.check(ends.contains(&status), || format!("order {id} is {status} instead of {ends:?}"));
    }

    /// Checks that every paid order has reached the receiver, signed, always as the same event, and no other order
    /// has.
    async fn announcements(&mut self, hook: &Hook) {
        let mut events: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
        for delivery in self.market.owner_client.received(hook).await {
            self.figures.deliveries += 1;
            let event = delivery["headers"]["x-webhook-event-id"].to_string();
            events.entry(hook.order_of(&delivery)).or_default().insert(event);
        }
        self.figures.duplicates = self.figures.deliveries - events.len();
        for (order, ids) in &events {
            self.check(ids.len() == 1, || format!("order {order} was announced as {ids:?}"));
            let paid = format!("SELECT count(*) AS id FROM orders WHERE id = {order} AND paid_at IS NOT NULL");
            let paid = self.environment.number(&paid).await;
            self.check(paid == 1, || format!("order {order} was announced and is not paid"));
        }
        let paid = self.environment.number("SELECT count(*) AS id FROM orders WHERE paid_at IS NOT NULL").await;
        let announced = i64::try_from(events.len()).unwrap();
        self.check(paid == announced, || format!("{paid} orders are paid, {announced} were announced"));
    }
}
