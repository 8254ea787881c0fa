//! Connections that are lost before, in and at the end of a step.

mod cuts;
mod failover;
mod restarts;
mod rush;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use futures_util::future::join_all;
use kontor_adapter_diesel::testing::wire::{Break, Wire};
use kontor_adapter_diesel::testing::{Kind, TestDatabase, pool_options};
use kontor_adapter_diesel::{Abort, AnyConnection, Database, PoolOptions, Topic, tests_with};
use kontor_kernel::{ProjectId, StoreError};

use crate::fixtures;

const PROJECTS: &str = "SELECT count(*) AS value FROM projects";

/// A pool whose connections can be lost, and one of the same database whose connections cannot.
struct Trial {
    direct: TestDatabase,
    wire: Wire,
    database: Database,
    calls: Arc<AtomicU32>,
}

impl Trial {
    fn open() -> Self {
        let direct = TestDatabase::fresh(Kind::Postgres);
        let wire = Wire::before(&direct.url());
        let options = PoolOptions { connections: 8, wait: Duration::from_secs(20), ..pool_options() };
        let database = Database::open(wire.url(), options).unwrap();
        Self { direct, wire, database, calls: Arc::default() }
    }

    /// Adds a project, and counts the runs of the step.
    async fn add(&self) -> Result<(), StoreError> {
        let calls = Arc::clone(&self.calls);
        self.database
            .write_and_invalidate_all(move |connection| {
                calls.fetch_add(1, Ordering::SeqCst);
                Ok::<_, Abort<StoreError>>(insert(connection)?)
            })
            .await
    }

    fn calls(&self) -> u32 {
        self.calls.swap(0, Ordering::SeqCst)
    }

    async fn projects(&self) -> i64 {
        fixtures::number(&self.direct, PROJECTS).await
    }
}

/// Opens all eight connections. The pool does so in the background while all are busy.
async fn open_all(database: &Database) {
    let until = Instant::now() + Duration::from_secs(30);
    while database.pool_state().open < 8 {
        assert!(Instant::now() < until, "{:?}", database.pool_state());
        let sleep = |connection: &mut AnyConnection| -> Result<(), Abort<StoreError>> {
            Ok(connection.batch_execute("SELECT pg_sleep(0.1)")?)
        };
        for slept in join_all((0..8).map(|_| database.read(sleep))).await {
            slept.unwrap();
        }
    }
}

fn insert(connection: &mut AnyConnection) -> diesel::QueryResult<()> {
    connection.batch_execute(
        "INSERT INTO projects (name, currency, created_at) VALUES ('Trial', 'RUB', '2026-01-01 00:00:00')",
    )
}

fn count(connection: &mut AnyConnection) -> Result<i64, Abort<StoreError>> {
    #[derive(diesel::QueryableByName)]
    struct Row {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        value: i64,
    }
    Ok(diesel::sql_query(PROJECTS).get_result::<Row>(connection)?.value)
}

async fn a_connection_lost_before_the_commit_is_not_noticed() {
    let trial = Trial::open();
    let moments =
        [("BEGIN", Break::Before), ("BEGIN", Break::After), ("INSERT", Break::Before), ("INSERT", Break::After)];
    for (number, (statement, way)) in moments.into_iter().enumerate() {
        trial.wire.lose(statement, way, 2);
        trial.add().await.unwrap_or_else(|error| panic!("{statement} {way:?}: {error}"));
        assert_eq!(trial.wire.lost(), 2, "{statement} {way:?}");
        assert_eq!(trial.projects().await, i64::try_from(number).unwrap() + 1, "{statement} {way:?}");
    }
}

async fn a_connection_lost_at_the_commit_leaves_the_outcome_unknown() {
    let trial = Trial::open();
    for (way, stored) in [(Break::Before, 0), (Break::After, 1)] {
        trial.wire.lose("COMMIT", way, 1);
        let outcome = trial.add().await;
        assert!(matches!(outcome, Err(StoreError::OutcomeUnknown(_))), "{way:?}: {outcome:?}");
        assert_eq!((trial.calls(), trial.projects().await), (1, stored), "{way:?}: it never runs again");
        trial.add().await.unwrap();
        assert_eq!((trial.calls(), trial.projects().await), (1, 1 + stored));
        fixtures::run(&trial.direct, "DELETE FROM projects;".to_owned()).await;
    }
}

async fn what_an_unknown_commit_may_have_changed_is_not_remembered() {
    let trial = Trial::open();
    let version = || trial.database.cache_versions().version(Topic::Storefront, ProjectId::new(1).unwrap());
    let before = version();
    trial.wire.lose("COMMIT", Break::After, 1);
    trial.add().await.unwrap_err();
    assert!(version().is_some() && version() != before);
}

async fn who_loses_every_connection_learns_that_nothing_was_done() {
    let trial = Trial::open();
    trial.wire.lose("INSERT", Break::After, usize::MAX);
    let outcome = trial.add().await;
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    assert!((2..=5).contains(&trial.calls()), "tries are bounded");
    trial.wire.lose("INSERT", Break::After, 0);
    assert_eq!(trial.projects().await, 0);
    trial.add().await.unwrap();
}

async fn a_pool_of_dead_connections_costs_nobody_an_answer() {
    let trial = Trial::open();
    for round in 1..=3 {
        open_all(&trial.database).await;
        trial.wire.lose_all();
        trial.database.read(count).await.unwrap();
        trial.wire.lose_all();
        trial.add().await.unwrap();
        assert_eq!(trial.projects().await, round);
        assert_eq!(trial.calls(), 1, "the step itself lost nothing");
    }
}

async fn reading_goes_on_over_another_connection() {
    let trial = Trial::open();
    for (statement, way) in [("BEGIN", Break::Before), ("SELECT count", Break::After), ("COMMIT", Break::Before)] {
        trial.wire.lose(statement, way, 2);
        let read = trial.database.snapshot(count).await;
        assert_eq!(read.unwrap_or_else(|error| panic!("{statement} {way:?}: {error}")), 0);
        assert_eq!(trial.wire.lost(), 2, "{statement}");
    }
}

tests_with!(postgres:
    a_connection_lost_before_the_commit_is_not_noticed,
    a_connection_lost_at_the_commit_leaves_the_outcome_unknown,
    what_an_unknown_commit_may_have_changed_is_not_remembered,
    who_loses_every_connection_learns_that_nothing_was_done,
    a_pool_of_dead_connections_costs_nobody_an_answer,
    reading_goes_on_over_another_connection,
);
