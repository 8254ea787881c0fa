//! Steps that share a commit on SQLite end as they would one after the other.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Text};
use futures_util::future::join_all;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Abort, AnyConnection, Database};
use kontor_kernel::StoreError;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tokio::sync::Notify;

/// Operations on a shelf of numbered places, each of which holds units.
#[derive(Debug, Clone, Copy)]
enum TestOperation {
    /// Creates a place; refused when it exists.
    Make(i64),
    /// Takes units; refused when there are not enough.
    Take(i64, i64),
    /// Adds units and is refused for another reason.
    PutAndRefuse(i64),
    /// Adds units and violates a constraint of the table.
    PutAndBreak(i64),
    /// Adds units and leaves an invalid reference, which is detected at the commit.
    PutAndDangle(i64),
    /// Adds units and panics.
    PutAndPanic(i64),
    /// Empties a place in a savepoint that is rolled back, and adds a unit.
    PutAfterAll(i64),
}

#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    Taken,
    NotEnough(i64),
    Other,
    Store(String),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(Debug, diesel::QueryableByName, PartialEq, Eq)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

fn put(connection: &mut AnyConnection, place: i64, pieces: i64) -> Result<usize, Abort<Refusal>> {
    Ok(diesel::sql_query(format!("UPDATE shelf SET pieces = pieces + {pieces} WHERE place = {place}"))
        .execute(connection)?)
}

fn pieces(connection: &mut AnyConnection, place: i64) -> Result<i64, Abort<Refusal>> {
    let rows: Vec<Number> =
        diesel::sql_query(format!("SELECT pieces AS number FROM shelf WHERE place = {place}")).load(connection)?;
    Ok(rows.first().map_or(0, |row| row.number))
}

/// Runs the operation, writes it to the log, and returns the units of the place.
fn carry_out(connection: &mut AnyConnection, operation: TestOperation) -> Result<i64, Abort<Refusal>> {
    let place = match operation {
        TestOperation::Make(place) => {
            let made = diesel::sql_query(format!("INSERT INTO shelf VALUES ({place}, 5) ON CONFLICT DO NOTHING"))
                .execute(connection)?;
            if made == 0 {
                return Err(Abort::Refused(Refusal::Taken));
            }
            place
        }
        TestOperation::Take(place, count) => {
            let guarded =
                format!("UPDATE shelf SET pieces = pieces - {count} WHERE place = {place} AND pieces >= {count}");
            if diesel::sql_query(guarded).execute(connection)? == 0 {
                return Err(Abort::Refused(Refusal::NotEnough(pieces(connection, place)?)));
            }
            place
        }
        TestOperation::PutAndRefuse(place) => {
            put(connection, place, 7)?;
            return Err(Abort::Refused(Refusal::Other));
        }
        TestOperation::PutAndBreak(place) => {
            put(connection, place, 7)?;
            diesel::sql_query("INSERT INTO shelf VALUES (0, -1)").execute(connection)?;
            place
        }
        TestOperation::PutAndDangle(place) => {
            put(connection, place, 7)?;
            connection.batch_execute("PRAGMA defer_foreign_keys = ON; INSERT INTO labels VALUES (999)")?;
            place
        }
        TestOperation::PutAndPanic(place) => {
            put(connection, place, 7)?;
            panic!("on purpose");
        }
        TestOperation::PutAfterAll(place) => {
            let inner: Result<(), diesel::result::Error> = diesel::Connection::transaction(connection, |connection| {
                connection.batch_execute(&format!("UPDATE shelf SET pieces = 0 WHERE place = {place}"))?;
                Err(diesel::result::Error::RollbackTransaction)
            });
            assert!(inner.is_err());
            put(connection, place, 1)?;
            place
        }
    };
    let left = pieces(connection, place)?;
    diesel::sql_query(format!("INSERT INTO shelf_log (line) VALUES ('{operation:?} leaves {left}')"))
        .execute(connection)?;
    Ok(left)
}

async fn shelf() -> TestDatabase {
    let db = TestDatabase::fresh(Kind::Sqlite);
    let tables = "CREATE TABLE shelf (place INTEGER PRIMARY KEY, pieces INTEGER NOT NULL CHECK (pieces >= 0)); \
                  CREATE TABLE labels (place INTEGER NOT NULL REFERENCES shelf (place)); \
                  CREATE TABLE shelf_log (id INTEGER PRIMARY KEY, line TEXT NOT NULL);";
    db.database
        .write_and_invalidate_all(|connection| Ok::<_, Abort<Refusal>>(connection.batch_execute(tables)?))
        .await
        .unwrap();
    db
}

fn run(database: &Database, operation: TestOperation) -> impl Future<Output = Result<i64, Refusal>> + use<'_> {
    database.write(move |connection| carry_out(connection, operation))
}

/// All stored rows.
async fn stored(db: &TestDatabase) -> Vec<Line> {
    let all = "SELECT line FROM (SELECT 0 AS part, id, line FROM shelf_log UNION ALL \
               SELECT 1, place, place || ' holds ' || pieces FROM shelf UNION ALL SELECT 2, place, 'label' FROM labels) ORDER BY part, id";
    let read =
        db.database.read(move |connection| Ok::<_, Abort<Refusal>>(diesel::sql_query(all).load::<Line>(connection)?));
    read.await.unwrap()
}

fn hold_up() {
    std::thread::sleep(Duration::from_millis(15));
}

/// Keeps the writer busy, so that the following requests wait together.
async fn keep_busy(database: &Database) {
    let busy = |_: &mut AnyConnection| -> Result<(), Abort<Refusal>> {
        hold_up();
        Ok(())
    };
    database.write(busy).await.unwrap();
}

