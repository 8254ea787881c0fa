//! A standby replaces its primary.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use kontor_adapter_diesel::testing::{Pair, TestDatabase};
use kontor_adapter_diesel::tests_with;

use super::open_all;
use super::rush::OrderLoad;
use crate::fixtures::{number, project};
use crate::orders::shop::ShopFixture;

/// Orders succeed again within this time of a promotion. A pool without a server retries with pauses of at most half a
/// second.
const BOUND: Duration = Duration::from_secs(2);

/// Enough to have orders at every stage of the event.
const ORDERS: usize = 40;

const PORT: &str = "SELECT inet_server_port()::bigint AS value";
const CONFIRMING: &str = "SELECT count(*) AS value FROM pg_stat_replication WHERE sync_state = 'sync'";

/// Runs a slow command on the pair.
async fn tell(mut pair: Pair, what: fn(&mut Pair)) -> Pair {
    let reported = tokio::task::spawn_blocking(move || {
        what(&mut pair);
        pair
    });
    reported.await.unwrap()
}

/// A pair whose primary waits for its standby.
async fn pair() -> (Pair, TestDatabase) {
    let pair = Pair::start();
    let db = pair.database();
    assert_eq!(number(&db, CONFIRMING).await, 1, "a commit is on the standby before it is answered");
    (pair, db)
}

/// Makes the primary read-only, as an operator does before a switchover.
async fn fence(pair: &Pair) {
    let db = pair.database_by_standby();
    assert_ne!(number(&db, PORT).await, i64::from(pair.standby()), "a standby is passed over");
    db.run_outside_transaction("ALTER SYSTEM SET default_transaction_read_only = on").unwrap();
    db.run_outside_transaction("SELECT pg_reload_conf()").unwrap();
    // Work in progress is still confirmed by the standby.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(db.run_outside_transaction("CREATE TABLE too_late ()").is_err());
}

async fn all_read_from_standby(pair: &Pair, db: &TestDatabase) {
    for port in join_all((0..20).map(|_| number(db, PORT))).await {
        assert_eq!(port, i64::from(pair.standby()), "nobody reads from who was the primary");
    }
}

/// Promotes the standby of a fenced primary, and ends the rush there.
async fn take_over(pair: Pair, db: &TestDatabase, shop: &ShopFixture<'_>, rush: OrderLoad<'_>) {
    let before = rush.ordered();
    let pair = tell(pair, Pair::promote_standby).await;
    let promoted = Instant::now();
    shop.placed(&shop.command(&[(rush.item, 1)])).await;
    let waited = promoted.elapsed();
    assert!(waited < BOUND, "{waited:?}");
    rush.goes_on(ORDERS).await;
    all_read_from_standby(&pair, db).await;
    let reported = rush.end().await;
    println!(
        "{before} orders before and {} after; {} refused, {} unknown, {} sent again; ordered again after {waited:?}",
        reported.ordered.len() - before,
        reported.not_ordered.len(),
        reported.unknown.len(),
        reported.again,
    );
}

async fn a_standby_that_is_promoted_has_every_order_that_was_answered() {
    let (pair, db) = pair().await;
    let shop = ShopFixture::open(&db).await;
    let rush = OrderLoad::begin(&db, &shop).await;
    rush.goes_on(ORDERS).await;
    let pair = tell(pair, Pair::kill_primary).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    take_over(pair, &db, &shop, rush).await;
}

async fn customers_are_led_from_a_primary_that_takes_no_changes_to_the_promoted_standby() {
    let (pair, db) = pair().await;
    let shop = ShopFixture::open(&db).await;
    let rush = OrderLoad::begin(&db, &shop).await;
    rush.goes_on(ORDERS).await;
    fence(&pair).await;
    take_over(pair, &db, &shop, rush).await;
}

async fn one_refusal_to_write_ends_every_connection_to_a_server() {
    let (pair, db) = pair().await;
    open_all(&db.database).await;
    fence(&pair).await;
    let pair = tell(pair, Pair::promote_standby).await;
    project(&db).await;
    all_read_from_standby(&pair, &db).await;
}

tests_with!(postgres_server:
    a_standby_that_is_promoted_has_every_order_that_was_answered,
    customers_are_led_from_a_primary_that_takes_no_changes_to_the_promoted_standby,
    one_refusal_to_write_ends_every_connection_to_a_server,
);
