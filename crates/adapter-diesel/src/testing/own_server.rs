//! A server that a test may restart.

use super::cluster::{Cluster, Stop};
use super::{Keep, Kind, POOL, TestDatabase, must, unless_skipped};
use crate::{Database, DatabaseUrl};

/// A PostgreSQL server that serves one test. It needs the server binaries, not `TEST_DATABASE_URL`.
pub struct OwnServer(Cluster);

impl OwnServer {
    /// A server, or `None` when none can be had here (said on standard error).
    ///
    /// # Panics
    /// When PostgreSQL is required and no server can be started.
    #[must_use]
    pub fn start() -> Option<Self> {
        unless_skipped(Cluster::start).map(Self)
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
