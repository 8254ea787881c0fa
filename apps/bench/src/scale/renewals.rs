//! Cost for a worker to find the due subscriptions among a million others.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use diesel::RunQueryDsl as _;
use diesel::sql_types::Text;
use kontor::cli::project::CreatedProject;
use kontor_adapter_diesel::Abort;
use kontor_kernel::StoreError;
use kontor_subscriptions::ports::SubscriptionStore as _;

use super::{GROWTH, ROWS, STATEMENTS, middle};
use crate::Failure;
use crate::load::{Pair, RunLengths, Sample};
use crate::report::{Figure, Goal, Report};
use crate::shop::{AT, Data, OnServer, in_one_commit};

/// Number of customers who have the subscriptions.
const CUSTOMERS: usize = 1_000;
/// Number of subscriptions a worker leases at once.
pub const AT_ONCE: u32 = 50;
/// Duration of the lease.
pub const LEASE: TimeDelta = TimeDelta::minutes(2);

/// In seconds.
const HOUR: usize = 3_600;
const MONTH: usize = 30 * 24 * HOUR;

/// Numbers of subscriptions and measurements.
struct Sizes {
    /// Number that is not due.
    waiting: usize,
    /// Number that is due at the same time.
    due: usize,
    /// Number of queries while nothing is due.
    looks: usize,
}

const FULL: Sizes = Sizes { waiting: 1_000_000, due: 100_000, looks: 2_000 };
const QUICK: Sizes = Sizes { waiting: 30_000, due: 3_000, looks: 50 };

/// A database with subscriptions and without a worker.
struct Setup {
    data: Data,
    /// Time at which nothing is due yet.
    early: DateTime<Utc>,
    /// Dropped after the data.
    database: Option<OnServer>,
}

/// Formats a time for the databases.
pub fn text(moment: DateTime<Utc>) -> String {
    moment.format("%Y-%m-%d %H:%M:%S").to_string()
}

impl Setup {
    /// Stores `size` subscriptions. One of `one_of` falls due within the hour after `early`. The order is mixed, so
    /// rows that are due together are not stored near each other.
    fn open(name: &str, server: Option<&str>, size: usize, one_of: usize) -> Result<Self, Failure> {
        let began = Instant::now();
        let database = server.map(|server| OnServer::create(server, name)).transpose()?;
        let data = Data::create(database.as_ref().map(|database| database.url.clone()))?;
        let setup = Self { data, early: "2026-06-15T12:00:00Z".parse()?, database };
        setup.fill(size, one_of)?;
        match &setup.database {
            Some(database) => database.vacuum()?,
            None => setup.data.fold_log()?,
        }
        eprintln!("{name}: {size} subscriptions written in {:.0} s", began.elapsed().as_secs_f64());
        Ok(setup)
    }

    fn fill(&self, size: usize, one_of: usize) -> Result<(), Failure> {
        let project = self.data.project()?;
        let number = project.project_id;
        let statements = (1..=CUSTOMERS)
            .map(|customer| {
                format!(
                    "INSERT INTO counterparties (id, project_id, is_company, phone_1, created_at, updated_at) \
                     VALUES ({customer}, {number}, false, '79{customer:09}', '{AT}', '{AT}')"
                )
            })
            .collect();
        in_one_commit(&self.data, statements)?;
        let rows = (1..=size).map(|number| {
            let seconds = if number % one_of == 0 { number * 7_919 % HOUR } else { 2 * HOUR + number * 7_919 % MONTH };
            let end = self.early + TimeDelta::seconds(i64::try_from(1 + seconds).unwrap_or_default());
            Row { id: number, customer: 1 + number % CUSTOMERS, end }
        });
        write_rows(&self.data, &project, rows)
    }

    /// Runs the worker's first query at this time after `early`. Returns the number found, and the duration.
    fn look(&self, after: TimeDelta) -> Result<(usize, Duration), Failure> {
        let (began, now) = (Instant::now(), self.early + after);
        let found = self.data.database.lease_due(now, now + LEASE, AT_ONCE);
        let found = self.data.runtime.block_on(found)?.len();
        Ok((found, began.elapsed()))
    }

    /// Returns the query plan for due subscriptions.
    fn plan(&self) -> Result<String, Failure> {
        #[derive(diesel::QueryableByName)]
        struct OfSqlite {
            #[diesel(sql_type = Text)]
            detail: String,
        }
        #[derive(diesel::QueryableByName)]
        struct OfPostgres {
            #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
            line: String,
        }
        let (is_postgres, now) = (self.database.is_some(), text(self.early));
        let read = self.data.database.read(move |connection| {
            let due =
                format!("SELECT id FROM subscriptions WHERE wake_at <= '{now}' ORDER BY wake_at, id LIMIT {AT_ONCE}");
            let lines: Vec<String> = if is_postgres {
                let rows: Vec<OfPostgres> = diesel::sql_query(format!("EXPLAIN {due}")).load(connection)?;
                rows.into_iter().map(|row| row.line).collect()
            } else {
                let rows: Vec<OfSqlite> = diesel::sql_query(format!("EXPLAIN QUERY PLAN {due}")).load(connection)?;
                rows.into_iter().map(|row| row.detail).collect()
            };
            Ok::<_, Abort<StoreError>>(lines.join("\n"))
        });
        Ok(self.data.runtime.block_on(read)?)
    }
}