/// Outcomes of concurrent operations, and the number of their commits.
async fn together(db: &TestDatabase, operations: &[TestOperation]) -> (Vec<Result<i64, Refusal>>, u64) {
    let before = db.database.write_costs().commits;
    let (outcomes, ()) = futures_util::join!(
        join_all(operations.iter().map(|operation| run(&db.database, *operation))),
        keep_busy(&db.database)
    );
    (outcomes, db.database.write_costs().commits - before)
}

async fn one_by_one(db: &TestDatabase, operations: &[TestOperation]) -> Vec<Result<i64, Refusal>> {
    let mut outcomes = Vec::new();
    for operation in operations {
        outcomes.push(run(&db.database, *operation).await);
    }
    outcomes
}

fn operations() -> impl Strategy<Value = Vec<TestOperation>> {
    let place = 1..4_i64;
    let operation = prop_oneof![
        3 => place.clone().prop_map(TestOperation::Make),
        6 => (place.clone(), 1..4_i64).prop_map(|(place, count)| TestOperation::Take(place, count)),
        2 => place.clone().prop_map(TestOperation::PutAndRefuse),
        2 => place.clone().prop_map(TestOperation::PutAndBreak),
        2 => place.clone().prop_map(TestOperation::PutAfterAll),
    ];
    // Operations that spoil a whole group are rare, or no group is ever committed.
    let spoiler = prop_oneof![8 => Just(None), 1 => place.clone().prop_map(|place| Some(TestOperation::PutAndDangle(place))), 1 => place.prop_map(|place| Some(TestOperation::PutAndPanic(place)))];
    (prop::collection::vec(operation, 1..40), spoiler, any::<prop::sample::Index>()).prop_map(
        |(mut operations, spoiler, at)| {
            if let Some(spoiler) = spoiler {
                operations.insert(at.index(operations.len()), spoiler);
            }
            operations
        },
    )
}

#[test]
fn steps_that_share_commits_end_as_one_by_one() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&operations(), |operations| {
        runtime.block_on(async {
            let (grouped, alone) = (shelf().await, shelf().await);
            let (outcomes, _) = together(&grouped, &operations).await;
            // A panic has another message if the step ran alone.
            let reported = |outcome: Result<i64, Refusal>| outcome.map_err(|refusal| format!("{refusal:?}"));
            let outcomes: Vec<_> = outcomes.into_iter().map(reported).collect();
            let expected: Vec<_> = one_by_one(&alone, &operations).await.into_iter().map(reported).collect();
            prop_assert_eq!(outcomes, expected);
            prop_assert_eq!(stored(&grouped).await, stored(&alone).await);
            Ok(())
        })
    });
    outcome.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_operations_share_a_commit() {
    let db = shelf().await;
    run(&db.database, TestOperation::Make(1)).await.unwrap();
    let operations: Vec<_> = (0..60)
        .map(|number| if number % 3 == 2 { TestOperation::PutAndRefuse(1) } else { TestOperation::PutAfterAll(1) })
        .collect();
    keep_busy(&db.database).await;
    let before = db.database.write_costs().commits;
    let begun = Arc::new(Notify::new());
    let busy = tokio::spawn({
        let (database, reported) = (db.database.clone(), Arc::clone(&begun));
        async move {
            let busy = move |_: &mut AnyConnection| -> Result<(), Abort<Refusal>> {
                reported.notify_one();
                hold_up();
                Ok(())
            };
            database.write(busy).await.unwrap();
        }
    });
    begun.notified().await;
    let outcomes = join_all(operations.iter().map(|operation| run(&db.database, *operation))).await;
    busy.await.unwrap();
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 40);
    let commits = db.database.write_costs().commits - before;
    // One commit for the busy writer; a slow machine may split the others into a few.
    assert!(commits <= 12, "{commits} commits");
    assert_eq!(stored(&db).await.last(), Some(&Line { line: "1 holds 45".to_owned() }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_operation_has_its_own_transaction() {
    let db = shelf().await;
    let before = (db.statements(), db.database.write_costs().commits);
    run(&db.database, TestOperation::Make(1)).await.unwrap();
    // Begin, insert, select, insert, commit: no savepoint.
    assert_eq!(db.statements() - before.0, 5);
    assert_eq!(db.database.write_costs().commits - before.1, 1);
    assert_eq!(run(&db.database, TestOperation::Make(1)).await, Err(Refusal::Taken));
    assert_eq!(db.database.write_costs().commits - before.1, 1, "nothing to commit");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operation_that_waits_too_long_fails_without_effect() {
    let db = shelf().await;
    let options =
        kontor_adapter_diesel::PoolOptions { connections: 1, wait: Duration::from_millis(50), ..Default::default() };
    let database = Database::open(db.url(), options).unwrap();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (begun, released) = (Arc::new(Notify::new()), Mutex::new(released));
    let reported = Arc::clone(&begun);
    let busy = move |_: &mut AnyConnection| -> Result<(), Abort<Refusal>> {
        reported.notify_one();
        let _ = released.lock().unwrap().recv();
        Ok(())
    };
    let asked = async {
        begun.notified().await;
        let refused = tokio::time::timeout(Duration::from_secs(30), run(&database, TestOperation::Make(1))).await;
        drop(release);
        refused.unwrap()
    };
    let (long, refused) = futures_util::join!(database.write(busy), asked);
    assert_eq!(long, Ok(()), "what has begun is waited for");
    assert!(matches!(&refused, Err(Refusal::Store(reason)) if reason.contains("timed out")), "{refused:?}");
    assert_eq!(stored(&db).await, []);
}
