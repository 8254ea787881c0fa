//! Counting, listing and releasing parked rows.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;

use super::Queue;
use crate::database::AnyConnection;
use crate::decode;
use crate::statement::{Statement, by_place};

/// Row of a queue that could not be read, or failed too often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// Table name.
    pub table: &'static str,
    /// Key of the row.
    pub id: String,
    /// Time of parking.
    pub since: DateTime<Utc>,
    /// Reason for parking.
    pub reason: String,
}

by_place! {
    struct ParkedRow {
        id: String,
        since: NaiveDateTime,
        reason: String,
    }
}

/// Returns the number of parked rows of a queue.
pub(crate) fn count_parked(connection: &mut AnyConnection, queue: &Queue) -> QueryResult<u64> {
    let count = format!("SELECT count(*) FROM {} WHERE parked_at IS NOT NULL", queue.table);
    Ok(Statement::new(count).scalar::<i64>(connection)?.unsigned_abs())
}

/// Returns at most `most` parked rows of a queue, the oldest first.
pub(crate) fn list_parked(
    connection: &mut AnyConnection,
    queue: &'static Queue,
    most: u32,
) -> QueryResult<Vec<Parked>> {
    let Queue { table, key, .. } = queue;
    let list = format!(
        "SELECT CAST({key} AS TEXT), parked_at, COALESCE(parked_reason, '') FROM {table} WHERE parked_at IS NOT NULL \
         ORDER BY parked_at, {key} LIMIT {most}"
    );
    let rows: Vec<ParkedRow> = Statement::new(list).rows(connection)?;
    let parked = |row: ParkedRow| Parked { table, id: row.id, since: decode::moment(row.since), reason: row.reason };
    Ok(rows.into_iter().map(parked).collect())
}

/// Returns the parked rows to the queue. Returns their number.
pub(crate) fn release_parked(connection: &mut AnyConnection, queue: &Queue) -> QueryResult<usize> {
    let back = format!(
        "UPDATE {} SET parked_at = NULL, parked_reason = NULL, lapses = 0 WHERE parked_at IS NOT NULL",
        queue.table
    );
    Statement::new(back).run(connection)
}
