//! Addresses of databases, connection type for both, and the set-up of connections.

use std::fmt;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use diesel::backend::Backend as DieselBackend;
use diesel::connection::{
    CacheSize, Connection, ConnectionSealed, DefaultLoadingMode, Instrumentation, InstrumentationEvent, LoadConnection,
    SimpleConnection, TransactionManager, TransactionManagerStatus,
};
use diesel::expression::QueryMetadata;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::r2d2::{ManageConnection, R2D2Connection};
use diesel::sql_types::Untyped;
use diesel::{ConnectionError, ConnectionResult, PgConnection, QueryResult, SqliteConnection};

use super::operation::Operation;
use super::tls::Forwarder;
#[cfg(feature = "test-support")]
use super::write_check::WriteCheck;
use super::write_costs::{TransactionTimer, WriteMeter};

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

/// Connection to a specific database.
#[derive(diesel::MultiConnection)]
pub enum Driver {
    /// PostgreSQL.
    Postgres(PgConnection),
    /// SQLite.
    Sqlite(SqliteConnection),
}

/// Backend that queries are built for.
pub(crate) type Backend = <Driver as Connection>::Backend;

/// Connection to either database. Queries written against it compile for both.
///
/// By default, diesel compiles the whole path of a query into the database, including the statement cache of the
/// driver, for every query and database. Here a query is passed on as a trait object: only its text and its values are
/// compiled per query, the rest once.
pub struct AnyConnection {
    driver: Driver,
    /// Reports of the write operation that runs on the connection.
    pub(super) operation: Operation,
    /// Statements of that operation.
    #[cfg(feature = "test-support")]
    pub(super) statements: WriteCheck,
    /// Time at which the connection was requested.
    pub(super) asked_at: Instant,
    /// Projects with a large share of all items, and the time at which they were read.
    pub(crate) large_projects: Option<(Instant, Vec<i64>)>,
}

impl AnyConnection {
    /// Returns the underlying connection, for statements that only one database supports.
    pub fn driver(&mut self) -> &mut Driver {
        &mut self.driver
    }

    /// `true` for PostgreSQL, `false` for SQLite.
    pub fn is_postgres(&self) -> bool {
        matches!(self.driver, Driver::Postgres(_))
    }
}

impl From<Driver> for AnyConnection {
    fn from(driver: Driver) -> Self {
        Self {
            driver,
            operation: Operation::default(),
            #[cfg(feature = "test-support")]
            statements: WriteCheck::default(),
            asked_at: Instant::now(),
            large_projects: None,
        }
    }
}

/// Query reduced to its text and its values.
struct Erased<Q>(Q);

impl<Q: QueryFragment<DB>, DB: DieselBackend> QueryFragment<DB> for Erased<Q> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        self.0.walk_ast(pass)
    }
}

/// The text is the key of the prepared statement.
impl<Q> QueryId for Erased<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> Query for Erased<Q> {
    type SqlType = Untyped;
}

impl ConnectionSealed for AnyConnection {}

impl SimpleConnection for AnyConnection {
    fn batch_execute(&mut self, query: &str) -> QueryResult<()> {
        self.driver.batch_execute(query)
    }
}

impl Connection for AnyConnection {
    type Backend = Backend;
    type TransactionManager = Self;

    fn establish(url: &str) -> ConnectionResult<Self> {
        Driver::establish(url).map(Self::from)
    }

    fn execute_returning_count<T>(&mut self, source: &T) -> QueryResult<usize>
    where
        T: QueryFragment<Backend> + QueryId,
    {
        let source: &dyn QueryFragment<Backend> = source;
        self.driver.execute_returning_count(&Erased(source))
    }

    fn transaction_state(&mut self) -> &mut Self {
        self
    }

    fn instrumentation(&mut self) -> &mut dyn Instrumentation {
        self.driver.instrumentation()
    }

    fn set_instrumentation(&mut self, instrumentation: impl Instrumentation) {
        self.driver.set_instrumentation(instrumentation);
    }

