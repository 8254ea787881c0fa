//! Recomputes derived figures from their sources and compares them; on request corrects the differences.
//!
//! Each comparison is one statement over a few records. So changes during the run cause no false differences, and
//! memory use does not grow with the tables.

mod checks;

use chrono::{DateTime, NaiveDateTime, Utc};
use kontor_customers::model::StaffCustomer;
use kontor_kernel::{ProjectId, StoreError};

use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::read_models::{offers, search};
use crate::records::{Read, readable};
use crate::statement::Statement;
use crate::subscriptions::{Selection, cases};
use crate::unreadable::apart;
use crate::{auth, catalog, content, orders, organization, stock};

const CHUNK: i64 = 250;

/// Stored figure that differs from its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Project.
    pub project_id: i64,
    /// Table and column of the figure.
    pub figure: &'static str,
    /// Number of the record: for an offer the item, for a count the category (0 for all categories).
    pub id: i64,
    /// Application, for an offer or a count.
    pub application_id: Option<i64>,
    /// Table that the figure is derived from.
    pub source: &'static str,
    /// Stored value, if any. Prices and amounts are in minor units; search texts have no value.
    pub stored: Option<i64>,
    /// Expected value, if any.
    pub derived: Option<i64>,
}

/// Counts of examined records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExaminedCounts {
    /// Stock levels.
    pub inventories: u64,
    /// Discounts.
    pub discounts: u64,
    /// Items, with their offers and search texts.
    pub items: u64,
    /// Applications, with their offer counts.
    pub applications: u64,
    /// Orders, with their money and tickets.
    pub orders: u64,
    /// Differences found.
    pub differences: u64,
}

impl Database {
    /// Examines one project, or all. Reports each difference as soon as it is found. The sources of the figures:
    ///
    /// - quantity and reserved quantity of a stock level: the sums of its movements, and the balance of the last
    ///   movement;
    /// - reserved quantity: the order lines that hold it;
    /// - uses of a discount: the orders that use it;
    /// - offers of an application: items, stock levels, prices and warehouses;
    /// - search texts of an item: its name and article;
    /// - offer counts of an application, in total and per category: its offers;
    /// - money of an order: its lines, its charge, and the refunds of both;
    /// - tickets of an order: its lines, and the scans that admitted a visitor.
    pub async fn examine(
        &self,
        project: Option<ProjectId>,
        mut found: impl FnMut(Difference) + Send,
    ) -> Result<ExaminedCounts, StoreError> {
        let mut examined = ExaminedCounts::default();
        let project = project.map(ProjectId::get);
        let checks: [(Check, Tally); 5] = [
            (checks::stock, |examined| &mut examined.inventories),
            (checks::discounts, |examined| &mut examined.discounts),
            (checks::items, |examined| &mut examined.items),
            (checks::counts, |examined| &mut examined.applications),
            (checks::orders, |examined| &mut examined.orders),
        ];
        for (check, count) in checks {
            let mut last = 0;
            loop {
                let seen = self.read(move |connection| check(connection, project, last)).await?;
                *count(&mut examined) += seen.count;
                examined.differences += u64::try_from(seen.differences.len()).unwrap_or(u64::MAX);
                seen.differences.into_iter().for_each(&mut found);
                match seen.last {
                    Some(next) => last = next,
                    None => break,
                }
            }
        }
        Ok(examined)
    }
}

/// Result of comparing the next records.
struct ComparisonStep {
    count: u64,
    /// Number of the last record; `None` if there are no more.
    last: Option<i64>,
    differences: Vec<Difference>,
}

impl ComparisonStep {
    fn of<T>(records: &[T], id: impl Fn(&T) -> i64, differences: impl IntoIterator<Item = Difference>) -> Self {
        let count = u64::try_from(records.len()).unwrap_or(u64::MAX);
        Self { count, last: records.last().map(id), differences: differences.into_iter().collect() }
    }
}

type Check = fn(&mut AnyConnection, Option<i64>, i64) -> Result<ComparisonStep, Abort<StoreError>>;

/// Counter for the records of a comparison.
type Tally = fn(&mut ExaminedCounts) -> &mut u64;

