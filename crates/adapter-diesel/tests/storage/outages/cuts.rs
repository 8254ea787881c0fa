//! Orders whose connection breaks at each message of its transaction. The order is stored completely, not stored, or
//! reported as unknown. Repeated with its idempotency key, it is stored once.
//!
//! `CUTS=all` breaks at every message in every way; otherwise the ways alternate.

use kontor_adapter_diesel::testing::wire::{Break, Fault, Side, Wire};
use kontor_adapter_diesel::testing::{Kind, TestDatabase, pool_options};
use kontor_adapter_diesel::{Database, IdempotentRequest, KeyClaim, KeyOwner, PoolOptions, tests_with};
use kontor_kernel::{Clock, StoreError};
use kontor_orders::{OrderCommand, PlacementError};

use crate::idempotency;
use crate::orders::shop::ShopFixture;

const PIECES: i64 = 1_000_000;

/// Outcome of an order request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Ordered,
    NotOrdered,
    Unknown,
    /// Another request has stored the same key.
    Overtaken,
}

struct Trial<'a> {
    shop: ShopFixture<'a>,
    wire: &'a Wire,
    command: OrderCommand,
    item: i64,
    orders: i64,
    /// Unknown outcomes without and with a commit.
    unknown: [u32; 2],
    cuts: u32,
}

impl Trial<'_> {
    async fn order(&self, key: Option<&str>) -> End {
        let Some(key) = key else { return end(self.shop.place(&self.command).await.err()) };
        let now = self.shop.clock.now();
        let owner = KeyOwner { guard: "counterparty", id: Some(self.shop.customer.counterparty_id.get()) };
        let request = IdempotentRequest::new(KeyClaim { owner, ..idempotency::claim(key, now) });
        let placement = self.shop.placement_for(&request);
        let outcome = placement.place(self.shop.customer, &self.command).await;
        if request.lost_key() { End::Overtaken } else { end(outcome.err()) }
    }

    /// Number of orders since the last call. Their records were stored with them.
    async fn came(&mut self) -> i64 {
        let orders = self.shop.count("orders").await;
        assert_eq!(self.shop.stock(self.item).await, (PIECES, orders), "pieces are reserved with their order");
        assert_eq!(self.shop.count("reservations").await, orders, "and so are its lines");
        orders - std::mem::replace(&mut self.orders, orders)
    }

    /// Returns `true` if the message was reached.
    async fn breaks(&mut self, fault: Fault, keyed: bool) -> bool {
        let key = keyed.then(|| format!("{fault:?}"));
        self.wire.arm(fault);
        let end = self.order(key.as_deref()).await;
        let met = self.wire.disarm();
        let came = self.came().await;
        let what = format!("{fault:?}, keyed: {keyed}, {end:?}, {met:?}");
        match end {
            End::Ordered => assert_eq!(came, 1, "{what}"),
            End::NotOrdered | End::Overtaken => panic!("a connection is replaced: {what}"),
            End::Unknown => {
                // After the last message before it, COMMIT is sent over a broken or one-way connection.
                let goes_nowhere = fault.way != Break::Before && came == 0;
                let has_no_way_back = fault.way == Break::Half && fault.side == Side::Server;
                let is_sent = met == Some(true) || goes_nowhere || has_no_way_back;
                assert!(is_sent, "only a commit that was sent can be unknown: {what}");
                self.unknown[usize::from(came == 1)] += 1;
            }
        }
        assert!((0..=1).contains(&came), "{what}");
        if key.is_some() {
            let again = self.order(key.as_deref()).await;
            assert_eq!(again, if came == 1 { End::Overtaken } else { End::Ordered }, "{what}");
            assert_eq!(came + self.came().await, 1, "{what}");
        }
        self.cuts += u32::from(met.is_some());
        met.is_some()
    }
}

fn end(error: Option<PlacementError>) -> End {
    match error {
        None => End::Ordered,
        Some(PlacementError::Store(StoreError::OutcomeUnknown(_))) => End::Unknown,
        Some(PlacementError::Store(StoreError::Unavailable(_))) => End::NotOrdered,
        Some(other) => panic!("{other:?}"),
    }
}

#[expect(clippy::disallowed_methods, reason = "tests are configured by their environment alone")]
fn every_way() -> bool {
    std::env::var("CUTS").is_ok_and(|cuts| cuts == "all")
}

async fn an_order_that_breaks_off_at_any_message_is_whole_or_not_there() {
    let mut db = TestDatabase::fresh(Kind::Postgres);
    let wire = Wire::before(&db.url());
    db.database = Database::open(wire.url(), PoolOptions { connections: 1, ..pool_options() }).unwrap();
    let shop = ShopFixture::open(&db).await;
    let item = shop.goods("Vase", PIECES, 100).await;
    let command = shop.command(&[(item, 1)]);
    let mut trial = Trial { shop, wire: &wire, command, item, orders: 0, unknown: [0; 2], cuts: 0 };
    let ways = [Break::Before, Break::After, Break::Half, Break::Late];
    for side in [Side::Client, Side::Server] {
        for number in 0.. {
            let mut met = false;
            for (turn, way) in ways.into_iter().enumerate() {
                for keyed in [false, true] {
                    if every_way() || (turn * 2 + usize::from(keyed)) % 8 == number % 8 {
                        met |= trial.breaks(Fault { from: "BEGIN\0", side, number, way }, keyed).await;
                    }
                }
            }
            if !met {
                assert!(number > 10, "{side:?} said {number} messages");
                break;
            }
        }
    }
    assert!(trial.unknown.iter().all(|count| *count > 0) || !every_way(), "{:?}", trial.unknown);
    let examined = db.database.examine(None, |difference| panic!("{difference:?}")).await.unwrap();
    assert_eq!(examined.differences, 0);
    println!("broke off {} times; unknown and not stored, and stored: {:?}", trial.cuts, trial.unknown);
}

tests_with!(postgres: an_order_that_breaks_off_at_any_message_is_whole_or_not_there);
