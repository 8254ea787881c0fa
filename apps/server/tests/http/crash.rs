//! The service is killed at random times while customers order and pay and staff set stock and import. It loses
//! nothing, sells and writes nothing twice, and charges no customer twice.
//!
//! `CRASH_ORDERS` sets more orders than the short run, `CRASH_SECONDS` ends the load early, `CRASH_SEED` repeats its
//! choices.

mod books;
mod importer;
mod job_books;
mod market;
pub mod rng;
mod stock_worker;

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kontor::adapters::SystemClock;
use kontor_adapter_diesel::demo_data::{DemoData, PickupPoint, Shop};
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_kernel::{Clock as _, ProjectId};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::watch;

use self::books::{Audit, TestRecords};
use self::importer::import_sheets;
use self::market::{Item, Market, Memory, PROMO, cause_trouble, pay_everything};
use self::rng::TestRng;
use self::stock_worker::keep_stock;
use crate::customer_client::CustomerClient;
use crate::owner_client::OwnerClient;
use crate::process::{PATIENCE, Process, ProcessEnvironment};
use crate::support::send;

const CUSTOMERS: usize = 8;
const MIN_KILLS: usize = 5;
/// Items: name, price and stock. The last one is scarce.
const GOODS: [(&str, i64, i64); 5] = [
    ("Anchor", 1_250_050, 100_000),
    ("Buoy", 99_999, 100_000),
    ("Chain", 310_000, 100_000),
    ("Deckchair", 4_510, 100_000),
    ("Figurehead", 777_700, 7),
];
/// Moves time forward while the process is dead: leases expire, checks and deliveries become due.
pub const TIME_PASSES: [&str; 8] = [
    "UPDATE jobs SET leased_until = '2000-01-01 00:00:00' WHERE leased_until IS NOT NULL",
    "UPDATE idempotency_keys SET leased_until = '2000-01-01 00:00:00' WHERE leased_until IS NOT NULL",
    "UPDATE refunds SET leased_until = '2000-01-01 00:00:00' WHERE leased_until IS NOT NULL",
    "UPDATE refunds SET next_check_at = '2000-01-01 00:00:00' WHERE next_check_at IS NOT NULL",
    "UPDATE charges SET leased_until = '2000-01-01 00:00:00' WHERE leased_until IS NOT NULL",
    "UPDATE charges SET next_check_at = '2000-01-01 00:00:00' WHERE next_check_at IS NOT NULL",
    "UPDATE webhook_deliveries SET leased_until = '2000-01-01 00:00:00' WHERE leased_until IS NOT NULL",
    "UPDATE webhook_deliveries SET next_attempt_at = '2000-01-01 00:00:00' WHERE next_attempt_at IS NOT NULL",
];
/// The same while a process is running: leases of its current work do not expire.
pub const PAUSES_PASS: [&str; 2] = [
    "UPDATE charges SET next_check_at = '2000-01-01 00:00:00' WHERE next_check_at IS NOT NULL AND lease_owner IS NULL",
    "UPDATE webhook_deliveries SET next_attempt_at = '2000-01-01 00:00:00' \
     WHERE next_attempt_at IS NOT NULL AND lease_owner IS NULL",
];
/// Jobs leased by a running process, or by one that died a short time ago.
const IN_HAND: &str = "SELECT count(*) AS id FROM jobs WHERE leased_until > '2000-01-01 00:00:00'";
/// Work that is still open.
const UNSETTLED: &str = "SELECT (SELECT count(*) FROM charges WHERE state IN ('prepared', 'pending')) \
    + (SELECT count(*) FROM outbox_events WHERE dispatched_at IS NULL) \
    + (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending') \
    + (SELECT count(*) FROM jobs WHERE finished_at IS NULL OR file_place IS NOT NULL) AS id";

#[expect(clippy::disallowed_methods, reason = "a test is configured by its environment alone")]
pub fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

