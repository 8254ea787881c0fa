//! A server that a test may restart.

use super::cluster::{Cluster, LANGUAGES, Manner, ServerTls, Stop};
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
        unless_skipped(|| Cluster::start(Manner::Plain)).map(Self)
    }

    /// A server whose messages are in Russian, and in another of these languages in databases that are set so; or `None`
    /// when it cannot be had here (said on standard error). It needs `localedef` and its sources, in Debian the package
    /// `locales`.
    ///
    /// # Panics
    /// When PostgreSQL is required and no such server can be started.
    #[must_use]
    pub fn speaking() -> Option<(Self, [&'static str; 2])> {
        let cluster = || {
            Cluster::start(Manner::Speaking).map_err(|reason| format!("{reason} (with messages in other languages)"))
        };
        unless_skipped(cluster).map(|cluster| (Self(cluster), LANGUAGES))
    }

    /// The same with TLS.
    ///
    /// # Panics
    /// As [`OwnServer::start`].
    #[must_use]
    pub fn start_with_tls(tls: &ServerTls) -> Option<Self> {
        unless_skipped(|| Cluster::start(Manner::Tls(tls))).map(Self)
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
        TestDatabase { database, kind: Kind::Postgres, keep: Keep::Nothing }
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
