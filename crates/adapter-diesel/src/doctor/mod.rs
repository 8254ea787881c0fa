//! Recomputes derived figures from their sources and compares them; on request corrects the differences.
//!
//! Each comparison is one statement over a few records. So changes during the run cause no false differences, and
//! memory use does not grow with the tables.

mod checks;
mod correction;
mod money;
mod readable;

use kontor_kernel::{ProjectId, StoreError};

use crate::database::{Abort, AnyConnection, Database};
use crate::statement::Statement;

pub use correction::Corrected;
pub use readable::UnreadableRow;

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
            (money::orders, |examined| &mut examined.orders),
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
