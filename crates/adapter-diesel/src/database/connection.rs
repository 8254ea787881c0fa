//! Set-up of connections.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use diesel::connection::{CacheSize, Connection, InstrumentationEvent, SimpleConnection, TransactionManager};
use diesel::r2d2::{ManageConnection, R2D2Connection};
use diesel::{ConnectionError, PgConnection, SqliteConnection};

use super::tls::Forwarder;
use super::write_costs::{TransactionTimer, WriteMeter};
use super::{AnyConnection, DatabaseUrl, Driver};

/// Runs the same statement on the concrete connection, for the few forms (batch insert, upsert) that diesel cannot
/// build for both databases at once.
macro_rules! on_each {
    ($connection:expr, $concrete:ident => $statement:expr) => {
        match $connection.driver() {
            $crate::database::Driver::Postgres($concrete) => $statement,
            $crate::database::Driver::Sqlite($concrete) => $statement,
        }
    };
}
pub(crate) use on_each;

/// Evaluates to `true` if a query returns any row.
macro_rules! found {
    ($connection:expr, $query:expr) => {
        diesel::select(diesel::dsl::exists($query)).get_result::<bool>($connection)
    };
}
pub(crate) use found;

/// Use of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Reader,
    Writer,
}

/// Connection factory of a pool.
#[derive(Clone)]
pub(super) struct Manager {
    pub url: DatabaseUrl,
    pub role: Role,
    pub prepared_statements: bool,
    /// Forwarder that connects to the server by TLS, if the address requires it.
    pub tls: Option<Arc<Forwarder>>,
    pub statements: Arc<AtomicU64>,
    pub writes: Arc<WriteMeter>,
    #[cfg(feature = "test-support")]
    pub pauses: Arc<super::pauses::Pauses>,
}

/// Timeout for locks. It is set first, so that the other settings already use it.
pub(super) const SQLITE_WAIT: &str = "PRAGMA busy_timeout = 5000;";

const SQLITE_SETTINGS: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
     PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000;";

/// Session settings. JIT is off, because no statement runs long enough for compilation to pay. `work_mem` is raised
/// because bitmaps of a text index that exceed it become lossy: every row of a page would be checked again. The time
/// zone is UTC, which diesel itself also sets.
const POSTGRES_SETTINGS: &str = "SET TIME ZONE 'UTC'; SET statement_timeout = '30s'; SET jit = off; \
     SELECT set_config('work_mem', '16MB', FALSE) WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('16MB');";

#[derive(Debug, thiserror::Error)]
pub(super) enum ManagerError {
    #[error(transparent)]
    Connect(#[from] ConnectionError),
    #[error(transparent)]
    Query(#[from] diesel::result::Error),
}

impl Manager {
    fn count(&self, connection: &AnyConnection) -> impl FnMut(InstrumentationEvent<'_>) + Send + use<> {
        let statements = Arc::clone(&self.statements);
        #[cfg(feature = "test-support")]
        let (pauses, written) = (Arc::clone(&self.pauses), connection.statements.clone());
        #[cfg(not(feature = "test-support"))]
        let _ = connection;
        let mut stopwatch = (self.role == Role::Writer).then(|| TransactionTimer::new(Arc::clone(&self.writes)));
        move |event| {
            if let Some(stopwatch) = &mut stopwatch {
                stopwatch.see(&event);
            }
            if let InstrumentationEvent::StartQuery { query, .. } = event {
                statements.fetch_add(1, Ordering::Relaxed);
                #[cfg(feature = "test-support")]
                {
                    let text = query.to_string();
                    written.statement(&text);
                    pauses.statement(&text);
                }
                #[cfg(not(feature = "test-support"))]
                let _ = query;
            }
        }
    }
}

/// Creates the file of a new database readable by its owner alone; SQLite gives the files beside it the same mode. An
/// existing file stays as it is. If the file cannot be created, SQLite reports the error.
fn create_private(path: &Path) {
    // An address that begins with `file:` is a URI, not a path.
    if !path.to_string_lossy().starts_with("file:") {
        drop(OpenOptions::new().write(true).create_new(true).mode(0o600).open(path));
    }
}

impl ManageConnection for Manager {
    type Connection = AnyConnection;
    type Error = ManagerError;

    fn connect(&self) -> Result<AnyConnection, ManagerError> {
        let asked_at = Instant::now();
        let driver = match &self.url {
            DatabaseUrl::Sqlite(path) => {
                create_private(path);
                let mut connection = SqliteConnection::establish(&path.to_string_lossy())?;
                connection.batch_execute(SQLITE_WAIT)?;
                connection.batch_execute(SQLITE_SETTINGS)?;
                if self.role == Role::Reader {
                    connection.batch_execute("PRAGMA query_only = ON;")?;
                }
                Driver::Sqlite(connection)
            }
            DatabaseUrl::Postgres(url) => {
                let mut connection = PgConnection::establish(self.tls.as_ref().map_or(url, |tls| tls.url()))?;
                if self.prepared_statements {
                    connection.batch_execute(POSTGRES_SETTINGS)?;
                } else {
                    connection.set_prepared_statement_cache_size(CacheSize::Disabled);
                }
                Driver::Postgres(connection)
            }
        };
        let mut connection = AnyConnection::from(driver);
        connection.asked_at = asked_at;
        connection.set_instrumentation(self.count(&connection));
        Ok(connection)
    }

    fn is_valid(&self, connection: &mut AnyConnection) -> Result<(), ManagerError> {
        Ok(connection.batch_execute("SELECT 1")?)
    }

    fn has_broken(&self, connection: &mut AnyConnection) -> bool {
        std::thread::panicking() || is_broken(connection)
    }
}

/// `true` if a connection is lost or was left in a transaction.
pub(super) fn is_broken(connection: &mut AnyConnection) -> bool {
    on_each!(connection, concrete => concrete.is_broken())
}

/// Marks a usable connection as broken, so that the pool closes it.
pub(super) fn mark_broken(connection: &mut AnyConnection) {
    type Transactions = <AnyConnection as Connection>::TransactionManager;
    Transactions::transaction_manager_status_mut(connection).set_in_error();
}
