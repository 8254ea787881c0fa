//! A server that a test may restart.

use super::cluster::{Cluster, LANGUAGES, Stop};
use super::{Keep, Kind, TestDatabase, must, unless_skipped};
use crate::{Database, DatabaseUrl, PoolOptions};

const POOL: PoolOptions =
    PoolOptions { connections: 4, wait: std::time::Duration::from_secs(30), prepared_statements: true };

/// A PostgreSQL server that serves one test. It needs the server binaries, not `TEST_DATABASE_URL`.
pub struct OwnServer(Cluster);

impl OwnServer {
    /// A server, or `None` when none can be had here (said on standard error).
    ///
    /// # Panics
    /// When PostgreSQL is required and no server can be started.
    #[must_use]
    pub fn start() -> Option<Self> {
        unless_skipped(|| Cluster::start(false)).map(Self)
    }

    /// A server whose messages are in Russian, and in another of these languages in databases that are set so; or `None`
    /// when it cannot be had here (said on standard error). It needs `localedef` and its sources, in Debian the package
    /// `locales`.
    ///
    /// # Panics
    /// When PostgreSQL is required and no such server can be started.
    #[must_use]
    pub fn speaking() -> Option<(Self, [&'static str; 2])> {
        let cluster = || Cluster::start(true).map_err(|reason| format!("{reason} (with messages in other languages)"));
        unless_skipped(cluster).map(|cluster| (Self(cluster), LANGUAGES))
    }

    /// Its migrated database.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn database(&self) -> TestDatabase {
        let database = must(Database::open(DatabaseUrl::Postgres(self.0.url()), POOL));
        must(database.migrate());
        TestDatabase { database, kind: Kind::Postgres, _keep: Keep::Nothing }
    }

    /// Stops the server, starts it again and waits until it takes connections.
    ///
    /// # Panics
    /// When it does not start again.
    pub fn restart(&mut self, stop: Stop) {
        must(self.0.restart(stop));
    }
}
