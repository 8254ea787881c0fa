//! The embedded migrations, one tree per database with equal names.

use std::collections::{BTreeMap, BTreeSet};

use diesel::migration::MigrationSource;
use diesel::sql_types::Text;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use kontor_kernel::StoreError;

use super::failure::conclude;
use super::{AnyConnection, Database, on_each};
use crate::statement::{Statement, by_place};

const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

fn tree(connection: &AnyConnection) -> EmbeddedMigrations {
    if connection.is_postgres() { POSTGRES } else { SQLITE }
}

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("migration: {error}"))
}

by_place! {
    struct LimitRow {
        limit: String as Text,
    }
}

/// One statement of a migration may take longer than any of a request.
fn patiently<T>(
    connection: &mut AnyConnection,
    work: impl FnOnce(&mut AnyConnection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if !connection.is_postgres() {
        return work(connection);
    }
    let row = Statement::new("SELECT current_setting('statement_timeout')").row(connection);
    let LimitRow { limit } = row.map_err(failed)?;
    let set = |limit: String| Statement::new("SELECT set_config('statement_timeout', ").value(limit).sql(", FALSE)");
    set("0".to_owned()).run(connection).map_err(failed)?;
    let outcome = work(connection);
    let restored = set(limit).run(connection).map_err(failed);
    let done = outcome?;
    restored.map(|_| done)
}

impl Database {
    /// Applies what is missing and fills in what records of before are found and sorted by. Returns the names applied, in order.
    pub fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.with_connection(|connection| {
            patiently(connection, |connection| {
                let tree = tree(connection);
                let applied = on_each!(&mut *connection, concrete => concrete
                    .run_pending_migrations(tree)
                    .map(|versions| versions.iter().map(ToString::to_string).collect())
                    .map_err(failed))?;
                for fill in self.tables().fills {
                    fill(connection).map_err(conclude)?;
                }
                Ok(applied)
            })
        })
    }

    /// Reverts the newest `count` migrations. Returns the names reverted, newest first.
    pub fn revert(&self, count: usize) -> Result<Vec<String>, StoreError> {
        self.with_connection(|connection| {
            patiently(connection, |connection| {
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

    /// How the migrations of the database differ from those of this binary.
    pub fn migration_state(&self) -> Result<MigrationState, StoreError> {
        self.with_connection(|connection| {
            let tree = tree(connection);
            on_each!(connection, concrete => compared(concrete, &tree).map_err(failed))
        })
    }
}

/// What one of the two has and the other has not, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MigrationState {
    /// Names that the database lacks. This binary cannot work on it.
    pub missing: Vec<String>,
    /// Versions that this binary does not know. A newer one has migrated; this one goes on, since what it uses is left to it.
    pub unknown: Vec<String>,
}

fn compared<DB: diesel::backend::Backend>(
    connection: &mut impl MigrationHarness<DB>,
    tree: &EmbeddedMigrations,
) -> diesel::migration::Result<MigrationState> {
    let known = MigrationSource::<DB>::migrations(tree)?;
    let known: BTreeMap<String, String> =
        known.iter().map(|known| (known.name().version().to_string(), known.name().to_string())).collect();
    let applied: BTreeSet<String> = connection.applied_migrations()?.iter().map(ToString::to_string).collect();
    let missing = known.iter().filter(|(version, _)| !applied.contains(*version));
    Ok(MigrationState {
        missing: missing.map(|(_, name)| name.clone()).collect(),
        unknown: applied.iter().filter(|version| !known.contains_key(*version)).cloned().collect(),
    })
}
