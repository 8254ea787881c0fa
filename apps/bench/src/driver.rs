//! The read of one order through two drivers of PostgreSQL: `diesel`, which the service uses, and `tokio-postgres`.
//! Both prepare the statement once per connection and decode every column.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use diesel::connection::Connection as _;
use diesel::deserialize;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::row::NamedRow;
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text, Timestamp, Untyped};
use diesel::{PgConnection, QueryResult, QueryableByName, RunQueryDsl};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, Row, Statement};

use crate::Failure;
use crate::crowd::{CUSTOMERS, orders};
use crate::load::{self, RunLengths, Sample, in_turns};
use crate::report::{Figure, Goal, Report};
use crate::shop::{OnServer, Shop};

/// Selects an order. A copy of `SELECT` and of the condition of `find` in `crates/adapter-diesel/src/orders/reader.rs`,
/// without the placeholder.
const ORDER: &str = "\
    SELECT o.id, o.project_id, o.application_id, a.name AS application_name, o.counterparty_id, CASE WHEN \
    c.is_company THEN c.name END AS company, c.last_name, c.first_name, c.middle_name, o.phone, \
    o.manager_id, u.last_name AS manager_last_name, u.first_name AS manager_first_name, o.status_id, \
    s.name AS status_name, p.currency, o.original_price, o.product_discount, o.promo_discount, \
    o.final_price, o.delivery_price, o.delivery_vat_code, o.promo_code, o.delivery_type_id AS type_id, dt.name AS type_name, dt.price AS \
    type_price, dt.is_active AS type_active, o.delivery_subtype_id AS subtype_id, ds.name AS \
    subtype_name, ds.price AS subtype_price, ds.is_active AS subtype_active, o.delivery_subtype_param_id \
    AS param_id, dp.name AS param_name, dp.address AS param_address, o.shop_id, sh.name AS shop_name, \
    sh.address AS shop_address, o.address, o.payment_type_id, pt.name AS payment_type_name, \
    pt.description AS payment_type_description, pt.photo AS payment_type_photo, o.payment_method_type, \
    o.payment_link, o.comment, o.reserved_until, EXISTS (SELECT 1 FROM charges t WHERE t.purpose = 'order' AND \
    t.purpose_id = o.id AND t.project_id = o.project_id AND t.state IN ('prepared', 'pending')) AS payment_open, \
    o.subscription_id IS NOT NULL AS is_recurring, o.paid_at, o.captured, o.refunded, o.refunding, tk.reference AS \
    ticket_reference, tk.total AS total_tickets, tk.redeemed AS redeemed_count, tk.last_redeemed_at, o.version, o.created_at, \
    o.updated_at \
    FROM orders o \
    JOIN projects p ON p.id = o.project_id \
    LEFT JOIN applications a ON a.id = o.application_id AND a.project_id = o.project_id \
    JOIN counterparties c ON c.id = o.counterparty_id AND c.project_id = o.project_id \
    LEFT JOIN users u ON u.id = o.manager_id AND u.project_id = o.project_id \
    LEFT JOIN dictionary_items s ON s.dictionary = 'order_statuses' AND s.id = o.status_id \
    LEFT JOIN delivery_types dt ON dt.project_id = o.project_id AND dt.id = o.delivery_type_id \
    LEFT JOIN delivery_subtypes ds ON ds.project_id = o.project_id AND ds.id = o.delivery_subtype_id \
    LEFT JOIN delivery_subtype_params dp ON dp.id = o.delivery_subtype_param_id AND dp.project_id = o.project_id \
    LEFT JOIN shops sh ON sh.id = o.shop_id AND sh.project_id = o.project_id \
    LEFT JOIN payment_types pt ON pt.id = o.payment_type_id AND pt.project_id = o.project_id \
    LEFT JOIN order_tickets tk ON tk.order_id = o.id AND tk.project_id = o.project_id \
    WHERE o.id = ";

