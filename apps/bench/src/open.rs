//! Orders that arrive at constant intervals: response times at shares of the rate that 64 customers reach when each
//! waits for the response. Also orders of a single item beside orders of all items.

use std::time::Duration;

use crate::Failure;
use crate::crowd::{CUSTOMERS, orders};
use crate::load::{self, RunLengths, Sample, Target, in_turns, median};
use crate::open_loop::{self, OpenLoop, at_intervals};
use crate::orders::order;
use crate::report::{Figure, Goal, Report};
use crate::shop::{OnServer, Shop};

/// Rates, in percent of the limit.
const LEVELS: [u32; 3] = [50, 80, 95];
/// Level with targets.
const TARGET_LEVEL: u32 = 80;
/// Maximum p99 at this level, in milliseconds.
const ON_SQLITE: f64 = 25.0;
/// Maximum p99 at this level on PostgreSQL, in milliseconds.
const ON_POSTGRES: f64 = 60.0;
/// Maximum p99 at this level, as a multiple of p50.
const BY_MIDDLE: f64 = 5.0;
/// Time of one level.
const FULL: Duration = Duration::from_secs(20);
const QUICK: Duration = Duration::from_secs(2);
/// Maximum number of connections, each with a customer of its own.
const CONNECTIONS: usize = 256;

/// Measures all levels on both databases, each for this many minutes if given.
pub fn measure(
    lengths: &RunLengths,
    minutes: Option<u64>,
    server: Option<&str>,
    report: &mut Report,
) -> Result<(), Failure> {
    let time = match minutes {
        Some(minutes) => Duration::from_mins(minutes),
        None if lengths.is_quick() => QUICK,
        None => FULL,
    };
    on(Shop::open()?, "SQLite", ON_SQLITE, time, lengths, report)?;
    match server {
        Some(server) => {
            let database = OnServer::create(server, "open")?;
            let shop = Shop::furnished(database.url.clone())?;
            database.vacuum()?;
            on(shop, "PostgreSQL", ON_POSTGRES, time, lengths, report)?;
        }
        None => eprintln!("SKIPPED open loop on PostgreSQL: set --postgres or TEST_DATABASE_URL"),
    }
    Ok(())
}

fn on(
    shop: Shop,
    name: &str,
    most: f64,
    time: Duration,
    lengths: &RunLengths,
    report: &mut Report,
) -> Result<(), Failure> {
    let customers = shop.customers(CONNECTIONS)?;
    let few = customers.get(..CUSTOMERS).ok_or("there are too few customers")?;
    let (closed, open) = (orders(&shop, few)?, orders(&shop, &customers)?);
    let run = |time| load::run(&closed, CUSTOMERS, lengths.threads, time);
    run(lengths.warm_up)?;
    // Until its tables of orders have statistics, PostgreSQL plans reads of new orders again and again.
    shop.analyze()?;
    let limit = middle(lengths, || run(lengths.round))?;
    let rate = limit.per_second();
    let title = format!("orders on {name}, {CUSTOMERS} customers: limit");
    report.add(Figure::plain(title, rate, "orders/s", Goal::None).alone(&limit));
    for level in LEVELS {
        let arrivals = at_intervals(rate * f64::from(level) / 100.0, time, &open.requests);
        let done = open_loop::run(open.address, arrivals, CONNECTIONS, &[open.expected])?;
        let most = (level == TARGET_LEVEL).then_some(most);
        add_level(&format!("orders on {name} at {level} % of the limit"), &done, most, report)?;
    }
    let single = single_item(&shop, few, &closed)?;
    let hot = |time| load::run(&single, CUSTOMERS, lengths.threads, time);
    hot(lengths.warm_up)?;
    let pair = in_turns(lengths.rounds, || hot(lengths.round), || run(lengths.round))?;
    let title = format!("orders of a single item by orders of all items, {name}, {CUSTOMERS} customers");
    report.add(Figure::ratio(title, pair.ratio(), Goal::AtLeast(0.7)).beside(&pair));
    shop.close();
    Ok(())
}

/// Returns the median round.
fn middle(lengths: &RunLengths, mut run: impl FnMut() -> Result<Sample, Failure>) -> Result<Sample, Failure> {
    let rounds = (0..lengths.rounds).map(|_| run()).collect::<Result<_, _>>()?;
    median(rounds, |left, right| left.per_second().total_cmp(&right.per_second()))
}

/// Adds the figures of one level. `most` is the maximum p99 in milliseconds, if the level has targets.
fn add_level(title: &str, done: &OpenLoop, most: Option<f64>, report: &mut Report) -> Result<(), Failure> {
    let sample = done.sample()?;
    let milliseconds = |percent| sample.percentile(percent).as_secs_f64() * 1000.0;
    let (half, slowest) = (milliseconds(50), milliseconds(99));
    let goal = |most: Option<f64>| most.map_or(Goal::None, Goal::AtMost);
    report.add(Figure::plain(format!("{title}: p50"), half, "ms", Goal::None));
    report.add(Figure::plain(format!("{title}: p99"), slowest, "ms", goal(most)).alone(&sample));
    let by_middle = goal(most.map(|_| BY_MIDDLE));
    report.add(Figure::times(format!("{title}: p99 by p50"), slowest / half, by_middle));
    report.add(Figure::plain(format!("{title}: late"), f64::from(done.late), "requests", Goal::None));
    Ok(())
}

/// Creates orders of the same item by each of these customers.
fn single_item(shop: &Shop, customers: &[String], all_items: &Target) -> Result<Target, Failure> {
    let item = shop.offers()?.into_iter().next().ok_or("nothing is sold")?.product;
    let requests = customers.iter().map(|bearer| order(shop, bearer, item)).collect();
    Ok(Target { requests, ..*all_items })
}
