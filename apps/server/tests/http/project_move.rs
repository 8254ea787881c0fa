//! `kontor project move` dies at several moments while customers order. The shop goes on each time, at the latest when
//! the freeze has ended by itself, and a later run moves every row.
//!
//! `CRASH_SEED` repeats the choices of a run.

use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kontor_adapter_diesel::testing::tenant_rows::TenantTables;
use kontor_adapter_diesel::testing::wire::{Break, Wire};
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Database, DatabaseUrl, retry_until, tests_with};
use kontor_kernel::ProjectId;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::crash::asked;
use crate::crash::rng::TestRng;
use crate::customer_client::CustomerClient;
use crate::process::{PATIENCE, Process, ProcessEnvironment, lasting_address, number};
use crate::trade::Market;

const CUSTOMERS: u32 = 2;
/// Pause of a customer between two orders. Rounds of the copy stay small.
const PAUSE: Duration = Duration::from_millis(250);
/// Time after which a freeze has ended by itself, and time for the next orders.
const FREEZE: Duration = Duration::from_secs(4);
const NEXT_ORDERS: Duration = Duration::from_secs(2);

/// Makes the copy of new orders slower, so that each moment of a move is long enough to meet it.
const SLOW_COPY: &str = "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $linger$ BEGIN \
     PERFORM pg_sleep(0.15); RETURN NULL; END $linger$; \
     CREATE TRIGGER linger AFTER INSERT ON orders FOR EACH STATEMENT EXECUTE FUNCTION linger()";

/// Target that no server listens at.
const LOST: &str = "postgres://kontor@127.0.0.1:1/lost";

/// All that a move keeps in the source.
const LEFT: &str = "SELECT (SELECT count(*) FROM project_moves) + (SELECT count(*) FROM project_move_changes) \
    + (SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'project_move_%') AS id";

/// Orders of customers while changes may be refused.
#[derive(Default)]
struct Sales {
    placed: AtomicUsize,
    refused: AtomicUsize,
    end: AtomicBool,
}

async fn keep_ordering(customer_client: CustomerClient, anchor: i64, sales: Arc<Sales>) {
    while !sales.end.load(Ordering::SeqCst) {
        let answer = customer_client.order(anchor, 1, false).await;
        let count = match answer.status.as_u16() {
            201 => &sales.placed,
            503 if answer.text.contains("moved to another database") => &sales.refused,
            _ => panic!("{answer:?}"),
        };
        count.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(PAUSE).await;
    }
}

struct Trial {
    environment: ProcessEnvironment,
    source: Database,
    target: TestDatabase,
    /// Connection between the command and the target.
    wire: Wire,
    project: i64,
    anchor: i64,
    customer_client: CustomerClient,
    sales: Arc<Sales>,
    customers: Vec<JoinHandle<()>>,
}

fn address(url: DatabaseUrl) -> String {
    let DatabaseUrl::Postgres(url) = url else { panic!("the target is PostgreSQL") };
    url
}

impl Trial {
    /// Opens a shop in which customers order from now on.
    async fn open(environment: ProcessEnvironment) -> Self {
        let target = TestDatabase::fresh(Kind::Postgres);
        target.run(SLOW_COPY.to_owned()).await;
        let (wire, source) = (Wire::before(&target.url()), environment.connect());
        let owner_client = Market::open(&environment).await.owner_client;
        let anchor = owner_client.product("anchor").await["id"].as_i64().unwrap();
        let customer_client = owner_client.front.sign_in("79005570000").await;
        let (sales, mut customers) = (Arc::<Sales>::default(), Vec::new());
        for number in 1..=CUSTOMERS {
            let other = owner_client.front.sign_in(&format!("7900557000{number}")).await;
            customers.push(tokio::spawn(keep_ordering(other, anchor, Arc::clone(&sales))));
        }
        let project = owner_client.project["project_id"].as_i64().unwrap();
        Self { environment, source, target, wire, project, anchor, customer_client, sales, customers }
    }

    /// Starts a move and waits until the source is in a state of it.
    async fn start(&self, state: &str) -> Process {
        let (project, to) = (self.project.to_string(), address(self.wire.url()));
        let moving = self.environment.spawn(&["project", "move", &project, "--to", &to]);
        let until = Instant::now() + PATIENCE;
        while self.moves(state).await == 0 {
            retry_until!(until, every Duration::from_millis(1), "no move comes to {state}");
        }
        moving
    }

    /// Returns the number of moves in a state.
    async fn moves(&self, state: &str) -> i64 {
        number(&self.source, &format!("SELECT count(*) AS id FROM project_moves WHERE {state}")).await
    }

    /// Runs the command until it succeeds. It is refused while the server still ends the transaction of a dead one.
    async fn printed(&self, to: &str, more: &[&str]) -> Value {
        let project = self.project.to_string();
        let whole = [&["project", "move", &project, "--to", to, "--json"][..], more].concat();
        let until = Instant::now() + PATIENCE;
        loop {
            let Output { status, stdout, stderr } = self.environment.command(&whole).output().unwrap();
            if status.success() {
                return serde_json::from_slice(&stdout).unwrap();
            }
            let reason = String::from_utf8_lossy(&stderr).into_owned();
            assert!(reason.contains("another move of project"), "{reason}");
            retry_until!(until, "the transaction of a dead move does not end");
        }
    }

