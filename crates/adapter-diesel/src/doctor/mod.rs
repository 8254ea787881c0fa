//! Derives anew what is kept in addition to its source, and compares; on demand puts right what differs.
//!
//! Every comparison is made by one statement over a few records, so a service that goes on working meanwhile shows no
//! differences that are not there, and memory does not grow with the tables.

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

/// A figure that is not what its source makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The project.
    pub project_id: i64,
    /// Table and column of the figure.
    pub figure: &'static str,
    /// The record: its number; of an offer that of the item, of a count that of the category, 0 being all of them.
    pub id: i64,
    /// The application, of an offer or a count.
    pub application_id: Option<i64>,
    /// What it was derived from.
    pub source: &'static str,
    /// What is stored, if anything. Prices and amounts are minor units; what items are found by has no figures.
    pub stored: Option<i64>,
    /// What should be, if anything.
    pub derived: Option<i64>,
}

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Examined {
    /// Stock records.
    pub inventories: u64,
    /// Discounts.
    pub discounts: u64,
    /// Items, with what the applications show of them and what they are found by.
    pub items: u64,
    /// Applications, with how many offers they have.
    pub applications: u64,
    /// Orders, with their money and their tickets.
    pub orders: u64,
    /// How much was found.
    pub differences: u64,
}

impl Database {
    /// Examines one project, or all. Hands over every difference as soon as it is found.
    ///
    /// - pieces and reserved pieces of a stock record: the sums of its movements, and what the last movement left;
    /// - reserved pieces: the order lines that hold them;
    /// - uses of a discount: the orders that use it;
    /// - what an application shows: cards, stock, prices and warehouses;
    /// - what an item is found by: its name and article;
    /// - how many offers an application has, in all and per category: its offers;
    /// - the money of an order: its lines, its charge, and what goes back of both;
    /// - the tickets of an order: its lines, and the scans that let people in.
    pub async fn examine(
        &self,
        project: Option<ProjectId>,
        mut found: impl FnMut(Difference) + Send,
    ) -> Result<Examined, StoreError> {
        let mut examined = Examined::default();
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

/// What a look at some records after this one gave.
struct Seen {
    count: u64,
    /// `None` when there are no more.
    last: Option<i64>,
    differences: Vec<Difference>,
}

type Check = fn(&mut AnyConnection, Option<i64>, i64) -> Result<Seen, Abort<StoreError>>;

/// Where the records of a look are counted.
type Tally = fn(&mut Examined) -> &mut u64;

/// `SELECT <what> FROM <table> t WHERE ...`: the next records.
fn next(what: &str, table: &str, project: Option<i64>, last: i64) -> Statement {
    let mut statement = Statement::new(format!("SELECT {what} FROM {table} t WHERE t.id > ")).value(last);
    if let Some(project) = project {
        statement = statement.sql(" AND t.project_id = ").value(project);
    }
    statement.sql(" ORDER BY t.id LIMIT ").value(CHUNK).once()
}