/// Selects the next records: `SELECT <what> FROM <table> t WHERE ...`.
fn next(what: &str, table: &str, project: Option<i64>, last: i64) -> Statement {
    let mut statement = Statement::new(format!("SELECT {what} FROM {table} t WHERE t.id > ")).value(last);
    if let Some(project) = project {
        statement = statement.sql(" AND t.project_id = ").value(project);
    }
    statement.sql(" ORDER BY t.id LIMIT ").value(CHUNK).once()
}

/// Counts of corrected records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Corrected {
    /// Stock levels that differed; where the ledger was wrong, a movement corrects it.
    pub inventories: u64,
    /// Discounts whose uses were recounted.
    pub discounts: u64,
    /// Items whose search texts were rewritten.
    pub words: u64,
    /// Items whose offers changed.
    pub items: u64,
    /// Offer counts.
    pub counts: u64,
}

/// Corrects some records. Returns how many differed.
type CorrectRecords = fn(&mut AnyConnection, &[i64], NaiveDateTime) -> Result<usize, Abort<StoreError>>;

/// Counter for the records of a correction.
type CorrectionTally = fn(&mut Corrected) -> &mut u64;

impl Database {
    /// Corrects what [`Database::examine`] compares, in one project or in all, a few records per transaction. The
    /// quantity of a stock level is taken as true, and a movement corrects the ledger. The reserved quantity is
    /// recomputed from order lines. Two differences remain: more units reserved than in stock, and more uses of a
    /// discount than allowed.
    pub async fn correct(&self, project: Option<ProjectId>, at: DateTime<Utc>) -> Result<Corrected, StoreError> {
        let mut corrected = Corrected { inventories: self.correct_ledger(project, at).await?, ..Corrected::default() };
        // Offers depend on stock, and counts on offers, so the order matters.
        let steps: [(&'static str, CorrectRecords, CorrectionTally); 4] = [
            ("discounts", discounts, |corrected| &mut corrected.discounts),
            ("nomenclatures", words, |corrected| &mut corrected.words),
            ("nomenclatures", shown, |corrected| &mut corrected.items),
            ("applications", counts, |corrected| &mut corrected.counts),
        ];
        for (table, correct, count) in steps {
            *count(&mut corrected) += self.correct_records(project, table, at, correct).await?;
        }
        Ok(corrected)
    }

    /// Corrects the stock ledger by one movement per stock level that differs, for example after records were loaded by
    /// other means than this service. Returns how many stock levels differed.
    pub async fn correct_ledger(&self, project: Option<ProjectId>, at: DateTime<Utc>) -> Result<u64, StoreError> {
        self.correct_records(project, "inventories", at, |connection, ids, at| Ok(stock::correct(connection, ids, at)?))
            .await
    }

    async fn correct_records(
        &self,
        project: Option<ProjectId>,
        table: &'static str,
        at: DateTime<Utc>,
        correct: CorrectRecords,
    ) -> Result<u64, StoreError> {
        let project = project.map(ProjectId::get);
        self.walk(move |connection, last| {
            let ids = held(connection, next("t.id", table, project, last))?;
            let count = if ids.is_empty() { 0 } else { correct(connection, &ids, at.naive_utc())? };
            if count > 0 {
                connection.invalidate_everything();
            } else {
                connection.declare_unchanged(Topic::Storefront);
            }
            Ok((ids.last().copied(), u64::try_from(count).unwrap_or(u64::MAX)))
        })
        .await
    }
}

/// Returns the numbers of these records, and locks them until the end of the transaction.
fn held(connection: &mut AnyConnection, records: Statement) -> Result<Vec<i64>, Abort<StoreError>> {
    Ok(records.locked(connection, " FOR NO KEY UPDATE").scalars(connection)?)
}

fn discounts(connection: &mut AnyConnection, ids: &[i64], _: NaiveDateTime) -> Result<usize, Abort<StoreError>> {
    let corrected = Statement::new(
        "UPDATE discounts SET used_count = c.uses, used_amount = c.amount FROM (SELECT d.id AS discount, d.project_id, \
         count(u.order_id) AS uses, CAST(COALESCE(sum(o.promo_discount), 0) AS BIGINT) AS amount FROM discounts d \
         LEFT JOIN discount_usages u ON u.discount_id = d.id AND u.project_id = d.project_id \
         LEFT JOIN orders o ON o.id = u.order_id AND o.project_id = u.project_id WHERE d.id",
    )
    .among(ids)
    .sql(
        " GROUP BY d.id, d.project_id) AS c WHERE discounts.id = c.discount AND discounts.project_id = c.project_id \
         AND (discounts.used_count <> c.uses OR discounts.used_amount <> c.amount) \
         AND (discounts.usage_limit IS NULL OR c.uses <= discounts.usage_limit)",
    );
    Ok(corrected.once().run(connection)?)
}

fn words(connection: &mut AnyConnection, ids: &[i64], _: NaiveDateTime) -> Result<usize, Abort<StoreError>> {
    let lost: Vec<i64> = search::outdated_items(connection, ids)?.into_iter().map(|(_, item)| item).collect();
    search::refill::<StoreError>(connection, &lost)?;
    Ok(lost.len())
}

fn shown(connection: &mut AnyConnection, ids: &[i64], _: NaiveDateTime) -> Result<usize, Abort<StoreError>> {
    Ok(usize::try_from(offers::refresh_availability(connection, ids)?).unwrap_or(usize::MAX))
}

fn counts(connection: &mut AnyConnection, ids: &[i64], _: NaiveDateTime) -> Result<usize, Abort<StoreError>> {
    Ok(offers::correct_counts(connection, ids)?)
}

/// Stored row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableRow {
    /// Table name.
    pub table: &'static str,
    /// Number of the row.
    pub id: i64,
    /// Reason: the invalid value.
    pub reason: String,
}

