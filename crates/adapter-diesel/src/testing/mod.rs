//! Fresh database of each kind for every test.
//!
//! PostgreSQL comes from `TEST_DATABASE_URL`, else from server binaries found on the machine (a temporary cluster).
//! Otherwise the test fails; `.cargo/runner` leaves out the tests named `::postgres` where there is no PostgreSQL.
//! `TEST_POSTGRES_PROFILE` selects a special set-up: `serializable`, `plain-search`, `pgbouncer` or `messages`.

mod checkpoint;
mod cluster;
mod pair;
mod postgres;
mod script;
mod sql;
pub mod stock_fixture;
pub mod tenant_rows;
mod waiting;
pub mod wire;

pub use checkpoint::{Changes, Checkpoint, Labels};
pub use cluster::{OwnServer, ServerTls, Stop};
pub use pair::Pair;
pub use waiting::{MOMENT, moment, pause, settles, stays};

use std::path::PathBuf;
use std::sync::OnceLock;

use kontor_kernel::StoreError;

use crate::{Database, DatabaseUrl, PoolOptions};
use postgres::Profile;

/// Kind of database that a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Embedded database.
    Sqlite,
    /// PostgreSQL server.
    Postgres,
}

/// Migrated database for one test. It is removed when the value is dropped.
pub struct TestDatabase {
    /// Open pools.
    pub database: Database,
    /// Kind of database.
    pub kind: Kind,
    keep: Keep,
}

enum Keep {
    Folder { _folder: tempfile::TempDir },
    Server { database: postgres::FreshDatabase },
    Nothing,
}

impl TestDatabase {
    /// Creates a fresh database.
    ///
    /// # Panics
    /// If there is no server, or the database cannot be created.
    #[must_use]
    pub fn fresh(kind: Kind) -> Self {
        match kind {
            Kind::Sqlite => Self::sqlite(),
            Kind::Postgres => Self::postgres(),
        }
    }

    /// Returns the address by which another process can open the same database.
    pub fn url(&self) -> DatabaseUrl {
        self.database.url().clone()
    }

    /// Wraps a database that is kept elsewhere.
    pub fn borrowed(database: Database, kind: Kind) -> Self {
        Self { database, kind, keep: Keep::Nothing }
    }

    /// Runs statements on a connection for writing, outside any transaction.
    pub fn run_outside_transaction(&self, statements: &str) -> Result<(), StoreError> {
        use diesel::connection::SimpleConnection;
        let failed = |error: diesel::result::Error| StoreError::Failed(error.to_string());
        self.database.with_connection(|connection| connection.batch_execute(statements).map_err(failed))
    }

    /// Returns the number of statements so far. From the first call on no commit conflicts are injected, because a
    /// repeated operation counts twice.
    #[must_use]
    pub fn statements(&self) -> u64 {
        self.database.conflicts().set(0);
        self.database.statements()
    }

    /// `true` if operations are repeated after conflicts, as with serializable transactions.
    #[must_use]
    pub fn repeats_steps(&self) -> bool {
        self.kind == Kind::Postgres && Profile::chosen() == Profile::Serializable
    }

    fn sqlite() -> Self {
        let folder = must(tempfile::tempdir());
        let path = folder.path().join("kontor.db");
        must(std::fs::write(&path, migrated_file()));
        let database = must(Database::open(DatabaseUrl::Sqlite(path), pool_options()));
        Self { database, kind: Kind::Sqlite, keep: Keep::Folder { _folder: folder } }
    }

    fn postgres() -> Self {
        let fresh = must(postgres::FreshDatabase::create());
        let database = must(Database::open(fresh.url(), pool_options()));
        database.conflicts().set(Profile::chosen().refused_commits());
        Self { database, kind: Kind::Postgres, keep: Keep::Server { database: fresh } }
    }
}

/// Returns the pool options for tests, according to the profile of PostgreSQL.
#[must_use]
pub fn pool_options() -> PoolOptions {
    PoolOptions {
        connections: 4,
        wait: std::time::Duration::from_secs(30),
        prepared_statements: Profile::chosen() != Profile::Pgbouncer,
    }
}

/// Returns a migrated SQLite file, created once per test process and copied for every test.
///
/// # Panics
/// If it cannot be created.
pub fn migrated_file() -> &'static [u8] {
    static TEMPLATE: OnceLock<Vec<u8>> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let folder = must(tempfile::tempdir());
        let path: PathBuf = folder.path().join("template.db");
        let database = must(Database::open(DatabaseUrl::Sqlite(path.clone()), pool_options()));
        must(database.migrate());
        must(database.with_connection(|connection| {
            use diesel::connection::SimpleConnection;
            connection
                .batch_execute("PRAGMA wal_checkpoint(TRUNCATE);")
                .map_err(|error| StoreError::Failed(error.to_string()))
        }));
        drop(database);
        must(std::fs::read(&path))
    })
}

#[expect(clippy::disallowed_methods, reason = "tests are configured by their environment alone")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[expect(clippy::panic, reason = "tests fail by panicking")]
fn must<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("test database: {error}"))
}

/// Writes one test per database from one async function taking a [`TestDatabase`].
///
/// ```text
/// database_tests! {
///     async fn a_branch_is_found_again(db: TestDatabase) { ... }
/// }
/// ```
/// makes `a_branch_is_found_again::sqlite` and `a_branch_is_found_again::postgres`.
#[macro_export]
macro_rules! database_tests {
    ($($(#[$meta:meta])* async fn $name:ident($db:ident: TestDatabase) $body:block)+) => {$(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "a test may need nothing of its surroundings")]
            use super::*;

            async fn run($db: $crate::testing::TestDatabase) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                run($crate::testing::TestDatabase::fresh($crate::testing::Kind::Sqlite)).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                run($crate::testing::TestDatabase::fresh($crate::testing::Kind::Postgres)).await;
            }
        }
    )+};
}

/// Writes tests that need a program, from async functions without arguments. Without the program, `.cargo/runner` leaves
/// them out by their names.
///
/// ```text
/// tests_with!(postgres_server: no_order_is_lost, a_restart_is_noticed);
/// ```
/// makes `no_order_is_lost::postgres_server` and `a_restart_is_noticed::postgres_server`.
#[macro_export]
macro_rules! tests_with {
    ($program:ident: $($name:ident),+ $(,)?) => {$(
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $program() {
                super::$name().await;
            }
        }
    )+};
}
