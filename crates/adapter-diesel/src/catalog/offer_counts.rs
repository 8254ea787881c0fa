//! How many offers each application has, in all and per category, kept beside the offers.

use std::collections::BTreeMap;

use diesel::result::Error as QueryError;
use diesel::sql_types::{BigInt, Nullable};

use super::import_writes::tuples;
use crate::database::AnyConnection;
use crate::statement::{Statement, by_place};

/// In the place of a category: all of them, and offers without one.
pub(super) const EVERY_CATEGORY: i64 = 0;

/// Writers of PostgreSQL that would wait for each other at one row take different ones, each connection its own of so
/// many.
const SLOTS: i64 = 16;

const ROWS: usize = 500;

by_place! {
    /// What `RETURNING application_id, category_id` of offers tells.
    pub(super) struct OfferPlace {
        application_id: i64 as BigInt,
        category_id: Option<i64> as Nullable<BigInt>,
    }
}

/// What a commit does to the counts.
#[derive(Default)]
pub(super) struct Changes(BTreeMap<(i64, i64), i64>);

impl Changes {
    /// These offers came (`1`) or went (`-1`).
    pub fn add(&mut self, offers: Vec<OfferPlace>, by: i64) {
        for offer in offers {
            for category in [Some(EVERY_CATEGORY), offer.category_id].into_iter().flatten() {
                *self.0.entry((offer.application_id, category)).or_default() += by;
            }
        }
    }

    /// Writes what is left of them, always in the same order.
    pub fn write(self, connection: &mut AnyConnection) -> Result<(), QueryError> {
        let slot = match connection {
            AnyConnection::Sqlite(_) => "0".to_owned(),
            AnyConnection::Postgres(_) => format!("pg_backend_pid() % {SLOTS}"),
        };
        let changes: Vec<((i64, i64), i64)> = self.0.into_iter().filter(|(_, change)| *change != 0).collect();
        for chunk in changes.chunks(ROWS) {
            let rows = chunk.iter().map(|((application, category), change)| [*application, *category, *change]);
            let insert = format!(
                "INSERT INTO offer_counts (application_id, category_id, slot, total) \
                 SELECT v.column1, v.column2, {slot}, v.column3 FROM (VALUES "
            );
            tuples(Statement::new(insert), rows.map(|row| row.map(Into::into)))
                .sql(
                    ") AS v WHERE TRUE ON CONFLICT (application_id, category_id, slot) \
                     DO UPDATE SET total = offer_counts.total + excluded.total",
                )
                .run(connection)?;
        }
        Ok(())
    }
}
