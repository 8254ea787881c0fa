//! Leases: any number of processes work on the rows of a queue, each row by one of them at a time.
//!
//! 1. **Look** for due rows. This only reads; an idle worker takes no write lock.
//! 2. **Lease** them by a conditional update that sets the owner and the end of the lease. Of several competing
//!    workers, one gets the row.
//! 3. **Read** the work after the lease is committed. A row that cannot be read is *parked* with the reason. It is no
//!    longer due, and the others continue. An operator releases it once it is repaired.
//! 4. Work, and write the outcome on the condition that the lease is still held. The loop of the worker renews the
//!    lease while it works, so a lease fits work of any duration. If a process dies, its lease expires.
//! 5. An expired lease is a *lapse*: the work failed or its process died. After several lapses in a row the row waits
//!    longer, and finally it is parked.
//!
//! A queue is a table with the columns `lease_owner`, `leased_until`, `lapses`, `parked_at` and `parked_reason`,
//! declared by a [`Queue`]. This module does not depend on the meaning of the rows.

mod parked;
mod read;

use std::fmt::Display;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::pg::Pg;
use diesel::result::QueryResult;
use diesel::sqlite::Sqlite;
use kontor_kernel::StoreError;

use crate::database::{Abort, AnyConnection, Database};
use crate::statement::{Placed, Statement, Value};

pub use parked::Parked;
pub(crate) use parked::{count_parked, list_parked, release_parked};
pub(crate) use read::Leased;

/// Number of due rows to try, in case other workers lease some first.
const CANDIDATES: usize = 16;

/// Pause of a row after its lease has expired: lapses in a row below the first value get the second.
const LAPSE_PAUSES: [(u32, TimeDelta); 3] =
    [(6, TimeDelta::zero()), (9, TimeDelta::minutes(10)), (12, TimeDelta::hours(1))];

/// Pause after more lapses.
const MAX_LAPSE_PAUSE: TimeDelta = TimeDelta::hours(6);

/// Lapses in a row after which a row is parked. With the pauses between them they take more than a day.
const MAX_LAPSES: u32 = 17;

/// Number or text that identifies a row.
pub(crate) trait Key:
    Clone + PartialEq + Display + Into<Value> + Placed<Pg> + Placed<Sqlite> + Send + Sync + 'static
{
}

impl Key for i64 {}
impl Key for String {}

/// Table whose rows are leased.
#[derive(Debug)]
pub(crate) struct Queue {
    pub table: &'static str,
    /// Key column, a number or a text.
    pub key: &'static str,
    /// Column with the time from which a row is due; `None` if every open row is due.
    pub due: Option<&'static str>,
    /// SQL condition for rows that still need work. It is written out, not bound: the planner matches a partial index
    /// only by its text.
    pub open: &'static str,
    /// Further assignments when a row is parked, such as `, state = 'queued'`.
    pub on_park: &'static str,
}

/// Owner and duration of a lease.
#[derive(Debug, Clone)]
pub(crate) struct LeaseRequest {
    /// Unique name of a worker.
    pub owner: String,
    /// Current time, UTC.
    pub now: NaiveDateTime,
    /// End of the lease, UTC.
    pub until: NaiveDateTime,
    /// Maximum number of rows.
    pub most: usize,
}

impl LeaseRequest {
    pub fn new(owner: &str, now: DateTime<Utc>, until: DateTime<Utc>, most: usize) -> Self {
        Self { owner: owner.to_owned(), now: now.naive_utc(), until: until.naive_utc(), most }
    }
}

impl Queue {
    /// Returns the condition of a look and of the update: open, not parked, due, and without a running lease.
    pub fn free(&self, now: NaiveDateTime) -> Statement {
        let open = Statement::new(format!("{} AND parked_at IS NULL", self.open));
        let due = match self.due {
            Some(due) => open.sql(format!(" AND {due} <= ")).value(now),
            None => open,
        };
        let rested = LAPSE_PAUSES
            .iter()
            .fold(due.sql(" AND (leased_until IS NULL OR leased_until <= CASE"), |part, (lapses, rest)| {
                part.sql(format!(" WHEN lapses < {lapses} THEN ")).value(now - *rest)
            });
        rested.sql(" ELSE ").value(now - MAX_LAPSE_PAUSE).sql(" END)")
    }

