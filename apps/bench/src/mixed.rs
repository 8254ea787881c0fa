//! Visitors and customers at the same time: four of five requests read, the fifth is an order. Also carts that are
//! calculated right after a burst of orders. The figures compare the slowest requests with the others.

use std::sync::Arc;
use std::time::Duration;

use crate::Failure;
use crate::load::{self, Answer, Request, RunLengths, Sample, Target, median};
use crate::orders::order;
use crate::report::{Figure, Goal, Report};
use crate::shop::{OnServer, Shop};
use crate::storefront::{basket, card, categories, list};

/// One of this many requests is an order.
const ORDER_EVERY: usize = 5;
/// Requests of one connection before it starts over.
const TURNS: usize = 500;
/// Status of a created order.
const ORDERED: u16 = 201;

/// Measures the round on both databases.
pub fn measure(lengths: &RunLengths, server: Option<&str>, report: &mut Report) -> Result<(), Failure> {
    on(Shop::open()?, "SQLite", lengths, report)?;
    if let Some(server) = server {
        let database = OnServer::create(server, "mixed")?;
        on(Shop::furnished(database.url.clone())?, "PostgreSQL", lengths, report)?;
    }
    Ok(())
}

fn on(shop: Shop, name: &str, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let target = |requests| Target { address: shop.address, expected: 200, requests, once: false };
    let run = |target: &Target, time| load::answers(target, lengths.connections, lengths.threads, time);
    let customers = shop.customers(lengths.connections)?;
    let mixed = target(requests(&shop, &customers)?);
    run(&mixed, lengths.warm_up)?;
    let (time, answers) = middle(lengths, || run(&mixed, lengths.round))?;
    let (orders, reads): (Vec<Answer>, Vec<Answer>) = answers.into_iter().partition(|answer| answer.status == ORDERED);
    let (reads, orders) = (sample(time, &reads)?, sample(time, &orders)?);
    for (what, sample) in [("reads", reads), ("orders", orders)] {
        report.add(tail_by_middle(format!("mixed on {name}, {what}"), &sample));
    }
    let (burst, baskets) = (target(orders_alone(&shop, &customers)?), target(baskets_alone(&shop)?));
    run(&baskets, lengths.warm_up)?;
    let (time, answers) = middle(lengths, || {
        run(&burst, lengths.round)?;
        run(&baskets, lengths.round)
    })?;
    let sample = sample(time, &answers)?;
    report.add(tail_by_middle(format!("precalculate after a burst of orders on {name}"), &sample));
    shop.close();
    Ok(())
}

fn tail_by_middle(title: String, sample: &Sample) -> Figure {
    let times = sample.percentile(99).as_secs_f64() / sample.percentile(50).as_secs_f64();
    Figure::times(format!("{title}: p99 by p50"), times, Goal::AtMost(10.0)).alone(sample)
}

fn sample(time: Duration, answers: &[Answer]) -> Result<Sample, Failure> {
    Sample::new(time, answers.iter().map(|answer| answer.time).collect())
}

type Round = (Duration, Vec<Answer>);

/// Returns the median round, so that a single disturbed round does not count.
fn middle(lengths: &RunLengths, mut run: impl FnMut() -> Result<Round, Failure>) -> Result<Round, Failure> {
    let rounds = (0..lengths.rounds).map(|_| run()).collect::<Result<_, _>>()?;
    median(rounds, |left, right| tail(&left.1).cmp(&tail(&right.1)))
}

/// Creates requests for orders only, of every customer in turn.
fn orders_alone(shop: &Shop, customers: &[String]) -> Result<Arc<[Request]>, Failure> {
    let offers = shop.offers()?;
    let turns = offers.iter().take(TURNS);
    let all =
        turns.flat_map(|offer| customers.iter().map(|bearer| order(shop, bearer, offer.product).answered(ORDERED)));
    Ok(all.collect())
}

/// Creates requests for carts of three lines only.
fn baskets_alone(shop: &Shop) -> Result<Arc<[Request]>, Failure> {
    Ok(shop.offers()?.chunks_exact(3).take(TURNS).map(|three| basket(shop, three)).collect())
}

fn tail(answers: &[Answer]) -> Duration {
    let mut times: Vec<Duration> = answers.iter().map(|answer| answer.time).collect();
    times.sort_unstable();
    times.get(times.len() * 99 / 100).copied().unwrap_or_default()
}

/// Creates the requests of all connections in turn. Every connection is a customer; they order at different times.
fn requests(shop: &Shop, customers: &[String]) -> Result<Arc<[Request]>, Failure> {
    let offers = shop.offers()?;
    let categories = categories(&offers);
    let mut requests = Vec::with_capacity(TURNS * customers.len());
    let some = |number: usize| categories.get(number % categories.len()).ok_or("nothing is sold");
    let three = |number: usize| offers.chunks_exact(3).nth(number % (offers.len() / 3)).ok_or("little is sold");
    for turn in 0..TURNS {
        for (connection, bearer) in customers.iter().enumerate() {
            let number = turn * customers.len() + connection;
            let kind = (turn + connection) % ORDER_EVERY;
            let offer = offers.get(number % offers.len()).ok_or("nothing is sold")?;
            requests.push(match kind {
                0 => order(shop, bearer, offer.product).answered(ORDERED),
                1 => list(shop, *some(number)?),
                2 => basket(shop, three(number)?),
                _ => card(shop, offer),
            });
        }
    }
    Ok(requests.into())
}