/// Types of the columns of an order: `i` for `BIGINT`, `n` for `INTEGER`, `t` for `TEXT`, `b` for `BOOLEAN`, `m` for
/// `TIMESTAMP`.
const COLUMNS: &str = "iiititttttittittiiiiintitibitibittitttittttttmbbmiiitiimimm";

/// Measures reads of orders through both drivers, in turns.
pub fn measure(lengths: &RunLengths, server: &str, report: &mut Report) -> Result<(), Failure> {
    let database = OnServer::create(server, "driver")?;
    let shop = Shop::furnished(database.url.clone())?;
    load::run(&orders(&shop, &shop.customers(CUSTOMERS)?)?, CUSTOMERS, lengths.threads, lengths.warm_up)?;
    let ids: Arc<[i64]> = shop.numbers("SELECT id AS number FROM orders ORDER BY id".to_owned())?.into();
    shop.close();
    database.vacuum()?;

    let connect = |_| PgConnection::establish(&database.url);
    let mut connections = (0..lengths.connections).map(connect).collect::<Result<Vec<_>, _>>()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(lengths.threads).enable_all().build()?;
    let open = |_| runtime.block_on(Session::open(&database.url)).map(Arc::new);
    let sessions = (0..lengths.connections).map(open).collect::<Result<Vec<_>, _>>()?;
    by_diesel(&mut connections, &ids, lengths.warm_up)?;
    by_tokio(&runtime, &sessions, &ids, lengths.warm_up)?;
    let (mut cost, mut peer_cost) = (Cost::default(), Cost::default());
    let pair = in_turns(
        lengths.rounds,
        || cost.of(|| by_diesel(&mut connections, &ids, lengths.round)),
        || peer_cost.of(|| by_tokio(&runtime, &sessions, &ids, lengths.round)),
    )?;
    let name = format!("reads of an order on PostgreSQL, {} connections", lengths.connections);
    report.add(Figure::ratio(format!("{name}: diesel by tokio-postgres"), pair.ratio(), Goal::None).beside(&pair));
    for (driver, cost) in [("diesel", cost), ("tokio-postgres", peer_cost)] {
        let name = format!("{name}: processor time per 10,000, {driver}");
        report.add(Figure::plain(name, cost.milliseconds_per_10_000(), "ms", Goal::None));
    }
    Ok(())
}

/// Processor time of this process, without the server, for a number of reads.
#[derive(Default)]
struct Cost {
    seconds: f64,
    reads: u32,
}

impl Cost {
    /// Runs reads and adds their cost.
    fn of(&mut self, run: impl FnOnce() -> Result<Sample, Failure>) -> Result<Sample, Failure> {
        let before = processor_seconds()?;
        let sample = run()?;
        self.seconds += processor_seconds()? - before;
        self.reads += sample.count();
        Ok(sample)
    }

    fn milliseconds_per_10_000(&self) -> f64 {
        self.seconds * 1000.0 / f64::from(self.reads) * 10_000.0
    }
}

/// Returns the processor time of this process in seconds, to the hundredth.
fn processor_seconds() -> Result<f64, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // User and system time; the name of the program before them may have spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let ticks = fields.map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(f64::from(ticks) / 100.0)
}

/// A query for the order with this id.
struct OrderById(i64);

impl QueryFragment<Pg> for OrderById {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(ORDER);
        out.push_bind_param::<BigInt, _>(&self.0)
    }
}

impl QueryId for OrderById {
    type QueryId = ();