/// Tables of records that several modules read.
const OTHERS: &[(&str, Read)] = &[
    readable::<StaffCustomer>(),
    ("orders", |connection, ids| orders::numbered(connection, ids).map(|_| Vec::new())),
    ("subscriptions", |connection, ids| {
        cases(connection, &Selection::These(ids.to_vec()), DateTime::UNIX_EPOCH).map(|_| Vec::new())
    }),
    ("users", auth::try_to_read),
    ("agent_actions", auth::try_to_read_calls),
    ("agent_policies", auth::try_to_read_policies),
];

/// Returns the rows of a table with their numbers in `id`. A policy for agents has the number of its project.
fn numbered(table: &'static str) -> &'static str {
    if table == "agent_policies" { "(SELECT project_id AS id, project_id FROM agent_policies)" } else { table }
}

impl Database {
    /// Reads every record of one project, or of all. Reports each row that cannot be read, and returns their number.
    pub async fn find_unreadable(
        &self,
        project: Option<ProjectId>,
        mut found: impl FnMut(UnreadableRow) + Send,
    ) -> Result<u64, StoreError> {
        let (project, mut count) = (project.map(ProjectId::get), 0);
        for (table, read) in [catalog::READABLE, OTHERS, organization::READABLE, content::READABLE].concat() {
            let mut last = Some(0);
            while let Some(after) = last {
                let looked = self.snapshot(move |connection| {
                    let ids: Vec<i64> = next("t.id", numbered(table), project, after).scalars(connection)?;
                    let (_, unreadable) = apart(connection, &ids, read)?;
                    Ok::<_, Abort<StoreError>>((ids.last().copied(), unreadable))
                });
                let (next, unreadable) = looked.await?;
                for (id, reason) in unreadable {
                    count += 1;
                    found(UnreadableRow { table, id, reason });
                }
                last = next;
            }
        }
        Ok(count)
    }

    /// Returns the damage that SQLite finds in its file. Empty on PostgreSQL, whose pages have checksums of their own.
    pub async fn file_damage(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            if connection.is_postgres() {
                return Ok::<_, Abort<StoreError>>(Vec::new());
            }
            let mut findings: Vec<String> = Statement::new("PRAGMA quick_check(20)").scalars(connection)?;
            findings.retain(|finding| finding != "ok");
            Ok(findings)
        })
        .await
    }
}
