//! Orders that are on the disk when they are answered, beside bare commits to the same file.

use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use serde_json::json;

use crate::Failure;
use crate::load::{self, Request, RunLengths, Sample, Target, in_turns};
use crate::report::{Figure, Goal};
use crate::shop::Shop;

diesel::table! {
    bench_commits (id) {
        id -> BigInt,
        value -> BigInt,
    }
}

/// Measures orders of one line, without online payment, by as many concurrent customers as there are connections.
pub fn measure(shop: &Shop, lengths: &RunLengths) -> Result<[Figure; 2], Failure> {
    let customers = shop.customers(lengths.connections)?;
    let offers = shop.offers()?;
    let wishes = customers.iter().zip(offers.iter().map(|offer| offer.product));
    let requests = wishes.map(|(bearer, product)| order(shop, bearer, product)).collect();
    let plain = Target { address: shop.address, expected: 201, requests, once: false };
    let keyed = plain.keyed();
    let orders = |time| load::run(&plain, lengths.connections, lengths.threads, time);
    let mut file = open(shop)?;
    commits(&mut file, lengths.warm_up)?;
    orders(lengths.warm_up)?;
    let pair = in_turns(lengths.rounds, || orders(lengths.round), || commits(&mut file, lengths.round))?;
    let name = format!("durable orders, {} customers", lengths.connections);
    let durable = Figure::ratio(name, pair.ratio(), Goal::AtLeast(0.15)).beside(&pair);
    let under_keys = || load::run(&keyed, lengths.connections, lengths.threads, lengths.round);
    let pair = in_turns(lengths.rounds, under_keys, || orders(lengths.round))?;
    let under_keys =
        Figure::ratio("orders under a key by orders without", pair.ratio(), Goal::AtLeast(0.95)).beside(&pair);
    Ok([durable, under_keys])
}

/// Creates an order request for one unit of a product, by the customer with this header.
pub fn order(shop: &Shop, bearer: &str, product: i64) -> Request {
    order_in(&shop.project.app_token, bearer, product)
}

/// Creates the same request in the application with this token.
pub fn order_in(app_token: &str, bearer: &str, product: i64) -> Request {
    let body = json!({
        "delivery_type_id": 2,
        "delivery_subtype_id": 2,
        "address": "Elbe Street 5",
        "products": [{ "id": product, "quantity": 1 }],
    });
    let headers = [("Token", app_token), ("Authorization", bearer)];
    Request::new("POST", "/api/counterparty/orders", &headers, &body.to_string())
}

/// Opens a separate connection to the service's file, with the same durability settings as the service.
pub fn open(shop: &Shop) -> Result<SqliteConnection, Failure> {
    let mut file = SqliteConnection::establish(&shop.file().to_string_lossy())?;
    file.batch_execute(
        "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         CREATE TABLE IF NOT EXISTS bench_commits (id INTEGER NOT NULL PRIMARY KEY, value BIGINT NOT NULL);",
    )?;
    Ok(file)
}

/// Runs small commits in sequence.
pub fn commits(file: &mut SqliteConnection, time: Duration) -> Result<Sample, Failure> {
    let start = Instant::now();
    let mut latencies = Vec::new();
    let mut value: i64 = 0;
    while start.elapsed() < time {
        let began = Instant::now();
        file.immediate_transaction(|file| {
            diesel::insert_into(bench_commits::table).values(bench_commits::value.eq(value)).execute(file)
        })?;
        latencies.push(began.elapsed());
        value += 1;
    }
    Sample::new(start.elapsed(), latencies)
}
