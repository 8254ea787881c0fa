//! A flash sale: ten thousand customers want one of five hundred units while visitors continue to read.

use std::sync::Arc;
use std::time::Duration;

use crate::Failure;
use crate::load::{self, Pair, Request, RunLengths, Sample, Target};
use crate::open_loop;
use crate::orders::order;
use crate::report::{Figure, Goal, Report};
use crate::shop::{Offer, OnServer, Shop, in_one_commit};
use crate::storefront::{card, categories, list};

/// Size of the sale.
struct Sale {
    customers: usize,
    pieces: usize,
    /// Time from the first customer to the last.
    time: Duration,
}

const FULL: Sale = Sale { customers: 10_000, pieces: 500, time: Duration::from_mins(1) };
const QUICK: Sale = Sale { customers: 600, pieces: 30, time: Duration::from_secs(6) };

/// Part of the time within which half of the customers arrive. The others arrive evenly in the rest.
const RUSH: f64 = 1.0 / 6.0;
/// Connections of the buyers: more than are ever served at once.
const BUYERS: usize = 256;
/// Number of products that are read individually.
const CARDS: usize = 500;
const BOUGHT: u16 = 201;
/// Status for a cart that exceeds the available stock.
const SOLD_OUT: u16 = 422;

impl Sale {
    fn moment(&self, place: usize) -> Result<Duration, Failure> {
        let share = |count: usize| u32::try_from(count).map(f64::from);
        let half = self.customers / 2;
        let rush = self.time.mul_f64(RUSH);
        Ok(if place < half {
            rush.mul_f64(share(place)? / share(half)?)
        } else {
            rush + self.time.mul_f64(1.0 - RUSH).mul_f64(share(place - half)? / share(self.customers - half)?)
        })
    }
}

/// Measures a sale on both databases.
pub fn measure(lengths: &RunLengths, server: Option<&str>, report: &mut Report) -> Result<(), Failure> {
    let sale = if lengths.is_quick() { QUICK } else { FULL };
    on(Shop::open()?, "SQLite", &sale, lengths, report)?;
    match server {
        Some(server) => {
            let database = OnServer::create(server, "flash")?;
            let shop = Shop::furnished(database.url.clone())?;
            database.vacuum()?;
            on(shop, "PostgreSQL", &sale, lengths, report)?;
        }
        None => eprintln!("SKIPPED flash sale on PostgreSQL: set --postgres or TEST_DATABASE_URL"),
    }
    Ok(())
}

fn on(shop: Shop, name: &str, sale: &Sale, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let (offers, customers) = (shop.offers()?, shop.customers(sale.customers)?);
    let (wanted, others) = offers.split_first().ok_or("nothing is sold")?;
    // The item has no orders yet.
    let left = format!("UPDATE inventories SET quantity = {} WHERE nomenclature_id = {}", sale.pieces, wanted.product);
    in_one_commit(&shop, vec![left])?;
    let arrivals: Vec<(Duration, Request)> = customers
        .iter()
        .enumerate()
        .map(|(place, bearer)| Ok((sale.moment(place)?, order(&shop, bearer, wanted.product))))
        .collect::<Result<_, Failure>>()?;

    // As deployed: with the response cache.
    let service = shop.remembering()?;
    let reads = Target { address: service.address, expected: 200, requests: reads(&shop, others), once: false };
    let read = |time| load::run(&reads, lengths.connections, 1, time);
    read(lengths.warm_up)?;
    let quiet = read(sale.time / 2)?;
    let (busy, answers) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| read(sale.time));
        let arrivals = arrivals.iter().map(|(after, request)| (*after, request));
        let buying = open_loop::run(service.address, arrivals, BUYERS, &[BOUGHT, SOLD_OUT]);
        let busy = reading.join().map_err(|_| "a thread of the load generator panicked")?;
        Ok::<_, Failure>((busy?, buying?.answers))
    })?;
    service.close(&shop);

    let of = |status: u16| answers.iter().filter(move |answer| answer.status == status).map(|answer| answer.time);
    let (bought, stored) = (of(BOUGHT).count(), ordered(&shop, wanted.product)?);
    if [bought, stored] != [sale.pieces; 2] {
        return Err(format!("{bought} customers were sold {} pieces, {stored} are stored", sale.pieces).into());
    }
    let title = format!("flash sale on {name}");
    let orders = f64::from(u32::try_from(bought)?);
    let pieces = format!("{title}, {} customers, {} pieces: sold", sale.customers, sale.pieces);
    report.add(Figure::plain(pieces, orders, "orders", Goal::AtLeast(orders)));
    for (who, status, goal) in [("losers", SOLD_OUT, Goal::AtMost(200.0)), ("buyers", BOUGHT, Goal::None)] {
        let sample = Sample::new(sale.time, of(status).collect())?;
        let slowest = sample.percentile(99).as_secs_f64() * 1000.0;
        report.add(Figure::plain(format!("{title}: p99 of {who}"), slowest, "ms", goal).alone(&sample));
    }
    let pair = Pair { ours: busy, peer: quiet };
    let title = format!("{title}: reads meanwhile by reads before");
    report.add(Figure::ratio(title, pair.ratio(), Goal::AtLeast(0.7)).beside(&pair));
    shop.close();
    Ok(())
}

/// Creates the visitors' requests: every category, and products. One in three requests is a list.
fn reads(shop: &Shop, offers: &[Offer]) -> Arc<[Request]> {
    let lists = categories(offers);
    let cards = offers.iter().take(CARDS).collect::<Vec<_>>();
    cards
        .chunks(2)
        .zip(lists.iter().cycle())
        .flat_map(|(two, category)| {
            two.iter().map(|offer| card(shop, offer)).chain(std::iter::once(list(shop, *category)))
        })
        .collect()
}

/// Returns the number of units reserved by orders.
fn ordered(shop: &Shop, product: i64) -> Result<usize, Failure> {
    let sum =
        format!("SELECT CAST(sum(quantity) AS BIGINT) AS number FROM reservations WHERE nomenclature_id = {product}");
    Ok(usize::try_from(shop.numbers(sum)?.into_iter().sum::<i64>())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_them_come_at_the_beginning_and_the_last_before_the_end() {
        let at = |place| FULL.moment(place).unwrap();
        assert_eq!(at(0), Duration::ZERO);
        assert!(at(4_999) < Duration::from_secs(10) && at(5_000) >= Duration::from_secs(10));
        assert!(at(9_999) < FULL.time);
    }
}
