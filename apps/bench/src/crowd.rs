//! Sixty-four concurrent customers: orders and logins beside bare single commits, the number of orders in a commit,
//! and the same orders on PostgreSQL, also beside `pgbench`.

use std::time::{Duration, Instant};

use diesel::connection::{Connection as _, SimpleConnection as _};
use diesel::sql_types::Text;
use diesel::{PgConnection, RunQueryDsl as _};

use crate::Failure;
use crate::load::{self, Pair, RunLengths, Sample, Target, in_turns};
use crate::login::Logins;
use crate::orders::{commits, open, order};
use crate::pgbench;
use crate::report::{Figure, Goal, Report};
use crate::shop::{OnServer, Shop};
use crate::storefront::basket;

/// Number of concurrent customers.
pub const CUSTOMERS: usize = 64;
/// Orders per second on PostgreSQL.
const ON_POSTGRES: f64 = 1_000.0;

/// Measures orders and logins on SQLite, and orders on PostgreSQL when a server is given.
pub fn measure(lengths: &RunLengths, server: Option<&str>, report: &mut Report) -> Result<(), Failure> {
    let shop = Shop::open()?;
    let target = orders(&shop, &shop.customers(CUSTOMERS)?)?;
    let run = |time| load::run(&target, CUSTOMERS, lengths.threads, time);
    beside_commits(&shop, "durable orders", "order", lengths, report, run)?;
    shop.close();

    let shop = Shop::empty(None)?;
    let mut customers = Logins::prepare(&shop, lengths)?;
    let run = |time| customers.run(CUSTOMERS, lengths.threads, time);
    beside_commits(&shop, "logins by code", "login", lengths, report, run)?;
    shop.close();

    if let Some(server) = server {
        on_postgres(server, lengths, report)?;
    } else {
        eprintln!("SKIPPED orders on PostgreSQL: set --postgres or TEST_DATABASE_URL");
    }
    Ok(())
}

/// Creates orders of one line each, without online payment, of products in turn.
pub fn orders(shop: &Shop, customers: &[String]) -> Result<Target, Failure> {
    let offers = shop.offers()?;
    let wishes = customers.iter().cycle().zip(&offers);
    // A multiple of the number of customers, so that each keeps to their own connection.
    let many = offers.len() - offers.len() % customers.len();
    let requests = wishes.take(many).map(|(bearer, offer)| order(shop, bearer, offer.product)).collect();
    Ok(Target { address: shop.address, expected: 201, requests, once: false })
}

fn beside_commits(
    shop: &Shop,
    name: &str,
    one: &str,
    lengths: &RunLengths,
    report: &mut Report,
    mut run: impl FnMut(Duration) -> Result<Sample, Failure>,
) -> Result<(), Failure> {
    let mut file = open(shop)?;
    commits(&mut file, lengths.warm_up)?;
    run(lengths.warm_up)?;
    let (mut committed, mut done) = (0, 0);
    let ours = || -> Result<Sample, Failure> {
        let before = shop.database.write_costs();
        let sample = run(lengths.round)?;
        committed += shop.database.write_costs().since(before).commits;
        done += sample.count();
        Ok(sample)
    };
    let pair = in_turns(lengths.rounds, ours, || commits(&mut file, lengths.round))?;
    let name = format!("{name}, {CUSTOMERS} customers");
    report.add(Figure::ratio(name.clone(), pair.ratio(), Goal::AtLeast(0.5)).beside(&pair));
    let slowest = pair.ours.percentile(99).as_secs_f64() * 1000.0;
    report.add(Figure::plain(format!("{name}: p99"), slowest, "ms", Goal::AtMost(25.0)).alone(&pair.ours));
    let shared = f64::from(u32::try_from(committed)?) / f64::from(done);
    report.add(Figure::ratio(format!("{name}: commits per {one}"), shared, Goal::AtMost(0.2)));
    Ok(())
}