    /// Cached by its text, as the statements of the service.
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for OrderById {
    type SqlType = Untyped;
}

impl<Conn> RunQueryDsl<Conn> for OrderById {}

/// An order that was decoded, without its values.
struct Decoded;

/// Takes a decoded value. The compiler cannot leave out the decoding.
fn take<T>(value: T) {
    black_box(value);
}

impl QueryableByName<Pg> for Decoded {
    fn build<'a>(row: &impl NamedRow<'a, Pg>) -> deserialize::Result<Self> {
        for (place, kind) in COLUMNS.chars().enumerate() {
            match kind {
                'i' => take(row.get_value::<Nullable<BigInt>, Option<i64>, usize>(place)?),
                'n' => take(row.get_value::<Nullable<Integer>, Option<i32>, usize>(place)?),
                'b' => take(row.get_value::<Nullable<Bool>, Option<bool>, usize>(place)?),
                'm' => take(row.get_value::<Nullable<Timestamp>, Option<SystemTime>, usize>(place)?),
                _ => take(row.get_value::<Nullable<Text>, Option<String>, usize>(place)?),
            }
        }
        Ok(Self)
    }
}

impl TryFrom<Row> for Decoded {
    type Error = tokio_postgres::Error;

    fn try_from(row: Row) -> Result<Self, tokio_postgres::Error> {
        for (place, kind) in COLUMNS.chars().enumerate() {
            match kind {
                'i' => take(row.try_get::<usize, Option<i64>>(place)?),
                'n' => take(row.try_get::<usize, Option<i32>>(place)?),
                'b' => take(row.try_get::<usize, Option<bool>>(place)?),
                'm' => take(row.try_get::<usize, Option<SystemTime>>(place)?),
                _ => take(row.try_get::<usize, Option<String>>(place)?),
            }
        }
        Ok(Self)
    }
}

/// Reads orders in sequence on each connection, with one thread per connection.
fn by_diesel(connections: &mut [PgConnection], ids: &[i64], time: Duration) -> Result<Sample, Failure> {
    let start = Instant::now();
    let until = start + time;
    let times = std::thread::scope(|scope| {
        let mut running = Vec::with_capacity(connections.len());
        for (first, connection) in connections.iter_mut().enumerate() {
            running.push(scope.spawn(move || on_thread(connection, ids, first, until)));
        }
        let mut times = Vec::new();
        for thread in running {
            times.extend(thread.join().map_err(|_| "a thread with a connection panicked")??);
        }
        Ok::<_, Failure>(times)
    })?;
    Sample::new(start.elapsed(), times)
}

fn on_thread(
    connection: &mut PgConnection,
    ids: &[i64],
    first: usize,
    until: Instant,
) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::new();
    for id in ids.iter().cycle().skip(first) {
        let began = Instant::now();
        if began >= until {
            break;
        }
        OrderById(*id).get_result::<Decoded>(connection)?;
        times.push(began.elapsed());
    }
    Ok(times)
}

/// A connection of `tokio-postgres` with its prepared statement.
struct Session {
    client: Client,
    statement: Statement,
}

impl Session {
    async fn open(url: &str) -> Result<Self, Failure> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        // Errors of the connection are returned to the client.
        tokio::spawn(connection);
        let statement = client.prepare(&format!("{ORDER}$1")).await?;
        Ok(Self { client, statement })
    }

    async fn run(&self, ids: &[i64], first: usize, until: Instant) -> Result<Vec<Duration>, Failure> {
        let mut times = Vec::new();
        for id in ids.iter().cycle().skip(first) {
            let began = Instant::now();
            if began >= until {
                break;
            }
            Decoded::try_from(self.client.query_one(&self.statement, &[id]).await?)?;
            times.push(began.elapsed());
        }
        Ok(times)
    }
}

/// Reads orders in sequence on each connection, with one task per connection.
fn by_tokio(runtime: &Runtime, sessions: &[Arc<Session>], ids: &Arc<[i64]>, time: Duration) -> Result<Sample, Failure> {
    runtime.block_on(async {
        let start = Instant::now();
        let until = start + time;
        let mut running = Vec::with_capacity(sessions.len());
        for (first, session) in sessions.iter().cloned().enumerate() {
            let ids = ids.clone();
            running.push(tokio::spawn(async move { session.run(&ids, first, until).await }));
        }
        let mut times = Vec::new();
        for task in running {
            times.extend(task.await??);
        }
        Sample::new(start.elapsed(), times)
    })
}