    fn set_prepared_statement_cache_size(&mut self, size: CacheSize) {
        self.driver.set_prepared_statement_cache_size(size);
    }
}

impl LoadConnection for AnyConnection {
    type Cursor<'conn, 'query> = <Driver as LoadConnection<DefaultLoadingMode>>::Cursor<'conn, 'query>;
    type Row<'conn, 'query> = <Driver as LoadConnection<DefaultLoadingMode>>::Row<'conn, 'query>;

    fn load<'conn, 'query, T>(&'conn mut self, source: T) -> QueryResult<Self::Cursor<'conn, 'query>>
    where
        T: Query + QueryFragment<Backend> + QueryId + 'query,
        Backend: QueryMetadata<T::SqlType>,
    {
        load(&mut self.driver, Box::new(source))
    }
}

fn load<'conn, 'query>(
    driver: &'conn mut Driver,
    source: Box<dyn QueryFragment<Backend> + 'query>,
) -> QueryResult<<AnyConnection as LoadConnection>::Cursor<'conn, 'query>> {
    driver.load(Erased(source))
}

impl TransactionManager<Self> for AnyConnection {
    type TransactionStateData = Self;

    fn begin_transaction(connection: &mut Self) -> QueryResult<()> {
        Driver::begin_transaction(&mut connection.driver)
    }

    fn rollback_transaction(connection: &mut Self) -> QueryResult<()> {
        Driver::rollback_transaction(&mut connection.driver)
    }

    fn commit_transaction(connection: &mut Self) -> QueryResult<()> {
        Driver::commit_transaction(&mut connection.driver)
    }

    fn transaction_manager_status_mut(connection: &mut Self) -> &mut TransactionManagerStatus {
        Driver::transaction_manager_status_mut(&mut connection.driver)
    }
}

/// Location of the data.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// File of the embedded database.
    Sqlite(PathBuf),
    /// Connection string of a PostgreSQL server.
    Postgres(String),
}

/// Error for a text that is no database address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the database URL must be `sqlite:PATH` or `postgres://USER@HOST/NAME`")]
pub struct InvalidDatabaseUrl;

impl FromStr for DatabaseUrl {
    type Err = InvalidDatabaseUrl;

    fn from_str(text: &str) -> Result<Self, InvalidDatabaseUrl> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")).unwrap_or_default();
        if path.is_empty() || path.starts_with(":memory:") {
            return Err(InvalidDatabaseUrl);
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }
}

/// Formats the address without the password.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
                let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
                let (account, place) = rest.rsplit_once('@').unwrap_or(("", rest));
                let user = account.split(':').next().unwrap_or_default();
                if query.contains('@') {
                    // The question mark or the at sign may belong to a password.
                    write!(f, "{scheme}://***")
                } else if user.is_empty() {
                    write!(f, "{scheme}://{place}")
                } else {
                    write!(f, "{scheme}://{user}:***@{place}")
                }
            }
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_decides() {
        assert_eq!("sqlite:./a.db".parse(), Ok(DatabaseUrl::Sqlite("./a.db".into())));
        assert!(matches!("postgres://u:p@h/d".parse(), Ok(DatabaseUrl::Postgres(_))));
        for text in ["a.db", "mysql://h/d", "sqlite:", "sqlite::memory:", ""] {
            assert_eq!(text.parse::<DatabaseUrl>(), Err(InvalidDatabaseUrl), "{text}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let url: DatabaseUrl = "postgres://shop:hunter2@db.internal/kontor?password=hunter2".parse().unwrap();
        assert_eq!(url.to_string(), "postgres://shop:***@db.internal/kontor");
        assert!(!format!("{url:?}").contains("hunter2"));
        for url in ["postgres://db/kontor?user=shop&password=hunter2@x", "postgres://shop:hunter2?x@db/kontor"] {
            assert_eq!(url.parse::<DatabaseUrl>().unwrap().to_string(), "postgres://***", "{url}");
        }
    }
}
