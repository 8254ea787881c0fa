//! Connection type for both databases.

use std::time::Instant;

use diesel::backend::Backend as DieselBackend;
use diesel::connection::{
    CacheSize, Connection, ConnectionSealed, DefaultLoadingMode, Instrumentation, LoadConnection, SimpleConnection,
    TransactionManager, TransactionManagerStatus,
};
use diesel::expression::QueryMetadata;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::Untyped;
use diesel::{ConnectionResult, PgConnection, QueryResult, SqliteConnection};

use super::operation::Operation;
#[cfg(feature = "test-support")]
use super::write_check::WriteCheck;

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