    /// Selects the free rows, the longest due first.
    fn select_free(&self, now: NaiveDateTime, most: usize) -> Statement {
        let Self { table, key, .. } = self;
        let order = self.due.map_or_else(|| (*key).to_owned(), |due| format!("{due}, {key}"));
        Statement::new(format!("SELECT {key} FROM {table} WHERE "))
            .then(self.free(now))
            .sql(format!(" ORDER BY {order} LIMIT {most}"))
    }

    /// Leases those of the rows that are still free and returns their keys. `set` holds further assignments, such as
    /// `, tries = tries + 1`. Rows with too many lapses are parked instead.
    pub fn take<K: Key>(
        &self,
        connection: &mut AnyConnection,
        keys: &[K],
        request: &LeaseRequest,
        set: Statement,
    ) -> QueryResult<Vec<K>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let Self { table, key, .. } = self;
        let take = Statement::new(format!("UPDATE {table} SET lease_owner = "))
            .value(request.owner.as_str())
            .sql(", leased_until = ")
            .value(request.until)
            .sql(", lapses = CASE WHEN leased_until IS NULL THEN 0 ELSE lapses + 1 END")
            .then(set)
            .sql(format!(" WHERE {key} IN "))
            .tuple(keys.iter().cloned().map(Into::into))
            .sql(" AND ")
            .then(self.free(request.now))
            .sql(format!(" RETURNING {key}"));
        let mut taken: Vec<K> = take.scalars(connection)?;
        let lapsed = self.park_lapsed(connection, &taken, request)?;
        taken.retain(|key| !lapsed.contains(key));
        Ok(taken)
    }

    /// As [`Queue::take`], in several rounds until the requested number is leased.
    fn take_up_to<K: Key>(
        &self,
        connection: &mut AnyConnection,
        due: &[K],
        request: &LeaseRequest,
        set: &Statement,
    ) -> QueryResult<Vec<K>> {
        let (mut taken, mut rest) = (Vec::new(), due);
        while taken.len() < request.most && !rest.is_empty() {
            let (next, later) = rest.split_at((request.most - taken.len()).min(rest.len()));
            taken.extend(self.take(connection, next, request, set.clone())?);
            rest = later;
        }
        Ok(taken)
    }

    /// Extends the running leases of an owner to `until`; none is shortened. Returns the number of extended leases.
    pub fn renew(
        &self,
        connection: &mut AnyConnection,
        owner: &str,
        now: NaiveDateTime,
        until: NaiveDateTime,
    ) -> QueryResult<usize> {
        let Self { table, open, .. } = self;
        Statement::new(format!("UPDATE {table} SET leased_until = "))
            .value(until)
            .sql(format!(" WHERE {open} AND leased_until IS NOT NULL AND leased_until > "))
            .value(now)
            .sql(" AND leased_until < ")
            .value(until)
            .sql(" AND lease_owner = ")
            .value(owner)
            .run(connection)
    }

    /// Releases every lease of an owner. Returns their number.
    pub fn release(&self, connection: &mut AnyConnection, owner: &str) -> QueryResult<usize> {
        let Self { table, open, .. } = self;
        Statement::new(format!(
            "UPDATE {table} SET lease_owner = NULL, leased_until = NULL WHERE {open} AND leased_until IS NOT NULL \
             AND lease_owner = "
        ))
        .value(owner)
        .run(connection)
    }
}

impl Database {
    /// Leases the rows that are longest due, at most the requested number, and reads them. Rows that cannot be read are
    /// parked; others take their place.
    pub(crate) async fn lease_rows<K: Key, R, T>(
        &self,
        queue: &'static Queue,
        request: LeaseRequest,
        set: Statement,
        leased: Leased<K, R, T>,
    ) -> Result<Vec<T>, StoreError>
    where
        R: Send + 'static,
        T: Send + 'static,
    {
        loop {
            let (now, candidates) = (request.now, request.most.max(CANDIDATES));
            let due: Vec<K> = self
                .read(move |connection| {
                    Ok::<_, Abort<StoreError>>(queue.select_free(now, candidates).scalars(connection)?)
                })
                .await?;
            if due.is_empty() {
                return Ok(Vec::new());
            }
            let (mine, set) = (request.clone(), set.clone());
            let taken = self
                .write(move |connection| Ok::<_, Abort<StoreError>>(queue.take_up_to(connection, &due, &mine, &set)?))
                .await?;
            if taken.is_empty() {
                return Ok(Vec::new());
            }
            let read = self.read_leased(queue, &request, taken, leased).await?;
            if !read.is_empty() {
                return Ok(read);
            }
        }
    }
}