/// Creates a shop with items, some of which are never ordered, a promo code for some, and its owner.
async fn import_catalog(environment: &ProcessEnvironment) -> (OwnerClient, Vec<Item>) {
    let owner_client = OwnerClient::sign_in(environment, environment.create_project("owner")).await;
    let (mut cards, mut stock) =
        ("article;name;category;price".to_owned(), "article;warehouse;quantity;price".to_owned());
    for (name, price, pieces) in GOODS {
        write!(cards, "\n{name};{name};Harbour;").unwrap();
        write!(stock, "\n{name};Main;{pieces};{},{:02}", price / 100, price % 100).unwrap();
    }
    let bulk = importer::bulk();
    cards.push_str(&bulk.0);
    stock.push_str(&bulk.1);
    owner_client.import_catalog(&cards, &stock).await;
    let data = DemoData {
        shop: Shop { known: None, name: "Shop", address: "Quay 1", phone: "79001110000" },
        pickup_point: PickupPoint { known: None, name: "Gate", address: "Quay 2" },
        delivery_types: Vec::new(),
        delivery_subtypes: Vec::new(),
        payment_types: Vec::new(),
    };
    let project = ProjectId::new(owner_client.project["project_id"].as_i64().unwrap()).unwrap();
    environment.connect().add_demo_data(project, data, SystemClock.now()).await.unwrap();
    let promo =
        json!({ "name": "For the quick", "code": PROMO, "type": "percent", "value": "10.00", "usage_limit": 20 });
    send(owner_client.request(Method::POST, "/api/discounts").json(&promo)).await.expect(201);
    let mut items = Vec::new();
    for (name, price, stock) in GOODS {
        let id = owner_client.product(name).await["id"].as_i64().unwrap();
        let path = format!("/api/inventories?nomenclature_id={id}");
        let listed = send(owner_client.request(Method::GET, &path)).await.expect(200);
        let inventory = listed["inventories"][0]["id"].as_i64().unwrap();
        items.push(Item { id, article: name, inventory, price, stock });
    }
    (owner_client, items)
}

async fn sign_in_all(owner_client: &OwnerClient) -> Vec<CustomerClient> {
    let mut shoppers = Vec::new();
    for number in 0..CUSTOMERS {
        shoppers.push(owner_client.front.sign_in(&format!("7900555000{number}")).await);
    }
    shoppers
}

/// Kills and restarts the process: once in every slice of the load, at a random time within it.
struct Killer<'a> {
    environment: &'a ProcessEnvironment,
    market: &'a Market,
    open: watch::Sender<bool>,
    rng: TestRng,
    kills: usize,
}

impl Killer<'_> {
    async fn kill_repeatedly(&mut self, mut process: Process, slices: usize) -> Process {
        let width = self.market.wanted / slices;
        for slice in 0..slices {
            let moment = slice * width + self.rng.below(width);
            while self.market.begun.load(Ordering::SeqCst) < moment && Instant::now() < self.market.closing {
                self.rng.rest(2, 0).await;
            }
            if Instant::now() >= self.market.closing && self.kills >= MIN_KILLS {
                break;
            }
            self.rng.rest(0, 60).await;
            process = self.strike(process).await;
        }
        // By chance no job may have been hit yet.
        while self.market.imports() && self.market.struck() == 0 {
            if self.environment.number(IN_HAND).await > 0 {
                process = self.strike(process).await;
            } else {
                self.rng.rest(2, 0).await;
            }
        }
        process
    }

    async fn strike(&mut self, process: Process) -> Process {
        process.kill();
        self.kills += 1;
        self.open.send_replace(false);
        self.market.struck.fetch_add(self.environment.number(IN_HAND).await, Ordering::SeqCst);
        if self.rng.one_in(2) {
            self.environment.execute(&TIME_PASSES).await;
        }
        // Sometimes the next process is killed before it is ready.
        while self.rng.one_in(4) {
            let short_lived = self.environment.spawn(&["serve"]);
            self.rng.rest(0, 400).await;
            short_lived.kill();
            self.kills += 1;
        }
        let process = self.environment.serve().await;
        self.open.send_replace(true);
        process
    }
}

