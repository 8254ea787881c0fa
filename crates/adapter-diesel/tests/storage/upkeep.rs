//! Swept and kept rows.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::upkeep::{BATCH, SWEPT_TABLES, SweptTable};
use kontor_adapter_diesel::{Database, database_tests};

use crate::auth::people;
use crate::fixtures;

fn swept(table: &str) -> &'static SweptTable {
    SWEPT_TABLES.iter().find(|swept| swept.table == table).unwrap()
}

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn now() -> DateTime<Utc> {
    "2026-06-30T12:00:00Z".parse().unwrap()
}

async fn sweep(database: &Database, table: &str) -> usize {
    database.sweep(swept(table), now(), TimeDelta::days(30)).await.unwrap()
}

async fn left(db: &TestDatabase, statement: &'static str) -> i64 {
    fixtures::number(db, statement).await
}

database_tests! {
    async fn workers_that_died_go_and_who_lives_stays(db: TestDatabase) {
        for (name, minutes) in [("dead", 60), ("late", 59), ("alive", 0)] {
            db.database.record_heartbeat(name, now() - TimeDelta::minutes(minutes)).await.unwrap();
        }
        assert_eq!(sweep(&db.database, "workers").await, 1);
        assert_eq!(left(&db, "SELECT COUNT(*) AS value FROM workers WHERE name = 'dead'").await, 0);
        assert_eq!(left(&db, "SELECT COUNT(*) AS value FROM workers").await, 2);
    }

    async fn looking_for_expired_rows_is_no_write(db: TestDatabase) {
        people(&db).await;
        let before = db.database.writes();
        for swept in SWEPT_TABLES {
            assert_eq!(db.database.sweep(swept, START, TimeDelta::days(30)).await.unwrap(), 0, "{}", swept.table);
        }
        assert_eq!(db.database.writes(), before);
    }

    async fn expired_tokens_and_codes_go(db: TestDatabase) {
        people(&db).await;
        fixtures::run(&db, "
            UPDATE access_tokens SET expires_at = '2026-06-30 12:00:01' WHERE id = 2;
            INSERT INTO one_time_codes
                (project_id, contact, fingerprint, attempts_left, expires_at, consumed_at, created_at) VALUES
                (1, 'a', 'f', 5, '2026-06-30 12:00:00', NULL, '2026-06-30 11:55:00'),
                (1, 'b', 'f', 5, '2026-06-30 11:56:00', '2026-06-30 11:52:00', '2026-06-30 11:51:00'),
                (1, 'c', 'f', 5, '2026-06-30 12:04:00', '2026-06-30 11:59:30', '2026-06-30 11:59:00');".to_owned()).await;
        assert_eq!(sweep(&db.database, "access_tokens").await, 2);
        assert_eq!(left(&db, "SELECT MAX(id) AS value FROM access_tokens").await, 2);
        assert_eq!(sweep(&db.database, "one_time_codes").await, 2);
        assert_eq!(left(&db, "SELECT COUNT(*) AS value FROM one_time_codes WHERE contact = 'c'").await, 1);
        assert_eq!(sweep(&db.database, "one_time_codes").await, 0);
    }

    async fn sessions_that_ended_long_ago_go(db: TestDatabase) {
        people(&db).await;
        fixtures::run(&db, "
            INSERT INTO client_sessions (id, project_id, application_id, counterparty_id, token_id, status, started_at,
                last_seen_at, duration_micros, closed_at) VALUES
                (1, 1, 1, 1, 1, 'closed', '2026-05-31 10:00:00', '2026-05-31 12:00:00', 1, '2026-05-31 12:00:00'),
                (2, 1, 1, 1, 2, 'active', '2026-05-01 10:00:00', '2026-05-01 10:00:00', 1, NULL),
                (3, 1, 1, 1, 3, 'active', '2026-05-01 10:00:00', '2026-06-30 11:59:00', 1, NULL),
                (4, 1, 1, 1, 3, 'closed', '2026-06-01 10:00:00', '2026-06-01 10:00:00', 1, '2026-06-01 10:00:00');
            ".to_owned()).await;
        assert_eq!(sweep(&db.database, "client_sessions").await, 2);
        assert_eq!(left(&db, "SELECT MIN(id) AS value FROM client_sessions").await, 3);
    }

    async fn events_go_after_their_deliveries(db: TestDatabase) {
        people(&db).await;
        let (old, young) = ("'2026-05-01 00:00:00'", "'2026-06-29 00:00:00'");
        fixtures::run(&db, format!("
            INSERT INTO outbox_events
                (id, event_id, project_id, application_id, topic, payload, created_at, dispatched_at) VALUES
                (1, 'e1', 1, 1, 'order.paid', '{{}}', {old}, {old}),
                (2, 'e2', 1, 1, 'order.paid', '{{}}', {old}, {old}),
                (3, 'e3', 1, 1, 'order.paid', '{{}}', {old}, {young}),
                (4, 'e4', 1, 1, 'order.paid', '{{}}', {old}, NULL),
                (5, 'e5', 1, 1, 'order.paid', '{{}}', {old}, {old});
            INSERT INTO webhooks (id, project_id, application_id, url, sealed_secret, is_active, created_at, updated_at)
                VALUES (1, 1, 1, 'u', 's', TRUE, {old}, {old});
            INSERT INTO webhook_deliveries (id, delivery_id, project_id, webhook_id, outbox_event_id, status, attempts,
                next_attempt_at, created_at, updated_at) VALUES
                (1, 'd1', 1, 1, 1, 'delivered', 1, NULL, {old}, {old}),
                (2, 'd2', 1, 1, 2, 'pending', 1, {old}, {old}, {old}),
                (3, 'd3', 1, 1, 3, 'failed', 6, NULL, {old}, {young}),
                (5, 'd5', 1, 1, 5, 'failed', 6, NULL, {old}, {old});")).await;
        assert_eq!(sweep(&db.database, "outbox_events").await, 0);
        assert_eq!(sweep(&db.database, "webhook_deliveries").await, 2);
        assert_eq!(sweep(&db.database, "outbox_events").await, 2);
        assert_eq!(left(&db, "SELECT CAST(SUM(id) AS BIGINT) AS value FROM webhook_deliveries").await, 5);
        assert_eq!(left(&db, "SELECT COUNT(*) AS value FROM outbox_events WHERE id IN (2, 3, 4)").await, 3);
    }

    async fn a_long_error_sheet_goes_before_its_job_a_few_rows_at_a_time(db: TestDatabase) {
        people(&db).await;
        let (old, young) = ("'2026-05-01 00:00:00'", "'2026-06-29 00:00:00'");
        let job = |id: i64, place: &str, end: &str| format!(
            "INSERT INTO jobs (id, project_id, kind, state, phase, dry_run, partial, file_place, file_bytes, done_rows, checkpoint, \
             created_count, updated_count, unchanged_count, skipped_count, problems_count, ignored_columns, tries, created_at, \
             finished_at) VALUES ({id}, 1, 'nomenclatures_import', 'failed', 'checking', FALSE, FALSE, {place}, 1, 0, 0, 0, 0, 0, 0, \
             0, '[]', 0, {old}, {end});"
        );
        let errors = |job: i64, count: usize| format!(
            "INSERT INTO job_errors (project_id, job_id, row_number, column_name, reason) \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT 1, {job}, i, 'c', 'r' FROM n;"
        );
        let jobs = [job(1, "NULL", old), job(2, "NULL", young), job(3, "'kept'", old), job(4, "NULL", old)].concat();
        let sheets = [errors(1, 2 * BATCH + 7), errors(2, 5), errors(3, 5)].concat();
        fixtures::run(&db, jobs + &sheets).await;
        assert_eq!(sweep(&db.database, "jobs").await, 1, "the one without an error sheet");
        for batch in [BATCH, BATCH, 7, 0] {
            assert_eq!(sweep(&db.database, "job_errors").await, batch);
        }
        assert_eq!(sweep(&db.database, "jobs").await, 1);
        assert_eq!(left(&db, "SELECT COUNT(*) AS value FROM job_errors WHERE job_id IN (2, 3)").await, 10);
        assert_eq!(left(&db, "SELECT CAST(SUM(id) AS BIGINT) AS value FROM jobs").await, 5);
    }

    async fn several_sweepers_do_no_harm(db: TestDatabase) {
        people(&db).await;
        let rows: Vec<String> = (0..3 * BATCH)
            .map(|number| format!("(1, 'c{number}', 'f', 5, '2026-06-30 11:56:00', NULL, '2026-06-30 11:51:00')"))
            .chain(["(1, 'fresh', 'f', 5, '2026-06-30 12:04:00', NULL, '2026-06-30 11:59:00')".to_owned()])
            .collect();
        fixtures::run(&db, format!(
            "INSERT INTO one_time_codes
                (project_id, contact, fingerprint, attempts_left, expires_at, consumed_at, created_at) VALUES {};",
            rows.join(", ")
        )).await;
        let sweepers = (0..4).map(|_| {
            let database = db.database.clone();
            tokio::spawn(async move { sweep(&database, "one_time_codes").await })
        });
        let mut swept = 0;
        for sweeper in sweepers.collect::<Vec<_>>() {
            let batch = sweeper.await.unwrap();
            assert!(batch <= BATCH, "{batch}");
            swept += batch;
        }
        loop {
            match sweep(&db.database, "one_time_codes").await {
                0 => break,
                batch => swept += batch,
            }
        }
        assert_eq!(swept, 3 * BATCH);
        assert_eq!(left(&db, "SELECT COUNT(*) AS value FROM one_time_codes").await, 1);
    }
}
