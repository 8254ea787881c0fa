//! The server is restarted while customers order.

use std::time::{Duration, Instant};

use kontor_adapter_diesel::testing::{OwnServer, Stop};
use kontor_adapter_diesel::tests_with;

use super::rush::OrderLoad;
use crate::orders::shop::ShopFixture;

async fn a_restart_under_load_neither_loses_nor_doubles_an_order() {
    let mut server = OwnServer::start();
    let db = server.database();
    let shop = ShopFixture::open(&db).await;
    let rush = OrderLoad::begin(&db, &shop).await;
    for stop in [Stop::Fast, Stop::Immediate, Stop::Fast] {
        rush.goes_on(10).await;
        server = tokio::task::spawn_blocking(move || {
            server.restart(stop);
            server
        })
        .await
        .unwrap();
    }
    let restarted = Instant::now();
    shop.placed(&shop.command(&[(rush.item, 1)])).await;
    assert!(restarted.elapsed() < Duration::from_secs(10), "it recovers by itself");
    rush.goes_on(10).await;
    let reported = rush.end().await;
    assert!(reported.ordered.len() > 20, "{reported:?}");
}

tests_with!(postgres_server: a_restart_under_load_neither_loses_nor_doubles_an_order);