/// Waits until no work is left.
async fn settle(environment: &ProcessEnvironment) {
    let until = Instant::now() + PATIENCE;
    loop {
        let unsettled = environment.number(UNSETTLED).await;
        let pending = |payment: &&Value| payment["status"] == "pending";
        let unpaid = environment.control("/payments?limit=1000000").await["payments"]
            .as_array()
            .unwrap()
            .iter()
            .filter(pending)
            .count();
        if unsettled == 0 && unpaid == 0 {
            return;
        }
        environment.execute(&PAUSES_PASS).await;
        retry_until!(until, every Duration::from_millis(100), "{unsettled} things do not settle, {unpaid} payments wait for the payer");
    }
}

database_tests! {
    async fn nothing_is_lost_when_the_process_is_killed(db: TestDatabase) {
        let (kind, started) = (db.kind, Instant::now());
        let seed = asked("CRASH_SEED").unwrap_or_else(TestRng::any_seed);
        let wanted = asked("CRASH_ORDERS").map_or(160, |orders| usize::try_from(orders).unwrap());
        let seconds = asked("CRASH_SECONDS").unwrap_or(12);
        println!("{kind:?}: CRASH_SEED={seed} repeats the choices of this run");
        let mut rng = TestRng::new(seed);

        let environment = Arc::new(ProcessEnvironment::open(db, 0.05).await);
        let process = environment.serve().await;
        let (owner_client, items) = import_catalog(&environment).await;
        let hook = owner_client.hook().await;
        let shoppers = sign_in_all(&owner_client).await;
        let (open, opened) = watch::channel(true);
        let closing = Instant::now() + Duration::from_secs(seconds);
        let (begun, struck) = (AtomicUsize::new(0), AtomicI64::new(0));
        let market = Arc::new(Market { owner_client, items, wanted, begun, struck, open: opened, closing });

        let (paying, troubled, troubles) = (environment.clone(), environment.clone(), rng.split());
        let payer = tokio::spawn(async move { pay_everything(&paying).await });
        let failure = tokio::spawn(async move { cause_trouble(&troubled, troubles).await });
        let customers: Vec<_> = shoppers
            .into_iter()
            .map(|customer_client| {
                let (market, rng) = (market.clone(), rng.split());
                tokio::spawn(async move { market.trade(customer_client, rng).await })
            })
            .collect();
        let (kept, hand) = (market.clone(), rng.split());
        let stock_worker = tokio::spawn(async move { keep_stock(&kept, hand).await });
        let (read, hand) = (market.clone(), rng.split());
        let importer = tokio::spawn(async move { import_sheets(&read, hand).await });
        let mut killer = Killer { environment: &environment, market: &market, open, rng: rng.split(), kills: 0 };
        let process = killer.kill_repeatedly(process, (wanted / 40).max(MIN_KILLS)).await;
        let mut memory = Memory::default();
        for customer in customers {
            memory.join(customer.await.unwrap());
        }
        let (ledger, imports) = (stock_worker.await.unwrap(), importer.await.unwrap());
        failure.abort();
        let loaded = started.elapsed();

        // A last kill; then outside services work again.
        process.kill();
        environment.forgive().await;
        environment.execute(&TIME_PASSES).await;
        let process = environment.serve().await;
        settle(&environment).await;
        payer.abort();
        assert!(memory.unexpected.is_empty(), "{:?}", memory.unexpected);
        assert!(ledger.unexpected.is_empty(), "{:?}", ledger.unexpected);
        assert!(imports.unexpected.is_empty(), "{:?}", imports.unexpected);
        assert!(market.struck() > 0, "no job was struck");
        let (kept, lost, kills) = (&memory.kept, memory.lost, killer.kills + 1);
        let reported = TestRecords { kept, lost, ledger: &ledger, imports: &imports, hook: &hook, kills };
        let figures = Audit::new(&environment, &market).examine(reported).await;
        process.terminate();
        assert!(process.ended().await.success());
        println!(
            "{kind:?}: {figures:?}, {} refused, {} lost answers, {} lost changes of stock, {kills} kills, {} of them amid a job, {loaded:.1?} of load, {:.1?} in all",
            memory.refused,
            memory.lost,
            ledger.lost,
            market.struck(),
            started.elapsed()
        );
    }
}
