//! The connection to PostgreSQL breaks at each message of an order's commit. An order sent again under its key is
//! placed once. A caller without a key gets an error that advises to check first.
//!
//! `CUTS=all` breaks at every message in every way; otherwise the ways alternate.

use std::time::{Duration, Instant};

use kontor_adapter_diesel::testing::wire::{Break, Fault, Side, Wire};
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Database, PoolOptions, tests_with};
use reqwest::Method;
use serde_json::Value;

use crate::keyed::{is_replayed, keyed as with_key};
use crate::process::number;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

/// Timeout for noticing a lost connection.
const AT_ONCE: Duration = Duration::from_secs(2);

struct Trial {
    shop: ShopFixture,
    wire: Wire,
    order: Value,
    /// The same database over connections that never break. Last, so that it outlives the service.
    direct: TestDatabase,
}

/// Counts of breaks by the error returned.
#[derive(Debug, Default)]
struct BreakCounts {
    cuts: u32,
    /// Reported as unknown, without a key and with one.
    unknown: [u32; 2],
    /// With a key, and found on the repeat.
    found: u32,
}

impl Trial {
    async fn open() -> Self {
        let direct = TestDatabase::fresh(Kind::Postgres);
        let wire = Wire::before(&direct.url());
        // Without cached prepared statements, each order has the same messages.
        let options = PoolOptions { connections: 3, prepared_statements: false, ..PoolOptions::default() };
        let database = Database::open(wire.url(), options).unwrap();
        let shop = ShopFixture::open(TestDatabase::borrowed(database, Kind::Postgres)).await;
        let item = shop.goods(1_000_000, 100).await;
        let order = shop.pickup(item, 1);
        Self { shop, wire, order, direct }
    }

    async fn send(&self, key: Option<&str>) -> Answer {
        let (shop, path) = (&self.shop, "/api/counterparty/orders");
        let request = shop.server.as_customer(&shop.project, &shop.bearer, Method::POST, path).json(&self.order);
        send(match key {
            Some(key) => with_key(request, key),
            None => request,
        })
        .await
    }

    async fn orders(&self) -> i64 {
        number(&self.direct.database, "SELECT count(*) AS id FROM orders").await
    }

    /// Breaks at one message. `None` if the message did not occur, else `true` if `COMMIT` had been sent by then.
    async fn breaks(&self, fault: Fault, keyed: bool, reported: &mut BreakCounts) -> Option<bool> {
        let key = keyed.then(|| format!("{:?}-{}-{:?}", fault.side, fault.number, fault.way));
        let key = key.as_deref();
        let before = self.orders().await;
        self.wire.arm(fault);
        let begun = Instant::now();
        let first = self.send(key).await;
        let met = self.wire.disarm();
        let what = format!("{fault:?}, key {key:?}, {met:?}, after {:?}: {first:?}", begun.elapsed());
        let (shop, path) = (&self.shop, "/api/counterparty/products");
        send(shop.server.as_app(&shop.project, Method::GET, path)).await.expect(200);
        assert!(begun.elapsed() < AT_ONCE, "{what}");
        let came = self.orders().await - before;
        match first.status.as_u16() {
            201 => assert_eq!(came, 1, "{what}"),
            503 => {
                assert!(first.text.contains("Read the record before you retry"), "{what}");
                // After the last message before it, COMMIT is sent over a broken connection, or has no way back.
                let goes_nowhere = fault.way != Break::Before && came == 0;
                let has_no_way_back = fault.way == Break::Half && fault.side == Side::Server;
                assert!(met == Some(true) || goes_nowhere || has_no_way_back, "{what}");
                reported.unknown[usize::from(keyed)] += 1;
                reported.found += u32::from(keyed && came == 1);
            }
            _ => panic!("{what}"),
        }
        if key.is_some() {
            let again = self.send(key).await;
            let order = again.expect(201);
            assert_eq!(is_replayed(&again), came == 1, "{what}");
            assert_eq!(self.orders().await, before + 1, "{what}");
            let id = order["order"]["id"].as_i64().unwrap();
            assert_eq!(number(&self.direct.database, "SELECT max(id) AS id FROM orders").await, id, "{what}");
            if first.status == 201 {
                assert_eq!(first.json()["order"]["id"], id, "{what}");
            }
        }
        reported.cuts += u32::from(met.is_some());
        met
    }

    /// Breaks at every message, before `first` only at every third. Returns the first message with `COMMIT` on its
    /// way.
    async fn breaks_at_each(&self, side: Side, keyed: bool, first: usize, reported: &mut BreakCounts) -> usize {
        let ways = [Break::Before, Break::After, Break::Half, Break::Late];
        let mut commit = None;
        for number in (0..).filter(|number| every_way() || *number >= first || number % 3 == 0) {
            let mut is_met = false;
            // The ways alternate. From COMMIT on, messages break in every way.
            for way in ways.into_iter().cycle().skip(number % 4).take(4) {
                let fault = Fault { from: "INSERT INTO orders (", side, number, way };
                let met = self.breaks(fault, keyed, reported).await;
                is_met |= met.is_some();
                if met == Some(true) {
                    commit.get_or_insert(number);
                } else if !every_way() {
                    break;
                }
            }
            if !is_met {
                break;
            }
        }
        commit.unwrap()
    }
}

#[expect(clippy::disallowed_methods, reason = "tests are configured by their environment alone")]
fn every_way() -> bool {
    std::env::var("CUTS").is_ok_and(|cuts| cuts == "all")
}

async fn an_order_whose_commit_breaks_off_is_there_once_when_it_is_sent_again_under_its_key() {
    let trial = Trial::open().await;
    let mut reported = BreakCounts::default();
    for side in [Side::Client, Side::Server] {
        let commit = trial.breaks_at_each(side, false, 0, &mut reported).await;
        // A key is stored shortly before the commit. Earlier messages are the same without a key.
        trial.breaks_at_each(side, true, commit, &mut reported).await;
    }
    assert!(reported.unknown.iter().all(|count| *count > 0) && reported.found > 0, "{reported:?}");
    println!("{reported:?}");
}

tests_with!(postgres: an_order_whose_commit_breaks_off_is_there_once_when_it_is_sent_again_under_its_key);