fn on_postgres(server: &str, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let database = OnServer::create(server, "crowd")?;
    let mut bare = PgConnection::establish(&database.url)?;
    ensure_durable(&mut bare)?;
    bare.batch_execute("CREATE TABLE bench_commits (id BIGSERIAL PRIMARY KEY, value BIGINT NOT NULL)")?;
    let shop = Shop::furnished(database.url.clone())?;
    let target = orders(&shop, &shop.customers(CUSTOMERS)?)?;
    let run = |time| load::run(&target, CUSTOMERS, lengths.threads, time);
    run(lengths.warm_up)?;
    // Until its tables of orders have statistics, in the first minute of a shop, the server plans reads of new orders
    // again and again.
    database.vacuum()?;
    let pair: Pair = in_turns(lengths.rounds, || run(lengths.round), || bare_commits(&mut bare, lengths.round))?;
    let keyed = target.keyed();
    let under_keys = || load::run(&keyed, CUSTOMERS, lengths.threads, lengths.round);
    let of_keys: Pair = in_turns(lengths.rounds, under_keys, || run(lengths.round))?;
    pgbench::measure(&shop, &database.url, lengths, report, || run(lengths.round))?;
    carts(&shop, lengths, report)?;
    shop.close();
    let name = format!("durable orders on PostgreSQL, {CUSTOMERS} customers");
    let rate = pair.ours.per_second();
    report.add(Figure::plain(name.clone(), rate, "orders/s", Goal::AtLeast(ON_POSTGRES)).alone(&pair.ours));
    report.add(
        Figure::ratio(format!("{name}, by bare commits one after the other"), pair.ratio(), Goal::None).beside(&pair),
    );
    let of_keys =
        Figure::ratio("orders under a key by orders without, PostgreSQL", of_keys.ratio(), Goal::AtLeast(0.95))
            .beside(&of_keys);
    report.add(of_keys);
    Ok(())
}

/// Measures carts on PostgreSQL beside the same carts on SQLite.
fn carts(shop: &Shop, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let peer = Shop::open()?;
    let target = |shop: &Shop| -> Result<Target, Failure> {
        let requests = shop.offers()?.chunks_exact(3).map(|lines| basket(shop, lines)).collect();
        Ok(Target { address: shop.address, expected: 200, requests, once: false })
    };
    let (ours, theirs) = (target(shop)?, target(&peer)?);
    let run = |target: &Target, time| load::run(target, lengths.connections, lengths.threads, time);
    run(&ours, lengths.warm_up)?;
    run(&theirs, lengths.warm_up)?;
    let pair = in_turns(lengths.rounds, || run(&ours, lengths.round), || run(&theirs, lengths.round))?;
    peer.close();
    let name = "carts of 3 lines, PostgreSQL by SQLite";
    report.add(Figure::ratio(name, pair.ratio(), Goal::AtLeast(0.5)).beside(&pair));
    Ok(())
}

/// Checks the settings of the server. An order answered before it is on the disk is not durable.
fn ensure_durable(connection: &mut PgConnection) -> Result<(), Failure> {
    #[derive(diesel::QueryableByName)]
    struct Settings {
        #[diesel(sql_type = Text)]
        held: String,
    }
    let ask = "SELECT current_setting('synchronous_commit') || ', ' || current_setting('fsync') AS held";
    let settings: Settings = diesel::sql_query(ask).get_result(connection)?;
    if settings.held == "on, on" {
        Ok(())
    } else {
        Err(format!("synchronous_commit and fsync of the server are {}", settings.held).into())
    }
}

/// Runs small commits in sequence.
fn bare_commits(connection: &mut PgConnection, time: Duration) -> Result<Sample, Failure> {
    let start = Instant::now();
    let mut latencies = Vec::new();
    while start.elapsed() < time {
        let began = Instant::now();
        connection.transaction(|connection| {
            diesel::sql_query("INSERT INTO bench_commits (value) VALUES (1)").execute(connection)
        })?;
        latencies.push(began.elapsed());
    }
    Sample::new(start.elapsed(), latencies)
}
