//! Leases: how rows of a queue are worked on by any number of processes, each row by one of them at a time.
//!
//! 1. **Look** for due rows. This reads; an idle worker takes no write lock.
//! 2. **Lease** them by a conditional update that names the owner and the end of the lease. Of several that try, one gets
//!    the row.
//! 3. **Read** what is to be done, after the lease is committed. A row that cannot be read is *parked* with the reason:
//!    it is no longer due, the others go on, and an operator releases it once it is mended.
//! 4. Work, and write the outcome on the condition that the lease is still held. The worker's loop renews the lease while a
//!    step runs, so it fits any work. A process that dies leaves a lease that runs out.
//! 5. A lease that runs out is a *lapse*: the work failed or its process died. Lapses in a row make the row wait for longer,
//!    then it is parked.
//!
//! A queue is a table with the columns `lease_owner`, `leased_until`, `lapses`, `parked_at` and `parked_reason`, declared by a
//! [`Queue`]. Nothing here knows what the rows mean.

mod key;
mod parked;
mod read;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::result::QueryResult;
use kontor_kernel::StoreError;

use crate::database::{Abort, AnyConnection, Database};
use crate::statement::Statement;

pub(crate) use key::Key;
pub use parked::Parked;
pub(crate) use parked::{count_parked, list_parked, release_parked};
pub(crate) use read::Leased;

/// How many due rows are tried when others are faster.
const CANDIDATES: usize = 16;

/// How long a row rests after its lease has run out, by the lapses in a row before: up to so many, the pause.
const RESTS: [(u32, TimeDelta); 3] = [(6, TimeDelta::zero()), (9, TimeDelta::minutes(10)), (12, TimeDelta::hours(1))];

/// The rest after more lapses.
const LONGEST_REST: TimeDelta = TimeDelta::hours(6);

/// Lapses in a row after which a row is parked. With the rests between them they take more than a day.
const MOST_LAPSES: u32 = 17;

/// A table whose rows are leased.
#[derive(Debug)]
pub(crate) struct Queue {
    /// The table.
    pub table: &'static str,
    /// The column that names a row, a number or a text.
    pub key: &'static str,
    /// The column with the moment from which a row is due; `None` when rows that are open are due.
    pub due: Option<&'static str>,
    /// Which rows are still to be worked on, as SQL. Written out, not bound: a planner recognizes a partial index only by
    /// its words.
    pub open: &'static str,
    /// What else is set when a row is parked, such as `, state = 'queued'`.
    pub on_park: &'static str,
}

/// Who leases, and for how long.
#[derive(Debug, Clone)]
pub(crate) struct LeaseRequest {
    /// Names a worker, unlike all others.
    pub owner: String,
    /// Now.
    pub now: NaiveDateTime,
    /// When others may take over.
    pub until: NaiveDateTime,
    /// How many rows at most.
    pub most: usize,
}

impl LeaseRequest {
    pub fn new(owner: &str, now: DateTime<Utc>, until: DateTime<Utc>, most: usize) -> Self {
        Self { owner: owner.to_owned(), now: now.naive_utc(), until: until.naive_utc(), most }
    }
}

impl Queue {
    /// Open, not parked, due, and on no running lease: the condition of a look and, again, of the update.
    pub fn free(&self, now: NaiveDateTime) -> Statement {
        let open = Statement::new(format!("{} AND parked_at IS NULL", self.open));
        let due = match self.due {
            Some(due) => open.sql(format!(" AND {due} <= ")).value(now),
            None => open,
        };
        let rested =
            RESTS.iter().fold(due.sql(" AND (leased_until IS NULL OR leased_until <= CASE"), |part, (lapses, rest)| {
                part.sql(format!(" WHEN lapses < {lapses} THEN ")).value(now - *rest)
            });
        rested.sql(" ELSE ").value(now - LONGEST_REST).sql(" END)")
    }

    /// The rows that are free, the longest due first.
    fn look(&self, now: NaiveDateTime, most: usize) -> Statement {
        let Self { table, key, .. } = self;
        let order = self.due.map_or_else(|| (*key).to_owned(), |due| format!("{due}, {key}"));
        Statement::new(format!("SELECT {key} FROM {table} WHERE "))
            .then(self.free(now))
            .sql(format!(" ORDER BY {order} LIMIT {most}"))
    }

    /// Leases those of the rows that are still free and returns their keys. `set` is set besides, such as
    /// `, tries = tries + 1`. Rows whose leases ran out too often are parked instead.
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
        let mut taken = K::rows(take, connection)?;
        let lapsed = self.park_lapsed(connection, &taken, request)?;
        taken.retain(|key| !lapsed.contains(key));
        Ok(taken)
    }

    /// As [`Queue::take`], a few at a time until there are as many as are asked for.
    fn take_some<K: Key>(
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

    /// Lengthens the running leases of an owner to `until`; none becomes shorter. Returns how many were lengthened.
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

    /// Gives every lease of an owner back. Returns how many there were.
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
    /// Leases the rows that are longest due, at most as many as are asked for, and reads them. Rows that cannot be read
    /// are parked; others take their place.
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
                .read(move |connection| Ok::<_, Abort<StoreError>>(K::rows(queue.look(now, candidates), connection)?))
                .await?;
            if due.is_empty() {
                return Ok(Vec::new());
            }
            let (mine, set) = (request.clone(), set.clone());
            let taken = self
                .write(move |connection| Ok::<_, Abort<StoreError>>(queue.take_some(connection, &due, &mine, &set)?))
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
