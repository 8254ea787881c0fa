//! Embedded migrations: one directory per database, with equal names.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use diesel::backend::Backend;
use diesel::connection::{BoxableConnection, SimpleConnection, TransactionManager};
use diesel::migration::MigrationSource;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use kontor_kernel::StoreError;

use super::connection::SQLITE_WAIT;
use super::failure::{Abort, Attempts, conclude, is_conflict};
use super::write::{Transactions, begin, rolled_back};
use super::{AnyConnection, Database, on_each};
use crate::statement::Statement;

const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Version of the first migration. Databases of older histories lack it.
const FIRST: &str = "2001";

fn tree(connection: &AnyConnection) -> EmbeddedMigrations {
    if connection.is_postgres() { POSTGRES } else { SQLITE }
}

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("migration: {error}"))
}

/// Runs work without the timeout of requests: a migration statement may take longer, and so may the wait for another
/// process that migrates.
fn without_timeout<T>(
    connection: &mut AnyConnection,
    work: impl FnOnce(&mut AnyConnection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if !connection.is_postgres() {
        connection.batch_execute("PRAGMA busy_timeout = 600000").map_err(failed)?;
        let outcome = work(connection);
        connection.batch_execute(SQLITE_WAIT).map_err(failed)?;
        return outcome;
    }
    let limit = Statement::new("SELECT current_setting('statement_timeout')").scalar(connection).map_err(failed)?;
    let set = |limit: String| Statement::new("SELECT set_config('statement_timeout', ").value(limit).sql(", FALSE)");
    set("0".to_owned()).run(connection).map_err(failed)?;
    let outcome = work(connection);
    let restored = set(limit).run(connection).map_err(failed);
    let done = outcome?;
    restored.map(|_| done)
}

impl Database {
    /// Applies missing migrations, then fills in derived columns that they cleared. Returns the versions that this
    /// call applied, in order. Rejects a database of an older history. Several processes may call it at once: each
    /// migration is applied by one of them.
    pub fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.with_connection(|connection| {
            without_timeout(connection, |connection| {
                let mut applied = Vec::new();
                for version in missing(connection)?.into_keys() {
                    if claim_and_apply(connection, &version).map_err(conclude)? {
                        applied.push(version);
                    }
                }
                for fill in self.tables().fills {
                    again(|| fill(connection)).map_err(conclude)?;
                }
                Ok(applied)
            })
        })
    }

    /// Reverts the newest `count` migrations. Returns the reverted versions, newest first.
    pub fn revert(&self, count: usize) -> Result<Vec<String>, StoreError> {
        self.with_connection(|connection| {
            without_timeout(connection, |connection| {
                let mut reverted = Vec::new();
                for _ in 0..count {
                    let tree = tree(connection);
                    let version = on_each!(&mut *connection, concrete => concrete
                        .revert_last_migration(tree)
                        .map(|version| version.to_string())
                        .map_err(failed))?;
                    reverted.push(version);
                }
                Ok(reverted)
            })
        })
    }

    /// Compares the migrations of the database with those of this binary. Rejects a database of an older history.
    pub fn migration_state(&self) -> Result<MigrationState, StoreError> {
        self.with_connection(|connection| {
            let Compared { missing, unknown } = compared(connection).map_err(failed)?.of_this_history()?;
            Ok(MigrationState { missing: missing.into_values().collect(), unknown })
        })
    }
}

/// Returns the migrations that the database lacks, as names by version. Creates the table of versions if needed. If
/// several processes create it at once, PostgreSQL lets one succeed and rejects the others.
fn missing(connection: &mut AnyConnection) -> Result<BTreeMap<String, String>, StoreError> {
    const MAX_ATTEMPTS: u32 = 10;
    let mut tries = 1;
    loop {
        match compared(connection) {
            Err(_) if tries < MAX_ATTEMPTS => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(50));
            }
            outcome => return Ok(outcome.map_err(failed)?.of_this_history()?.missing),
        }
    }
}

/// Applies a migration, unless another process does. The version is inserted first: its key makes a second process wait
/// for the commit of the first, and then find the version taken. Returns `true` if this process applied it.
fn claim_and_apply(connection: &mut AnyConnection, version: &str) -> Result<bool, Abort<StoreError>> {
    begin(connection)?;
    let applied = (|| {
        let claimed = Statement::new("INSERT INTO __diesel_schema_migrations (version) VALUES (")
            .value(version)
            .sql(") ON CONFLICT (version) DO NOTHING")
            .run(connection)?;
        if claimed > 0 {
            let tree = tree(connection);
            on_each!(&mut *connection, concrete => apply(concrete, &tree, version)).map_err(failed)?;
        }
        Ok(claimed > 0)
    })();
    match applied {
        Ok(applied) => Transactions::commit_transaction(connection).map(|()| applied).map_err(Abort::Query),
        Err(abort) => Err(rolled_back(connection, abort)),
    }
}

fn apply<DB: Backend>(
    connection: &mut dyn BoxableConnection<DB>,
    tree: &EmbeddedMigrations,
    version: &str,
) -> diesel::migration::Result<()> {
    let known = MigrationSource::<DB>::migrations(tree)?;
    let migration = known.iter().find(|known| known.name().version().to_string() == version);
    migration.map_or(Ok(()), |migration| migration.run(connection))
}

/// Repeats a data migration after a conflict with another process that migrates.
fn again(mut fill: impl FnMut() -> Result<(), Abort<StoreError>>) -> Result<(), Abort<StoreError>> {
    let mut attempts = Attempts::begin();
    loop {
        match fill() {
            Err(Abort::Query(error)) if is_conflict(&error) && attempts.writing(&error, false, true) => {
                std::thread::sleep(attempts.pause(&error, std::process::id().into()));
            }
            outcome => return outcome,
        }
    }
}

/// Differences between the two sets of migrations, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MigrationState {
    /// Names that the database lacks. This binary cannot run on it.
    pub missing: Vec<String>,
    /// Versions that this binary does not know. A newer binary has migrated. This one keeps running, because migrations
    /// preserve what older binaries use.
    pub unknown: Vec<String>,
}

/// Migrations of the database beside those of this binary.
struct Compared {
    /// Names of those that the database lacks, by version.
    missing: BTreeMap<String, String>,
    /// Versions that this binary does not know, in order.
    unknown: Vec<String>,
}

impl Compared {
    /// Rejects a database that was migrated without the first migration of this binary.
    fn of_this_history(self) -> Result<Self, StoreError> {
        match (self.missing.get(FIRST), self.unknown.last()) {
            (Some(first), Some(newest)) => Err(StoreError::Failed(format!(
                "the database belongs to an older release: it has migration {newest} but not {first}, and cannot be \
                 migrated; export its data with that release, or start with an empty database"
            ))),
            _ => Ok(self),
        }
    }
}

fn compared(connection: &mut AnyConnection) -> diesel::migration::Result<Compared> {
    let tree = tree(connection);
    on_each!(connection, concrete => compared_on(concrete, &tree))
}

fn compared_on<DB: Backend>(
    connection: &mut impl MigrationHarness<DB>,
    tree: &EmbeddedMigrations,
) -> diesel::migration::Result<Compared> {
    let known = MigrationSource::<DB>::migrations(tree)?;
    let mut missing: BTreeMap<String, String> =
        known.iter().map(|known| (known.name().version().to_string(), known.name().to_string())).collect();
    let applied: BTreeSet<String> = connection.applied_migrations()?.iter().map(ToString::to_string).collect();
    let unknown = applied.into_iter().filter(|version| missing.remove(version).is_none()).collect();
    Ok(Compared { missing, unknown })
}
