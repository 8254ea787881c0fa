//! Server that a test may restart.

use super::cluster::{Cluster, LANGUAGES, Manner, ServerTls, Stop};
use super::{Keep, Kind, TestDatabase, must};
use crate::{Database, DatabaseUrl, PoolOptions};

const POOL: PoolOptions =
    PoolOptions { connections: 4, wait: std::time::Duration::from_secs(30), prepared_statements: true };

/// PostgreSQL server for one test. It needs the server binaries, not `TEST_DATABASE_URL`.
pub struct OwnServer(Cluster);

impl OwnServer {
    /// Starts a server.
    ///
    /// # Panics
    /// If no server can be started.
    #[must_use]
    pub fn start() -> Self {
        Self(must(Cluster::start(Manner::Plain)))
    }

    /// Starts a server whose messages are in Russian, or in another of the returned languages where a database selects
    /// it. It needs `localedef` and its sources; in Debian these are in the package `locales`.
    ///
    /// # Panics
    /// If no such server can be started.
    #[must_use]
    pub fn speaking() -> (Self, [&'static str; 2]) {
        let cluster = Cluster::start(Manner::Speaking);
        let cluster = cluster.map_err(|reason| format!("{reason} (with messages in other languages)"));
        (Self(must(cluster)), LANGUAGES)
    }

    /// Starts a server with TLS.
    ///
    /// # Panics
    /// As [`OwnServer::start`].
    #[must_use]
    pub fn start_with_tls(tls: &ServerTls) -> Self {
        Self(must(Cluster::start(Manner::Tls(tls))))
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port()
    }

    /// Opens and migrates its database by an address that the test supplies.
    ///
    /// # Panics
    /// If it cannot be reached or created.
    #[must_use]
    pub fn database_at(&self, url: &str) -> TestDatabase {
        let database = must(Database::open(DatabaseUrl::Postgres(url.to_owned()), POOL));
        must(database.migrate());
        TestDatabase { database, kind: Kind::Postgres, keep: Keep::Nothing }
    }

    /// Opens and migrates its database.
    ///
    /// # Panics
    /// If it cannot be created.
    #[must_use]
    pub fn database(&self) -> TestDatabase {
        self.database_at(&self.0.url())
    }

    /// Stops the server, starts it again and waits until it accepts connections.
    ///
    /// # Panics
    /// If it does not start again.
    pub fn restart(&mut self, stop: Stop) {
        must(self.0.restart(stop));
    }
}
