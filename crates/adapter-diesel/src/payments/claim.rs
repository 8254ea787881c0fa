//! Whose turn it is: rows that are due are leased, one at a time.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::sql_types::BigInt;
use kontor_kernel::StoreError;

use crate::database::{Abort, Database};
use crate::statement::{Statement, by_place};

/// A table whose rows are leased, and which of them are still to be worked on.
pub(crate) struct Queue {
    pub table: &'static str,
    pub open: &'static str,
}

/// Charges whose outcome is not known yet.
pub(crate) const CHARGES: Queue = Queue { table: "charges", open: "state IN ('prepared', 'pending')" };

/// Refunds whose outcome is not known yet.
pub(super) const REFUNDS: Queue = Queue { table: "refunds", open: "state IN ('due', 'pending')" };

by_place! {
    struct NumberRow {
        id: i64 as BigInt,
    }
}

/// How many due rows are tried before a round ends; others lease the same ones at the same time.
const CANDIDATES: usize = 16;

impl Queue {
    fn free(&self, at: NaiveDateTime) -> Statement {
        Statement::new(format!("{} AND parked_at IS NULL AND next_check_at <= ", self.open))
            .value(at)
            .sql(" AND (leased_until IS NULL OR leased_until <= ")
            .value(at)
            .sql(")")
    }
}

/// Leases the row that has been due longest.
pub(crate) async fn claim(
    database: &Database,
    queue: &'static Queue,
    owner: &str,
    at: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Result<Option<i64>, StoreError> {
    let (owner, at, until) = (owner.to_owned(), at.naive_utc(), until.naive_utc());
    let due: Vec<NumberRow> = database
        .read(move |connection| {
            let look = Statement::new(format!("SELECT id FROM {} WHERE ", queue.table))
                .then(queue.free(at))
                .sql(format!(" ORDER BY next_check_at, id LIMIT {CANDIDATES}"));
            Ok::<_, Abort<StoreError>>(look.rows(connection)?)
        })
        .await?;
    if due.is_empty() {
        return Ok(None);
    }
    database
        .write(move |connection| {
            for row in &due {
                let take = Statement::new(format!("UPDATE {} SET lease_owner = ", queue.table))
                    .value(owner.as_str())
                    .sql(", leased_until = ")
                    .value(until)
                    .sql(" WHERE id = ")
                    .value(row.id)
                    .sql(" AND ")
                    .then(queue.free(at));
                if take.run(connection)? == 1 {
                    return Ok::<_, Abort<StoreError>>(Some(row.id));
                }
            }
            Ok(None)
        })
        .await
}