    /// Waits for more events of a kind, at the latest soon after the end of a freeze.
    async fn more(&self, count: &AtomicUsize, what: &str) {
        let wanted = count.load(Ordering::SeqCst) + 2;
        let until = Instant::now() + FREEZE + NEXT_ORDERS;
        while count.load(Ordering::SeqCst) < wanted {
            assert!(!self.customers.iter().any(JoinHandle::is_finished), "an order has failed");
            retry_until!(until, "no order is {what}");
        }
    }

    async fn goes_on(&self) {
        self.more(&self.sales.placed, "placed").await;
    }

    /// Aborts a dead move and checks that nothing of it is left. Without the target, a second run waits for its server.
    async fn abort(&self, loses_target: bool) {
        if loses_target {
            let aborted = self.printed(LOST, &["--abort"]).await;
            assert_eq!((&aborted["aborted"], &aborted["target_cleaned"]), (&json!(true), &json!(false)));
            assert_eq!(number(&self.source, LEFT).await, 0);
        }
        let aborted = self.printed(&address(self.wire.url()), &["--abort"]).await;
        assert_eq!((&aborted["aborted"], &aborted["target_cleaned"]), (&json!(!loses_target), &json!(true)));
        assert_eq!(number(&self.source, LEFT).await, 0);
        assert_eq!(number(&self.target.database, "SELECT count(*) AS id FROM projects").await, 0);
        self.goes_on().await;
    }

    /// Ends the customers and returns the number of orders that were answered with success.
    async fn close(&mut self) -> i64 {
        self.sales.end.store(true, Ordering::SeqCst);
        for customer in self.customers.drain(..) {
            customer.await.unwrap();
        }
        i64::try_from(self.sales.placed.load(Ordering::SeqCst)).unwrap()
    }

    /// Checks that the target has every row of the source, and takes orders.
    async fn expect_moved(&self) {
        let (target, project) = (&self.target, ProjectId::new(self.project).unwrap());
        let tables = TenantTables::read(target).await;
        let source = TestDatabase::borrowed(self.environment.connect(), Kind::Sqlite);
        let (here, there) = (tables.rows(&source, project).await, tables.rows(target, project).await);
        let differing: Vec<&String> = here.keys().filter(|table| here.get(*table) != there.get(*table)).collect();
        assert!(differing.is_empty(), "these differ: {differing:?}");

        let place = lasting_address();
        let settings = [("KONTOR_DATABASE_URL", address(target.url())), ("KONTOR_BIND", place.to_string())];
        let mut successor = self.environment.spawn_with(&["serve"], &settings);
        self.environment.ready_at(place, &mut successor).await;
        let mut customer_client = self.customer_client.clone();
        customer_client.front.url = format!("http://{place}");
        customer_client.order(self.anchor, 1, false).await.expect(201);
    }
}

async fn a_shop_outlives_each_move_that_dies() {
    let seed = asked("CRASH_SEED").unwrap_or_else(TestRng::any_seed);
    println!("CRASH_SEED={seed} repeats the choices of this run");
    let (mut rng, started) = (TestRng::new(seed), Instant::now());
    let environment = ProcessEnvironment::open(TestDatabase::fresh(Kind::Sqlite), 1.0).await;
    let service = environment.serve().await;
    let mut trial = Trial::open(environment).await;
    trial.goes_on().await;

    let moments =
        [("state = 'copying'", 0, true), ("state = 'copying'", 400, false), ("frozen_until IS NOT NULL", 0, false)];
    for (state, most, loses_target) in moments {
        let mut moving = trial.start(state).await;
        rng.rest(0, most).await;
        moving.must_run();
        moving.kill();
        trial.goes_on().await;
        trial.abort(loses_target).await;
    }
    assert!(trial.sales.refused.load(Ordering::SeqCst) > 0, "the freeze outlived the process");

    // The source is closed, and the commit never reaches the target: neither takes orders until the move is aborted.
    let moving = trial.start("state = 'copying'").await;
    trial.wire.lose("COMMIT", Break::Before, 1);
    assert!(!moving.ended().await.success());
    assert_eq!((trial.wire.lost(), trial.moves("state = 'moved'").await), (1, 1));
    trial.more(&trial.sales.refused, "refused").await;
    let project = trial.project.to_string();
    let refused = trial.environment.command(&["project", "move", &project, "--abort"]).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("may have been moved"), "{refused:?}");
    trial.abort(false).await;

    // The process dies at the commit or right after it. The same command settles which.
    trial.start("state = 'moved'").await.kill();
    let moved = trial.printed(&address(trial.wire.url()), &[]).await;
    let placed = trial.close().await;
    assert_eq!(number(&trial.target.database, "SELECT count(*) AS id FROM orders").await, placed, "{moved}");
    trial.expect_moved().await;
    drop(service);
    println!("{placed} orders, {} refused, {:.1?}", trial.sales.refused.load(Ordering::SeqCst), started.elapsed());
}

tests_with!(postgres: a_shop_outlives_each_move_that_dies);
