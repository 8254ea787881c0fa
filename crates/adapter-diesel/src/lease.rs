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

use std::fmt::Display;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::pg::Pg;
use diesel::result::{Error as QueryError, QueryResult};
use diesel::sqlite::Sqlite;
use kontor_kernel::StoreError;

use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::statement::{Placed, Statement, Value, by_place};

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
    /// `true` if the rows belong to projects.
    pub of_projects: bool,
}

/// Condition that a row of this table is not left over from a move of its project to another database. Background work
/// skips such rows.
pub(crate) fn is_here(table: &str) -> String {
    format!("NOT EXISTS (SELECT 1 FROM project_moves m WHERE m.project_id = {table}.project_id AND m.state = 'moved')")
}

/// Selects the projects that were moved to another database, for statements that cannot contain [`is_here`].
pub(crate) fn moved_projects() -> Statement {
    Statement::new("SELECT project_id FROM project_moves WHERE state = 'moved'")
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
    /// Returns the condition for rows that still need work here.
    fn open_here(&self) -> String {
        if self.of_projects { format!("{} AND {}", self.open, is_here(self.table)) } else { self.open.to_owned() }
    }

    /// Returns the condition of a look and of the update: open, not parked, due, and without a running lease.
    pub fn free(&self, now: NaiveDateTime) -> Statement {
        let open = Statement::new(format!("{} AND parked_at IS NULL", self.open_here()));
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
        let (table, open) = (self.table, self.open_here());
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
        let (table, open) = (self.table, self.open_here());
        Statement::new(format!(
            "UPDATE {table} SET lease_owner = NULL, leased_until = NULL WHERE {open} AND leased_until IS NOT NULL \
             AND lease_owner = "
        ))
        .value(owner)
        .run(connection)
    }
}

impl Database {
    /// Leases the row that is longest due, and reads it. `set` is as in [`Queue::take`].
    pub(crate) async fn lease_row<K: Key, R, T>(
        &self,
        queue: &'static Queue,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
        set: Statement,
        leased: Leased<K, R, T>,
    ) -> Result<Option<T>, StoreError>
    where
        R: Send + 'static,
        T: Send + 'static,
    {
        Ok(self.lease_rows(queue, LeaseRequest::new(owner, at, until, 1), set, leased).await?.pop())
    }

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

/// Rows with their keys.
type Keyed<K, R> = Vec<(K, R)>;

/// Loads rows by their keys.
type Load<K, R> = fn(&mut AnyConnection, &[K]) -> QueryResult<Keyed<K, R>>;

/// Conversion of leased rows to work.
pub(crate) struct Leased<K, R, T> {
    /// Loads the rows with these keys, each with its key.
    pub load: Load<K, R>,
    /// Converts one row.
    pub read: fn(R) -> Result<T, StoreError>,
}

impl<K, R, T> Clone for Leased<K, R, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, R, T> Copy for Leased<K, R, T> {}

/// Loaded rows, and the reasons why the others could not be loaded.
struct Loaded<K, R> {
    rows: Vec<(K, R)>,
    unreadable: Vec<(K, String)>,
}

fn load<K: Key, R, T>(
    connection: &mut AnyConnection,
    keys: &[K],
    leased: Leased<K, R, T>,
) -> QueryResult<Loaded<K, R>> {
    let loaded = match (leased.load)(connection, keys) {
        // One of the rows has a malformed column. Loading them one by one finds it.
        Err(QueryError::DeserializationError(_)) => {
            let mut loaded = Loaded { rows: Vec::new(), unreadable: Vec::new() };
            for key in keys {
                match (leased.load)(connection, std::slice::from_ref(key)) {
                    Ok(rows) => loaded.rows.extend(rows),
                    Err(QueryError::DeserializationError(error)) => {
                        loaded.unreadable.push((key.clone(), error.to_string()));
                    }
                    Err(error) => return Err(error),
                }
            }
            loaded
        }
        rows => Loaded { rows: rows?, unreadable: Vec::new() },
    };
    let known = |key: &K| {
        loaded.rows.iter().any(|(known, _)| known == key) || loaded.unreadable.iter().any(|(known, _)| known == key)
    };
    let missing: Vec<(K, String)> = keys
        .iter()
        .filter(|key| !known(key))
        .map(|key| (key.clone(), "it refers to a missing record".to_owned()))
        .collect();
    Ok(Loaded { rows: loaded.rows, unreadable: loaded.unreadable.into_iter().chain(missing).collect() })
}

impl Queue {
    /// Parks rows, unless their lease has passed to another owner.
    fn park<K: Key>(&self, keys: &[K], reason: &str, request: &LeaseRequest) -> Statement {
        let Self { table, key: column, on_park, .. } = self;
        Statement::new(format!("UPDATE {table} SET parked_at = "))
            .value(request.now)
            .sql(", parked_reason = ")
            .value(reason)
            .sql(format!(", lease_owner = NULL, leased_until = NULL{on_park} WHERE {column} IN "))
            .tuple(keys.iter().cloned().map(Into::into))
            .sql(" AND parked_at IS NULL AND lease_owner = ")
            .value(request.owner.as_str())
    }

    /// Parks those of the leased rows that have too many lapses. Returns their keys.
    fn park_lapsed<K: Key>(
        &self,
        connection: &mut AnyConnection,
        leased: &[K],
        request: &LeaseRequest,
    ) -> QueryResult<Vec<K>> {
        if leased.is_empty() {
            return Ok(Vec::new());
        }
        let reason = format!("{}: the worker failed or died {MAX_LAPSES} times in a row", self.table);
        let parked =
            self.park(leased, &reason, request).sql(format!(" AND lapses >= {MAX_LAPSES} RETURNING {}", self.key));
        let parked: Vec<K> = parked.scalars(connection)?;
        if !parked.is_empty() {
            let rows = parked.len();
            tracing::error!(
                queue = self.table,
                rows,
                "rows of a queue failed too often and are parked; run `kontor doctor`"
            );
        }
        Ok(parked)
    }
}

impl Database {
    /// Reads rows that were leased by this request, in the order of `load`. Rows that cannot be read are parked, each
    /// with a reason that names table and key.
    pub(crate) async fn read_leased<K: Key, R, T>(
        &self,
        queue: &'static Queue,
        request: &LeaseRequest,
        keys: Vec<K>,
        leased: Leased<K, R, T>,
    ) -> Result<Vec<T>, StoreError>
    where
        R: Send + 'static,
        T: Send + 'static,
    {
        let loaded = self.read(move |connection| Ok::<_, Abort<StoreError>>(load(connection, &keys, leased)?)).await?;
        let mut read = Vec::new();
        let mut unreadable = loaded.unreadable;
        for (key, row) in loaded.rows {
            match (leased.read)(row) {
                Ok(work) => read.push(work),
                Err(error) => unreadable.push((key, error.to_string())),
            }
        }
        if !unreadable.is_empty() {
            let request = request.clone();
            let parked = self.write(move |connection| {
                let mut parked = 0;
                for (key, reason) in &unreadable {
                    let reason = format!("{} {key}: {reason}", queue.table);
                    parked += queue.park(std::slice::from_ref(key), &reason, &request).run(connection)?;
                }
                Ok::<_, Abort<StoreError>>(parked)
            });
            let rows = parked.await?;
            // The key may be a login, which must not appear in a log.
            tracing::error!(
                queue = queue.table,
                rows,
                "rows of a queue cannot be read and are parked; run `kontor doctor` to list them"
            );
        }
        Ok(read)
    }
}

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