/// An active subscription.
pub struct Row {
    pub id: usize,
    /// Identifier of the customer.
    pub customer: usize,
    /// End of the paid period, when it falls due.
    pub end: DateTime<Utc>,
}

/// Stores subscriptions of a project in batches.
pub fn write_rows(data: &Data, project: &CreatedProject, rows: impl Iterator<Item = Row>) -> Result<(), Failure> {
    let (project, application) = (project.project_id, project.application_id);
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        let mut statements = Vec::with_capacity(STATEMENTS);
        while statements.len() < STATEMENTS && rows.peek().is_some() {
            let mut statement =
                "INSERT INTO subscriptions (id, project_id, application_id, counterparty_id, status, nomenclature_id, \
                plan_slug, amount, currency, billing_months, saved_method_id, schedule, period_number, period_start, \
                period_end, next_charge_at, wake_at, version, created_at, updated_at) VALUES "
                    .to_owned();
            for (place, Row { id, customer, end }) in rows.by_ref().take(ROWS).enumerate() {
                let start = end - TimeDelta::days(30);
                let (first, comma) = (start.to_rfc3339(), if place > 0 { ", " } else { "" });
                let (start, end) = (text(start), text(end));
                write!(
                    statement,
                    "{comma}({id}, {project}, {application}, {customer}, 'active', 1, 'club', 49000, 'RUB', 1, {customer}, \
                     '[{{\"from\":1,\"first\":\"{first}\",\"zone\":\"Europe/Moscow\",\"months\":1,\"day\":15}}]', 1, '{start}', \
                     '{end}', '{end}', '{end}', 1, '{AT}', '{AT}')"
                )?;
            }
            statements.push(statement);
        }
        in_one_commit(data, statements)?;
    }
    Ok(())
}

/// Queries both databases in alternation, `looks` times each. The queries of each must together find `wanted` rows.
fn in_turns([ours, peer]: [&Setup; 2], after: TimeDelta, looks: usize, wanted: usize) -> Result<Pair, Failure> {
    let mut times = [Vec::new(), Vec::new()];
    let mut found = [0, 0];
    for _ in 0..looks {
        for ((setup, times), found) in [ours, peer].into_iter().zip(&mut times).zip(&mut found) {
            let (leased, took) = setup.look(after)?;
            times.push(took);
            *found += leased;
        }
    }
    if found != [wanted; 2] {
        return Err(format!("{found:?} subscriptions are due instead of {wanted}").into());
    }
    let [ours, peer] = times.map(|times| Sample::new(times.iter().sum(), times));
    Ok(Pair { ours: ours?, peer: peer? })
}

/// Measures the same work with and without a million other subscriptions.
pub fn measure(lengths: &RunLengths, server: Option<&str>, report: &mut Report) -> Result<(), Failure> {
    let sizes = if lengths.is_quick() { QUICK } else { FULL };
    let (all, due) = (sizes.waiting + sizes.due, sizes.due);
    let alone = Setup::open("renewals_alone", server, due, 1)?;
    let crowd = Setup::open("renewals_crowd", server, all, all / due)?;
    eprintln!("{}", crowd.plan()?);
    let growth = |pair: &Pair| middle(&pair.ours) / middle(&pair.peer);

    let both = [&crowd, &alone];
    in_turns(both, TimeDelta::zero(), sizes.looks / 10, 0)?;
    let statements = crowd.data.database.statements();
    let idle = in_turns(both, TimeDelta::zero(), sizes.looks, 0)?;
    let looks = f64::from(u32::try_from(sizes.looks)?);
    let cost = f64::from(u32::try_from(crowd.data.database.statements() - statements)?) / looks;
    report.add(Figure::plain("statements of a look when nothing is due", cost, "statements", Goal::AtMost(1.0)));
    let name = format!("a look when nothing is due: {all} subscriptions by {due}");
    report.add(Figure::times(name, growth(&idle), Goal::AtMost(GROWTH)).beside(&idle));

    let at_once = usize::try_from(AT_ONCE)?;
    let leased = in_turns(both, TimeDelta::hours(1), due.div_ceil(at_once), due)?;
    let name = format!("{AT_ONCE} of {due} that are due, found and leased: among {all} by alone");
    report.add(Figure::times(name, growth(&leased), Goal::AtMost(GROWTH)).beside(&leased));
    for (name, sample) in [("among the others", &leased.ours), ("alone", &leased.peer)] {
        let rate = sample.per_second() * f64::from(AT_ONCE);
        report.add(Figure::plain(format!("{due} that are due, leased, {name}"), rate, "rows/s", Goal::None));
    }
    Ok(())
}
