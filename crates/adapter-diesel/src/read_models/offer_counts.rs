//! Number of offers of each application, in total and per category, stored beside the offers.

use std::collections::BTreeMap;

use diesel::result::Error as QueryError;

use crate::database::AnyConnection;
use crate::statement::{Statement, by_place};

/// Category id for the total, which includes offers without a category.
pub(crate) const ALL_CATEGORIES: i64 = 0;

/// Rows per count on PostgreSQL. Each connection uses its own row, so that writers do not wait for each other.
const SLOTS: i64 = 16;

const ROWS: usize = 500;

const INSERT: &str = "INSERT INTO offer_counts (application_id, category_id, slot, total)";

const ON_CONFLICT_ADD: &str = " ON CONFLICT (application_id, category_id, slot) \
                     DO UPDATE SET total = offer_counts.total + excluded.total";

/// Returns the row that this connection writes to.
fn slot(connection: &AnyConnection) -> String {
    if connection.is_postgres() { format!("pg_backend_pid() % {SLOTS}") } else { "0".to_owned() }
}

by_place! {
    /// Columns of `RETURNING application_id, category_id` of offers.
    pub(crate) struct OfferPlace {
        application_id: i64,
        category_id: Option<i64>,
    }
}

/// Changes of the counts in one transaction.
#[derive(Default)]
pub(crate) struct Changes(BTreeMap<(i64, i64), i64>);

impl Changes {
    /// Adds offers that appeared (`1`) or disappeared (`-1`).
    pub fn add(&mut self, offers: Vec<OfferPlace>, by: i64) {
        for offer in offers {
            for category in [Some(ALL_CATEGORIES), offer.category_id].into_iter().flatten() {
                *self.0.entry((offer.application_id, category)).or_default() += by;
            }
        }
    }

    /// Writes the non-zero changes, always in the same order.
    pub fn write(self, connection: &mut AnyConnection) -> Result<(), QueryError> {
        let slot = slot(connection);
        let changes: Vec<((i64, i64), i64)> = self.0.into_iter().filter(|(_, change)| *change != 0).collect();
        for chunk in changes.chunks(ROWS) {
            let rows = chunk.iter().map(|((application, category), change)| [*application, *category, *change]);
            let insert = format!("{INSERT} SELECT v.column1, v.column2, {slot}, v.column3 FROM (VALUES ");
            let rows = Statement::new(insert).tuples(rows.map(|row| row.map(Into::into))).once();
            rows.sql(") AS v WHERE TRUE").sql(ON_CONFLICT_ADD).run(connection)?;
        }
        Ok(())
    }
}

by_place! {
    /// A count that differs from the number of offers. The category is 0 for all offers.
    pub(crate) struct CountDifference {
        pub project: i64,
        pub application: i64,
        pub category: i64,
        pub kept: i64,
        pub counted: i64,
    }
}

/// Selects `application_id, category_id, kept, counted` of the wrong counts of these applications.
fn differing(applications: &[i64]) -> Statement {
    let places = [
        "SELECT application_id, category_id, total AS kept, 0 AS counted FROM offer_counts WHERE application_id",
        " UNION ALL SELECT application_id, category_id, 0, count(*) FROM storefront_offers \
         WHERE category_id IS NOT NULL AND application_id",
        " GROUP BY application_id, category_id UNION ALL SELECT application_id, 0, 0, count(*) FROM storefront_offers \
         WHERE application_id",
    ];
    let select = "SELECT application_id, category_id, CAST(sum(kept) AS BIGINT) AS kept, \
                  CAST(sum(counted) AS BIGINT) AS counted FROM (";
    let union = places.into_iter().fold(Statement::new(select), |union, place| union.sql(place).among(applications));
    union.sql(" GROUP BY application_id) AS x GROUP BY application_id, category_id HAVING sum(kept) <> sum(counted)")
}

/// Selects the wrong counts of these applications.
pub(crate) fn wrong_counts(applications: &[i64]) -> Statement {
    Statement::new("SELECT a.project_id, y.application_id, y.category_id, y.kept, y.counted FROM (")
        .then(differing(applications))
        .sql(") AS y JOIN applications a ON a.id = y.application_id ORDER BY y.application_id, y.category_id")
        .once()
}

/// Corrects the counts of these applications, which the caller has locked. Returns the number of wrong ones.
pub(crate) fn correct(connection: &mut AnyConnection, applications: &[i64]) -> Result<usize, QueryError> {
    let slot = slot(connection);
    Statement::new(format!("{INSERT} SELECT y.application_id, y.category_id, {slot}, y.counted - y.kept FROM ("))
        .then(differing(applications))
        .sql(") AS y WHERE TRUE")
        .sql(ON_CONFLICT_ADD)
        .once()
        .run(connection)
}
