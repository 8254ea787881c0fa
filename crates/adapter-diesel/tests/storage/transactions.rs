//! Guarantees of a step: all or nothing, and a retry after a conflict.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use diesel::result::{DatabaseErrorKind, Error};
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Abort, AnyConnection, database_tests, retry_until, tests_with};
use kontor_kernel::StoreError;

use crate::fixtures::number;

#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    Full,
    Store(String),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    count: i64,
}

fn insert(connection: &mut AnyConnection) -> Result<(), Error> {
    connection.batch_execute(
        "INSERT INTO projects (name, currency, created_at) VALUES ('Trial', 'RUB', '2026-01-01 00:00:00')",
    )
}

async fn projects(db: &TestDatabase) -> i64 {
    db.database
        .read(|connection| {
            let row: Count = diesel::sql_query("SELECT count(*) AS count FROM projects").get_result(connection)?;
            Ok::<_, Abort<StoreError>>(row.count)
        })
        .await
        .unwrap()
}

database_tests! {
    async fn a_refused_step_leaves_nothing(db: TestDatabase) {
        let refused = db.database.write_and_invalidate_all(|connection| {
            insert(connection)?;
            Err::<(), _>(Abort::Refused(Refusal::Full))
        }).await;
        assert_eq!(refused, Err(Refusal::Full));
        assert_eq!(projects(&db).await, 0);
        db.database.write_and_invalidate_all(|connection| Ok::<_, Abort<Refusal>>(insert(connection)?)).await.unwrap();
        assert_eq!(projects(&db).await, 1);
    }

    async fn a_serialization_failure_runs_the_step_again(db: TestDatabase) {
        let calls = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&calls);
        db.database.write_and_invalidate_all(move |connection| {
            insert(connection)?;
            if seen.fetch_add(1, Ordering::SeqCst) < 2 {
                let information = Box::new("could not serialize access".to_owned());
                return Err(Error::DatabaseError(DatabaseErrorKind::SerializationFailure, information).into());
            }
            Ok::<_, Abort<Refusal>>(())
        }).await.unwrap();
        assert_eq!(calls.load(Ordering::SeqCst), 3);
        assert_eq!(projects(&db).await, 1);
    }

    async fn a_step_that_is_not_stored_in_time_leaves_nothing(db: TestDatabase) {
        let step = || db.database.write_and_invalidate_all(|connection| Ok::<_, Abort<StoreError>>(insert(connection)?));
        db.database.conflicts().set_delay(45);
        for refused in futures_util::future::join_all([step(), step(), step()]).await {
            assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        }
        assert_eq!(projects(&db).await, 0);
        db.database.conflicts().set_delay(10);
        step().await.unwrap();
        assert_eq!(projects(&db).await, 1);
    }

    /// A trigger reports the error of a full disk.
    async fn a_database_without_room_is_unavailable_and_nothing_is_stored(db: TestDatabase) {
        let make = match db.kind {
            Kind::Sqlite => "CREATE TRIGGER full BEFORE INSERT ON projects BEGIN \
                SELECT RAISE(ABORT, 'database or disk is full'); END",
            Kind::Postgres => "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                RAISE 'no room' USING ERRCODE = '53100', HINT = 'Check free disk space.'; END $$; \
                CREATE TRIGGER full_disk BEFORE INSERT ON projects FOR EACH ROW EXECUTE FUNCTION full_disk()",
        };
        let execute = |statement: &'static str| {
            db.database.write_and_invalidate_all(move |connection| Ok::<_, Abort<StoreError>>(connection.batch_execute(statement)?))
        };
        execute(make).await.unwrap();
        let refused = db.database.write_and_invalidate_all(|connection| Ok::<_, Abort<StoreError>>(insert(connection)?)).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert_eq!(projects(&db).await, 0);
        let wrong = execute("INSERT INTO projects (no_such_column) VALUES (1)").await;
        assert!(matches!(wrong, Err(StoreError::Failed(_))), "{wrong:?}");
    }

    async fn writers_queue_up(db: TestDatabase) {
        let tasks: Vec<_> = (0..24).map(|_| {
            let database = db.database.clone();
            tokio::spawn(async move { database.write_and_invalidate_all(|c| Ok::<_, Abort<Refusal>>(insert(c)?)).await })
        }).collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(projects(&db).await, 24);
    }
}

/// Rows behind a lock are read after the wait: the rows of a join would be those before it.
async fn a_statement_that_locks_rows_and_reads_others_is_refused() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let step =
        |sql: &'static str| db.database.write_and_invalidate_all(move |connection| Ok(connection.batch_execute(sql)?));
    let mixed = "SELECT p.id FROM projects p LEFT JOIN branches b ON b.project_id = p.id FOR NO KEY UPDATE OF p";
    let refused: Result<(), Refusal> = step(mixed).await;
    assert!(matches!(&refused, Err(Refusal::Store(why)) if why.contains("locks rows")), "{refused:?}");
    assert_eq!(step("SELECT id FROM projects FOR NO KEY UPDATE").await, Ok::<_, Refusal>(()));
}

const LOCKED: &str = "SELECT count(*) AS value FROM pg_locks l JOIN pg_class c ON c.oid = l.relation \
     JOIN pg_database d ON d.oid = l.database AND d.datname = current_database() \
     WHERE c.relname = 'brands' AND l.mode = 'AccessExclusiveLock' AND l.granted";

/// SQLSTATE codes that Diesel does not classify, and errors that are not caused by the step.
async fn a_server_without_room_memory_or_time_is_unavailable() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let fails = [
        (
            "53200",
            "DO $$ BEGIN RAISE 'no memory' USING ERRCODE = '53200', DETAIL = 'Failed on request of size 64.'; END $$",
        ),
        ("53400", "DO $$ BEGIN RAISE 'temporary files are too large' USING ERRCODE = '53400'; END $$"),
        ("58030", "DO $$ BEGIN RAISE 'could not read a block' USING ERRCODE = '58030'; END $$"),
        ("57014", "SET LOCAL statement_timeout = 50; SELECT pg_sleep(5)"),
        ("55P03", "SET LOCAL lock_timeout = 50; LOCK TABLE brands"),
    ];
    let held = db.database.clone();
    let holder = tokio::spawn(async move {
        let lock_table = |connection: &mut AnyConnection| {
            connection.batch_execute("LOCK TABLE brands; SELECT pg_sleep(4)").map_err(Abort::<StoreError>::Query)
        };
        held.write_and_invalidate_all(lock_table).await
    });
    let until = Instant::now() + Duration::from_secs(3);
    while number(&db, LOCKED).await == 0 {
        retry_until!(until, "the table is locked");
    }
    for (code, fails) in fails {
        let writes = db.database.write_and_invalidate_all(move |connection| {
            insert(connection)?;
            Ok::<_, Abort<StoreError>>(connection.batch_execute(fails)?)
        });
        let written = writes.await;
        assert!(matches!(written, Err(StoreError::Unavailable(_))), "{code}: {written:?}");
        let read = db.database.snapshot(move |connection| Ok::<_, Abort<StoreError>>(connection.batch_execute(fails)?));
        let read = read.await;
        assert!(matches!(read, Err(StoreError::Unavailable(_))), "{code}: {read:?}");
    }
    assert_eq!(projects(&db).await, 0);
    holder.await.unwrap().unwrap();
}

tests_with!(postgres:
    a_statement_that_locks_rows_and_reads_others_is_refused,
    a_server_without_room_memory_or_time_is_unavailable,
);
