//! Rows that have had their time, deleted a few at a time.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use kontor_kernel::StoreError;

use crate::database::idempotency::last_over;
use crate::database::invalidation::{Topic, leave_valid};
use crate::database::{Abort, AnyConnection, Database};
use crate::statement::{Statement, Value, by_place};

/// As many rows go in one transaction: other writers wait no longer than for these.
pub const BATCH: usize = 500;

/// When a row has had its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// At the moment that stands in it.
    UntilThen,
    /// The configured time after it.
    Afterwards,
    /// An hour after it.
    AnHour,
    /// 180 days after it.
    HalfAYear,
    /// With the key of its request; the number that counts tells when that came.
    WithItsKey,
}

/// A table that grows unless it is swept.
#[derive(Debug)]
pub struct SweptTable {
    /// The table.
    pub table: &'static str,
    key: &'static str,
    /// The moment that counts, or a number that follows from it; it leads an index.
    moment: &'static str,
    keep: Keep,
    /// What must hold besides, ` AND ...`.
    besides: &'static str,
    /// Whose moment it is and of whom the rest must hold: another table, and the column here that names its rows.
    owner: Option<(&'static str, &'static str)>,
}

const fn swept(
    table: &'static str,
    key: &'static str,
    moment: &'static str,
    keep: Keep,
    besides: &'static str,
) -> SweptTable {
    SweptTable { table, key, moment, keep, besides, owner: None }
}

/// Everything that is swept, in this order: what refers to other rows comes before them.
pub const SWEPT_TABLES: &[SweptTable] = &[
    // A worker that lives is seen every few seconds.
    swept("workers", "name", "seen_at", Keep::AnHour, ""),
    swept("access_tokens", "id", "expires_at", Keep::UntilThen, ""),
    swept("idempotency_keys", "id", "expires_at", Keep::UntilThen, ""),
    swept("idempotency_answers", "number", "number", Keep::WithItsKey, ""),
    swept("one_time_codes", "(project_id, contact)", "expires_at", Keep::UntilThen, ""),
    swept("phone_change_codes", "counterparty_id", "expires_at", Keep::UntilThen, ""),
    // An employee who signs in there again renews it.
    swept("sign_in_addresses", "fingerprint", "seen_at", Keep::Afterwards, ""),
    swept("temporary_passwords", "user_id", "expires_at", Keep::UntilThen, ""),
    swept("notifications", "id", "created_at", Keep::HalfAYear, ""),
    // Entries stay with their orders: they are what their tickets were redeemed by.
    swept("ticket_scans", "id", "created_at", Keep::HalfAYear, " AND outcome <> 'admitted'"),
    // A nonce stays used for as long as its attempt is kept.
    swept("callback_attempts", "id", "expires_at", Keep::Afterwards, ""),
    swept("agent_access_requests", "id", "expires_at", Keep::Afterwards, ""),
    // Whoever gives a sign of life afterwards starts a new session.
    swept("client_sessions", "id", "started_at", Keep::Afterwards, " AND last_seen_at <= :moment"),
    swept("webhook_deliveries", "id", "updated_at", Keep::Afterwards, " AND status <> 'pending'"),
    swept(
        "outbox_events",
        "id",
        "dispatched_at",
        Keep::Afterwards,
        " AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.outbox_event_id = outbox_events.id)",
    ),
    // The file goes first, then the error sheet, which may be long: nothing else waits for these.
    SweptTable {
        owner: Some(("jobs", "job_id")),
        ..swept("job_errors", "id", "finished_at", Keep::Afterwards, " AND file_place IS NULL")
    },
    swept(
        "jobs",
        "id",
        "finished_at",
        Keep::Afterwards,
        " AND file_place IS NULL AND NOT EXISTS (SELECT 1 FROM job_errors e WHERE e.job_id = jobs.id)",
    ),
    swept("exports", "id", "finished_at", Keep::Afterwards, " AND file_place IS NULL"),
];

