//! The server is restarted while customers order.

use std::time::{Duration, Instant};

use kontor_adapter_diesel::testing::{OwnServer, Stop};
use kontor_adapter_diesel::tests_with;

use super::rush::OrderLoad;
use crate::orders::counter::Counter;

async fn a_restart_under_load_neither_loses_nor_doubles_an_order() {
    let mut server = OwnServer::start();
    let db = server.database();
    let counter = Counter::open(&db).await;
    let rush = OrderLoad::begin(&db, &counter).await;
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
    counter.placed(&counter.command(&[(rush.item, 1)])).await;
    assert!(restarted.elapsed() < Duration::from_secs(10), "it recovers by itself");
    rush.goes_on(10).await;
    let told = rush.end().await;
    assert!(told.ordered.len() > 20, "{told:?}");
}

tests_with!(postgres_server: a_restart_under_load_neither_loses_nor_doubles_an_order);
