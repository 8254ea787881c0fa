//! A server that a test may restart.

use super::cluster::{Cluster, ServerTls, Stop};
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

    /// The same with TLS.
    ///
    /// # Panics
    /// As [`OwnServer::start`].
    #[must_use]
    pub fn start_with_tls(tls: &ServerTls) -> Option<Self> {
        unless_skipped(|| Cluster::start_with(Some(tls))).map(Self)
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port()
    }

    /// Its migrated database as an address of the test's own leads there.
    ///
    /// # Panics
    /// When it cannot be reached or made.
    #[must_use]
    pub fn database_at(&self, url: &str) -> TestDatabase {
        let database = must(Database::open(DatabaseUrl::Postgres(url.to_owned()), POOL));
        must(database.migrate());
        TestDatabase { database, kind: Kind::Postgres, _keep: Keep::Nothing }
    }

    /// Its migrated database.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn database(&self) -> TestDatabase {
        self.database_at(&self.0.url())
    }

    /// Stops the server, starts it again and waits until it takes connections.
    ///
    /// # Panics
    /// When it does not start again.
    pub fn restart(&mut self, stop: Stop) {
        must(self.0.restart(stop));
    }
}
