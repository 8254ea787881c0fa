//! Deletion of expired rows, a few at a time.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use kontor_kernel::StoreError;

use crate::database::idempotency::last_expired_number;
use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::lease::is_here;
use crate::statement::{Statement, Value};

/// Maximum rows per transaction, which limits the wait of other writers.
pub const BATCH: usize = 500;

/// Retention of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retention {
    /// Until the time in its column.
    UntilTime,
    /// The configured time after it.
    ConfiguredAfter,
    /// An hour after it.
    HourAfter,
    /// 180 days after it.
    HalfYearAfter,
    /// As long as the idempotency key of its request; the number in the column contains the time of the request.
    WithIdempotencyKey,
}

/// Table that grows unless it is swept.
#[derive(Debug)]
pub struct SweptTable {
    /// Table name.
    pub table: &'static str,
    key: &'static str,
    /// Column with the time, or with a number derived from it; first column of an index.
    moment: &'static str,
    keep: Retention,
    /// Further condition, ` AND ...`.
    besides: &'static str,
    /// Table that the time and the condition refer to, if it is another one, and the column here that references it.
    owner: Option<(&'static str, &'static str)>,
}

const fn swept(
    table: &'static str,
    key: &'static str,
    moment: &'static str,
    keep: Retention,
    besides: &'static str,
) -> SweptTable {
    SweptTable { table, key, moment, keep, besides, owner: None }
}

/// All swept tables, in this order: referring rows come before the rows they refer to.
pub const SWEPT_TABLES: &[SweptTable] = &[
    // A live worker updates its row every few seconds.
    swept("workers", "name", "seen_at", Retention::HourAfter, ""),
    swept("access_tokens", "id", "expires_at", Retention::UntilTime, ""),
    swept("idempotency_keys", "number", "number", Retention::WithIdempotencyKey, ""),
    swept("idempotency_answers", "number", "number", Retention::WithIdempotencyKey, ""),
    swept("one_time_codes", "(project_id, contact)", "expires_at", Retention::UntilTime, ""),
    swept("phone_change_codes", "counterparty_id", "expires_at", Retention::UntilTime, ""),
    // A login of the employee from there renews it.
    swept("sign_in_addresses", "fingerprint", "seen_at", Retention::ConfiguredAfter, ""),
    swept("temporary_passwords", "user_id", "expires_at", Retention::UntilTime, ""),
    swept("notifications", "id", "created_at", Retention::HalfYearAfter, ""),
    // Admissions stay as long as their orders: they redeemed the tickets.
    swept("ticket_scans", "id", "created_at", Retention::HalfYearAfter, " AND outcome <> 'admitted'"),
    // A nonce stays used as long as its attempt is kept.
    swept("callback_attempts", "id", "expires_at", Retention::ConfiguredAfter, ""),
    swept("agent_access_requests", "id", "expires_at", Retention::ConfiguredAfter, ""),
    // Its project says how long it is kept.
    swept("agent_actions", "id", "keep_until", Retention::UntilTime, ""),
    swept("agent_usage", "(agent_id, day_end)", "day_end", Retention::UntilTime, ""),
    // A later activity starts a new session.
    swept("client_sessions", "id", "started_at", Retention::ConfiguredAfter, " AND last_seen_at <= :moment"),
    swept("webhook_deliveries", "id", "updated_at", Retention::ConfiguredAfter, " AND status <> 'pending'"),
    swept(
        "outbox_events",
        "id",
        "dispatched_at",
        Retention::ConfiguredAfter,
        " AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.outbox_event_id = outbox_events.id \
         AND d.project_id = outbox_events.project_id)",
    ),
    // The file is deleted first, then the error sheet, which may be long; nothing else depends on these.
    SweptTable {
        owner: Some(("jobs", "job_id")),
        ..swept("job_errors", "id", "finished_at", Retention::ConfiguredAfter, " AND file_place IS NULL")
    },
    swept(
        "jobs",
        "id",
        "finished_at",
        Retention::ConfiguredAfter,
        " AND file_place IS NULL AND NOT EXISTS (SELECT 1 FROM job_errors e WHERE e.job_id = jobs.id \
         AND e.project_id = jobs.project_id)",
    ),
    swept("exports", "id", "finished_at", Retention::ConfiguredAfter, " AND file_place IS NULL"),
];

/// Those whose rows belong to no project.
const WITHOUT_PROJECT: [&str; 4] = ["workers", "idempotency_keys", "idempotency_answers", "sign_in_addresses"];

impl SweptTable {
    /// Appends the condition for expired rows.
    fn guarded(&self, statement: Statement, now: DateTime<Utc>, retention: TimeDelta) -> Statement {
        let moment = |moment: DateTime<Utc>| Value::from(moment.naive_utc());
        let until = match self.keep {
            Retention::UntilTime => moment(now),
            Retention::ConfiguredAfter => moment(now.checked_sub_signed(retention).unwrap_or(DateTime::<Utc>::MIN_UTC)),
            Retention::HourAfter => moment(now - TimeDelta::hours(1)),
            Retention::HalfYearAfter => moment(now - TimeDelta::days(180)),
            Retention::WithIdempotencyKey => last_expired_number(now).into(),
        };
        let statement = statement.sql(self.moment).sql(" <= ").value(until.clone());
        let statement = match self.besides.split_once(":moment") {
            None => statement.sql(self.besides),
            Some((before, after)) => statement.sql(before).value(until).sql(after),
        };
        if WITHOUT_PROJECT.contains(&self.table) {
            return statement;
        }
        statement.sql(format!(" AND {}", is_here(self.table)))
    }

    /// `true` if an expired row exists.
    fn has_any(&self, connection: &mut AnyConnection, now: DateTime<Utc>, retention: TimeDelta) -> QueryResult<bool> {
        let table = self.table;
        let any = match self.owner {
            Some((owner, by)) => {
                format!("SELECT CAST(1 AS BIGINT) FROM {owner} JOIN {table} ON {table}.{by} = {owner}.id WHERE ")
            }
            None => format!("SELECT CAST(1 AS BIGINT) FROM {table} WHERE "),
        };
        self.guarded(Statement::new(any), now, retention).sql(" LIMIT 1").finds(connection)
    }

    /// Returns the statement that deletes a batch. The condition is both in the subquery and outside: between the two
    /// another process may have renewed the row.
    fn delete(&self, connection: &AnyConnection, now: DateTime<Utc>, retention: TimeDelta) -> Statement {
        // SQLite looks up rows by their number, and several columns only by the first of them.
        let key = if connection.is_postgres() { self.key } else { "rowid" };
        let Self { table, moment, .. } = *self;
        let guarded = |statement: Statement| self.guarded(statement, now, retention);
        if let Some((owner, by)) = self.owner {
            // A finished job stays finished, so the condition is needed only once.
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
    /// Deletes up to [`BATCH`] expired rows of a swept table. Returns their number; fewer than a batch means that none
    /// are left. Any number of processes may sweep at the same time.
    pub async fn sweep(
        &self,
        swept: &'static SweptTable,
        now: DateTime<Utc>,
        retention: TimeDelta,
    ) -> Result<usize, StoreError> {
        // Usually there are none, and this check takes no lock.
        let any = self.read(move |connection| Ok::<_, Abort<StoreError>>(swept.has_any(connection, now, retention)?));
        if !any.await? {
            return Ok(0);
        }
        self.write_long(move |connection| {
            // A cached token includes its expiry.
            connection.declare_unchanged(Topic::Access);
            let delete = swept.delete(connection, now, retention);
            Ok::<_, Abort<StoreError>>(delete.execute(connection)?)
        })
        .await
    }
}