by_place! {
    struct OneRow {
        _one: i64 as BigInt,
    }
}

impl SweptTable {
    /// Goes on with what makes a row one that has had its time.
    fn guarded(&self, statement: Statement, now: DateTime<Utc>, retention: TimeDelta) -> Statement {
        let moment = |moment: DateTime<Utc>| Value::from(moment.naive_utc());
        let until = match self.keep {
            Keep::UntilThen => moment(now),
            Keep::Afterwards => moment(now.checked_sub_signed(retention).unwrap_or(DateTime::<Utc>::MIN_UTC)),
            Keep::AnHour => moment(now - TimeDelta::hours(1)),
            Keep::HalfAYear => moment(now - TimeDelta::days(180)),
            Keep::WithItsKey => last_over(now).into(),
        };
        let statement = statement.sql(self.moment).sql(" <= ").value(until.clone());
        match self.besides.split_once(":moment") {
            None => statement.sql(self.besides),
            Some((before, after)) => statement.sql(before).value(until).sql(after),
        }
    }

    /// Whether a row has had its time.
    fn has_any(&self, connection: &mut AnyConnection, now: DateTime<Utc>, retention: TimeDelta) -> QueryResult<bool> {
        let table = self.table;
        let any = match self.owner {
            Some((owner, by)) => {
                format!("SELECT CAST(1 AS BIGINT) FROM {owner} JOIN {table} ON {table}.{by} = {owner}.id WHERE ")
            }
            None => format!("SELECT CAST(1 AS BIGINT) FROM {table} WHERE "),
        };
        let any: Vec<OneRow> = self.guarded(Statement::new(any), now, retention).sql(" LIMIT 1").rows(connection)?;
        Ok(!any.is_empty())
    }

    /// The guard stands inside and outside: between the two another process may have renewed the row.
    fn delete(&self, connection: &AnyConnection, now: DateTime<Utc>, retention: TimeDelta) -> Statement {
        // SQLite looks rows up by their number, and several columns by the first of them alone.
        let key = if connection.is_postgres() { self.key } else { "rowid" };
        let Self { table, moment, .. } = *self;
        let guarded = |statement: Statement| self.guarded(statement, now, retention);
        if let Some((owner, by)) = self.owner {
            // What is over stays over: the guard once is enough.
            let some = format!(
                "DELETE FROM {table} WHERE id IN (SELECT {table}.id FROM {owner} JOIN {table} ON {table}.{by} = {owner}.id WHERE "
            );
            return guarded(Statement::new(some)).sql(format!(" ORDER BY {moment} LIMIT {BATCH})"));
        }
        let delete = guarded(Statement::new(format!("DELETE FROM {table} WHERE ")));
        let columns = key.trim_matches(['(', ')']);
        let some = guarded(delete.sql(format!(" AND {key} IN (SELECT {columns} FROM {table} WHERE ")));
        some.sql(format!(" ORDER BY {moment} LIMIT {BATCH})"))
    }
}

impl Database {
    /// Deletes up to [`BATCH`] rows of a swept table that have had their time. Returns how many; fewer than a batch means that
    /// no more are left. Any number of processes may sweep at the same time.
    pub async fn sweep(
        &self,
        swept: &'static SweptTable,
        now: DateTime<Utc>,
        retention: TimeDelta,
    ) -> Result<usize, StoreError> {
        // Most often there are none, and a worker that looks takes no lock then.
        let any = self.read(move |connection| Ok::<_, Abort<StoreError>>(swept.has_any(connection, now, retention)?));
        if !any.await? {
            return Ok(0);
        }
        self.write_long(move |connection| {
            // Whoever remembers a token knows when it expires.
            leave_valid(Topic::Access);
            let delete = swept.delete(connection, now, retention);
            Ok::<_, Abort<StoreError>>(delete.execute(connection)?)
        })
        .await
    }
}
