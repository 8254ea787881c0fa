//! Derives anew what is kept beside its source, and compares. Changes nothing.
//!
//! Every comparison is made by one statement over a few records, so a service that goes on working meanwhile shows no
//! differences that are not there, and memory does not grow with the tables.

use diesel::result::QueryResult;
use diesel::sql_types::BigInt;
use kontor_kernel::{ProjectId, StoreError};

use crate::catalog::offers::{self, OffOffer};
use crate::database::{Abort, AnyConnection, Database};
use crate::statement::{Statement, by_place};

const CHUNK: i64 = 250;

/// A figure that is not what its source makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The project.
    pub project_id: i64,
    /// Table and column of the figure.
    pub figure: &'static str,
    /// The record: its number; of an offer that of the item.
    pub id: i64,
    /// The application, of an offer.
    pub application_id: Option<i64>,
    /// What it was derived from.
    pub source: &'static str,
    /// What is stored, if anything. Prices are minor units.
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
    /// Items, with what the applications show of them.
    pub items: u64,
    /// How much was found.
    pub differences: u64,
}

impl Database {
    /// Examines one project, or all. Hands over every difference as soon as it is found.
    ///
    /// - pieces and claimed pieces of a stock record: the sums of its movements, and what the last movement left;
    /// - claimed pieces: the order lines that hold them;
    /// - uses of a discount: the orders that use it;
    /// - what an application shows: cards, stock, prices and warehouses.
    pub async fn examine(
        &self,
        project: Option<ProjectId>,
        mut found: impl FnMut(Difference) + Send,
    ) -> Result<Examined, StoreError> {
        let mut examined = Examined::default();
        let project = project.map(ProjectId::get);
        let looks: [(Look, Tally); 3] = [
            (stock, |examined| &mut examined.inventories),
            (discounts, |examined| &mut examined.discounts),
            (shown, |examined| &mut examined.items),
        ];
        for (look, count) in looks {
            let mut last = 0;
            loop {
                let step =
                    move |connection: &mut AnyConnection| Ok::<_, Abort<StoreError>>(look(connection, project, last)?);
                let seen = self.read(step).await?;
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

type Look = fn(&mut AnyConnection, Option<i64>, i64) -> QueryResult<Seen>;

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

by_place! {
    struct StockRow {
        project: i64 as BigInt,
        id: i64 as BigInt,
        quantity: i64 as BigInt,
        reserved: i64 as BigInt,
        moved: i64 as BigInt,
        claimed: i64 as BigInt,
        quantity_left: i64 as BigInt,
        reserved_left: i64 as BigInt,
        held: i64 as BigInt,
    }
}

fn stock(connection: &mut AnyConnection, project: Option<i64>, last: i64) -> QueryResult<Seen> {
    const MOVEMENTS: &str = "FROM stock_movements m WHERE m.project_id = t.project_id AND m.inventory_id = t.id";
    let sum = |column: &str| format!("CAST(COALESCE((SELECT sum(m.{column}) {MOVEMENTS}), 0) AS BIGINT)");
    let left = |column: &str| format!("COALESCE((SELECT m.{column} {MOVEMENTS} ORDER BY m.id DESC LIMIT 1), 0)");
    let what = format!(
        "t.project_id, t.id, t.quantity, t.reserved, {}, {}, {}, {}, CAST(COALESCE((SELECT sum(r.quantity) \
         FROM reservations r WHERE r.inventory_id = t.id AND r.state = 'held'), 0) AS BIGINT)",
        sum("quantity"),
        sum("reserved"),
        left("quantity_after"),
        left("reserved_after"),
    );
    let rows: Vec<StockRow> = next(&what, "inventories", project, last).rows(connection)?;
    let compare = |row: &StockRow| {
        let place = (row.project, row.id);
        [
            compared(place, "inventories.quantity", "stock_movements", row.quantity, row.moved),
            compared(place, "inventories.reserved", "stock_movements", row.reserved, row.claimed),
            compared(place, "stock_movements.quantity_after", "inventories", row.quantity_left, row.quantity),
            compared(place, "stock_movements.reserved_after", "inventories", row.reserved_left, row.reserved),
            compared(place, "inventories.reserved", "reservations", row.reserved, row.held),
        ]
    };
    Ok(Seen {
        count: count(&rows),
        last: rows.last().map(|row| row.id),
        differences: rows.iter().flat_map(compare).flatten().collect(),
    })
}

by_place! {
    struct DiscountRow {
        project: i64 as BigInt,
        id: i64 as BigInt,
        used: i64 as BigInt,
        usages: i64 as BigInt,
    }
}

fn discounts(connection: &mut AnyConnection, project: Option<i64>, last: i64) -> QueryResult<Seen> {
    let what = "t.project_id, t.id, t.used_count, (SELECT count(*) FROM discount_usages u WHERE u.discount_id = t.id)";
    let rows: Vec<DiscountRow> = next(what, "discounts", project, last).rows(connection)?;
    let compare = |row: &DiscountRow| {
        compared((row.project, row.id), "discounts.used_count", "discount_usages", row.used, row.usages)
    };
    Ok(Seen {
        count: count(&rows),
        last: rows.last().map(|row| row.id),
        differences: rows.iter().filter_map(compare).collect(),
    })
}

by_place! {
    struct ItemRow {
        id: i64 as BigInt,
    }
}

fn shown(connection: &mut AnyConnection, project: Option<i64>, last: i64) -> QueryResult<Seen> {
    let rows: Vec<ItemRow> = next("t.id", "nomenclatures", project, last).rows(connection)?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let off: Vec<OffOffer> = if ids.is_empty() { Vec::new() } else { offers::off(&ids).rows(connection)? };
    let differ = |offer: &OffOffer| {
        let (project_id, application, id) = offer.place();
        let (stored, derived) = offer.prices();
        let application_id = Some(application);
        Difference {
            project_id,
            figure: "storefront_offers.price",
            id,
            application_id,
            source: "inventories",
            stored,
            derived,
        }
    };
    Ok(Seen { count: count(&rows), last: ids.last().copied(), differences: off.iter().map(differ).collect() })
}

fn count<T>(rows: &[T]) -> u64 {
    u64::try_from(rows.len()).unwrap_or(u64::MAX)
}

fn compared(
    (project_id, id): (i64, i64),
    figure: &'static str,
    source: &'static str,
    stored: i64,
    derived: i64,
) -> Option<Difference> {
    let (stored, derived) = (Some(stored), Some(derived));
    (stored != derived).then_some(Difference { project_id, figure, id, application_id: None, source, stored, derived })
}
