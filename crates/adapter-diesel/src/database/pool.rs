//! The entry points to the data: [`Database::read`], [`Database::snapshot`] and [`Database::write`].

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use diesel::connection::{AnsiTransactionManager, TransactionManager};
use diesel::r2d2::ManageConnection as _;
use kontor_kernel::StoreError;

use super::backup::GenerationFile;
use super::connection::{Manager, Role};
use super::connections::Connections;
use super::failure::{Abort, Attempts, settled};
use super::group::GroupWriter;
use super::invalidation::{CacheVersions, LookUpCaches};
use super::operation::{Outcome, Step, hide, reveal};
use super::page_readers::PageReaders;
use super::preconditions::RequestContext;
use super::rehearsal::{Part, Rehearsal};
use super::tls::Forwarder;
use super::write::{Transactions, Write, Writing, rolled_back};
use super::write_costs::WriteCosts;
use super::{AnyConnection, DatabaseUrl, Driver, Tables};

/// Settings of the connection pools.
#[derive(Debug, Clone, Copy)]
pub struct PoolOptions {
    /// Connections for reading; on PostgreSQL the size of the only pool.
    pub connections: u32,
    /// Maximum time a request waits for a free connection.
    pub wait: Duration,
    /// `true` if statements stay prepared on their connection. They cannot behind a pooler in transaction mode. Session
    /// settings do not persist there either: the settings of the database account apply.
    pub prepared_statements: bool,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self { connections: 8, wait: Duration::from_secs(5), prepared_statements: true }
    }
}

/// Use of a pool at one time.
#[derive(Debug, Clone, Copy)]
pub struct PoolState {
    /// Open connections.
    pub open: u32,
    /// Open connections that are idle.
    pub idle: u32,
}

/// Extent of a read, by which SQLite chooses its thread. PostgreSQL, whose scarce resource is connections, treats all
/// alike.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Extent {
    /// Unknown, perhaps long: a blocking thread runs it.
    #[default]
    Any,
    /// Few rows, all found by key, so that handing the read to another thread would cost more: the calling thread runs
    /// it, from the page cache, unless every connection is busy.
    Keys,
    /// Few statements, each over one range of an index: dedicated threads run it, which never do longer work.
    Page,
}

/// Open database. Clones share the pools.
#[derive(Clone)]
pub struct Database {
    inner: Arc<Inner>,
    /// Request that this handle writes for.
    pub(super) context: RequestContext,
    /// Extent of the reads of this handle.
    extent: Extent,
}

struct Inner {
    /// Factory for connections that write.
    manager: Manager,
    readers: Arc<Connections>,
    writing: Arc<Writing>,
    /// Thread that writes for all callers, because SQLite allows one writer at a time. Started with the first write;
    /// `None` if it could not be started.
    group_writer: OnceLock<Option<GroupWriter>>,
    wait: Duration,
    /// Started with the first page; `None` if they could not be started.
    page_readers: OnceLock<Option<PageReaders>>,
    memories: LookUpCaches,
    /// File that keeps the generation outside the database; unset if none is configured.
    generation: OnceLock<GenerationFile>,
}

impl Inner {
    fn is_sqlite(&self) -> bool {
        !self.writing.is_server
    }

    /// Returns the thread that writes. PostgreSQL has many writers instead.
    fn group_writer(&self) -> Option<&GroupWriter> {
        if !self.is_sqlite() {
            return None;
        }
        let start = || {
            GroupWriter::start(Arc::clone(&self.writing), self.wait)
                .inspect_err(
                    |error| tracing::warn!(%error, "group commit is unavailable; each write commits separately"),
                )
                .ok()
        };
        self.group_writer.get_or_init(start).as_ref()
    }

    /// Returns the threads that read pages. PostgreSQL has none, because connections are its scarce resource.
    fn page_readers(&self) -> Option<&PageReaders> {
        if !self.is_sqlite() {
            return None;
        }
        let start = || {
            let manager = Manager { role: Role::Reader, ..self.manager.clone() };
            let threads = std::thread::available_parallelism().map_or(2, usize::from).max(2);
            PageReaders::start(&manager, threads)
                .inspect_err(
                    |error| tracing::warn!(%error, "reader threads are unavailable; lists share the connection pool"),
                )
                .ok()
        };
        self.page_readers.get_or_init(start).as_ref()
    }
}

impl Database {
    /// Opens the pools with these facts about the tables.
    pub(crate) fn open_with(
        url: DatabaseUrl,
        options: PoolOptions,
        tables: &'static Tables,
    ) -> Result<Self, StoreError> {
        let tls = match &url {
            DatabaseUrl::Sqlite(_) => None,
            DatabaseUrl::Postgres(url) => {
                Forwarder::start(url).map_err(|error| StoreError::Failed(error.to_string()))?
            }
        };
        let manager = Manager {
            url,
            role: Role::Writer,
            tls: tls.map(Arc::new),
            prepared_statements: options.prepared_statements,
            statements: Arc::default(),
            writes: Arc::default(),
            #[cfg(feature = "test-support")]
            pauses: Arc::default(),
        };
        let build = |role: Role, size: u32| {
            Connections::open(Manager { role, ..manager.clone() }, size, options.wait).map(Arc::new)
        };
        // The writer comes first: it creates the file that the readers open.
        let (writers, readers) = match manager.url {
            DatabaseUrl::Sqlite(_) => {
                let writers = build(Role::Writer, 1)?;
                (writers, build(Role::Reader, options.connections)?)
            }
            DatabaseUrl::Postgres(_) => {
                let both = build(Role::Writer, options.connections)?;
                (Arc::clone(&both), both)
            }
        };
        let is_server = matches!(manager.url, DatabaseUrl::Postgres(_));
        let inner = Inner {
            manager,
            readers,
            writing: Arc::new(Writing::new(writers, tables, is_server)),
            group_writer: OnceLock::new(),
            wait: options.wait,
            page_readers: OnceLock::new(),
            memories: LookUpCaches::default(),
            generation: OnceLock::new(),
        };
        Ok(Self { inner: Arc::new(inner), context: RequestContext::default(), extent: Extent::default() })
    }

    /// Returns the file that keeps the generation outside the database.
    pub(crate) fn generation_file(&self) -> Option<&GenerationFile> {
        self.inner.generation.get()
    }

    /// Sets the file that keeps the generation. Only the first call has an effect.
    pub(crate) fn watch_generation(&self, file: GenerationFile) {
        let _ = self.inner.generation.set(file);
    }

    /// Returns the address of the database.
    pub fn url(&self) -> &DatabaseUrl {
        &self.inner.manager.url
    }

    /// Returns the cache versions, by which readers detect stale data.
    pub fn cache_versions(&self) -> &Arc<CacheVersions> {
        &self.inner.writing.versions
    }

    /// Returns the cache of this type, created on first use. A rehearsal has caches of its own, because it reads what is
    /// never committed.
    pub(crate) fn memory<M: std::any::Any + Default + Send + Sync>(&self) -> Arc<M> {
        if self.context.rehearsed.is_some() { Arc::default() } else { self.inner.memories.of() }
    }

    /// Returns the connection factory of this database.
    pub(super) fn manager(&self) -> &Manager {
        &self.inner.manager
    }

    /// Returns the facts about tables that the modules above supply.
    pub(super) fn tables(&self) -> &'static Tables {
        self.inner.writing.tables
    }

    /// Returns the number of statements sent so far by all connections, for tests that count them.
    pub fn statements(&self) -> u64 {
        self.inner.manager.statements.load(Ordering::Relaxed)
    }

    /// Returns the number of retries after a conflict or a lost connection, for tests that count them.
    pub fn repeated(&self) -> u64 {
        self.inner.writing.repeated.load(Ordering::Relaxed)
    }

    /// Returns the number of write operations begun, for tests that count them. On SQLite each waits for the only
    /// writer.
    pub fn writes(&self) -> u64 {
        self.inner.writing.begun.load(Ordering::Relaxed)
    }

    /// Returns the cost of all transactions that have written so far.
    pub fn write_costs(&self) -> WriteCosts {
        self.inner.manager.writes.read()
    }

    /// Returns the injected conflicts, for tests.
    #[cfg(feature = "test-support")]
    pub fn conflicts(&self) -> &super::pauses::Conflicts {
        &self.inner.writing.conflicts
    }

    /// Returns the control for pausing statements, for tests.
    #[cfg(feature = "test-support")]
    pub fn pauses(&self) -> &super::pauses::Pauses {
        &self.inner.manager.pauses
    }

    /// Returns the use of the pool that serves reads.
    pub fn pool_state(&self) -> PoolState {
        let state = self.inner.readers.state();
        PoolState { open: state.connections, idle: state.idle_connections }
    }

    /// Returns a handle whose reads are of this extent. It shares the pools.
    #[must_use]
    pub(crate) fn expecting(&self, extent: Extent) -> Self {
        Self { extent, ..self.clone() }
    }

    /// Runs a read operation of one statement, or of several that need no common state. It must change nothing, because
    /// it runs again when the connection is lost, or when a serializable server reports a conflict.
    pub async fn read<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        reveal(self.read_step(hide(work)).await)
    }

    /// As [`Database::read`], for several statements that must see one state.
    pub async fn snapshot<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        let step = hide(work);
        // The transaction of a rehearsal sees its own writes.
        let step = if self.open_rehearsal().is_some() { step } else { on_snapshot(step) };
        reveal(self.read_step(step).await)
    }

    /// Runs a write operation in one transaction: everything is committed, or nothing. The operation must change
    /// nothing outside the database, because it runs again in these cases:
    ///
    /// - PostgreSQL reports a serialization failure or a deadlock.
    /// - A record that it looked up is deleted before it refers to it.
    /// - The connection is lost before the commit.
    ///
    /// If the connection is lost during the commit, the outcome is unknown: [`StoreError::OutcomeUnknown`]. After 45
    /// seconds nothing is committed: [`StoreError::Unavailable`].
    pub async fn write<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        reveal(self.write_step(hide(work), false).await)
    }

    /// As [`Database::write`], for a long operation (very many rows). On SQLite it has its own commit, so that finished
    /// operations do not wait for it.
    pub(crate) async fn write_long<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        reveal(self.write_step(hide(work), true).await)
    }

    /// As [`Database::write`], for records that are not written through the ports of this crate. It invalidates all
    /// caches.
    pub async fn write_and_invalidate_all<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        let step = move |connection: &mut AnyConnection| {
            connection.invalidate_everything();
            work(connection)
        };
        self.write(step).await
    }

    /// Opens a connection for writing outside the pools, for work that takes long.
    pub(crate) fn connect(&self) -> Result<AnyConnection, StoreError> {
        self.manager().connect().map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    /// Runs work on a connection for writing outside any transaction, on the calling thread.
    pub(crate) fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut AnyConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(&mut *self.inner.writing.connections.take()?)
    }

    /// Returns the rehearsal whose transaction reads must run in.
    fn open_rehearsal(&self) -> Option<&Arc<Rehearsal>> {
        self.rehearsal().filter(|rehearsal| rehearsal.has_written())
    }

    async fn read_step(&self, step: Step) -> Outcome {
        if let Some(rehearsal) = self.open_rehearsal() {
            return rehearsal.run(self, Part::Read(step)).await;
        }
        match self.extent {
            Extent::Keys if self.inner.is_sqlite() => {
                // Nothing below waits, so a task that reads in a loop would never yield its thread.
                tokio::task::coop::consume_budget().await;
                if let Some(mut connection) = self.inner.readers.try_take() {
                    return step(&mut connection);
                }
            }
            Extent::Page => {
                if let Some(readers) = self.inner.page_readers() {
                    return readers.run(step).await;
                }
            }
            Extent::Any | Extent::Keys => {}
        }
        let inner = Arc::clone(&self.inner);
        blocking(move || {
            let mut attempts = Attempts::begin();
            loop {
                let mut connection = inner.readers.take()?;
                let outcome = step(&mut connection);
                let lost = outcome.as_ref().is_err_and(|abort| inner.readers.is_lost(&mut connection, abort));
                match outcome {
                    Err(Abort::Query(error)) if attempts.reading(&error, lost) => {
                        drop(connection);
                        inner.writing.again(&error, &mut attempts);
                    }
                    outcome => return outcome.map_err(|abort| settled(abort, !inner.is_sqlite())),
                }
            }
        })
        .await
    }

    async fn write_step(&self, step: Step, is_long: bool) -> Outcome {
        let write = Write::of(step, &self.context);
        if let Some(rehearsal) = self.rehearsal() {
            return rehearsal.run(self, Part::Write(write)).await;
        }
        let inner = Arc::clone(&self.inner);
        inner.writing.begun.fetch_add(1, Ordering::Relaxed);
        match inner.group_writer() {
            Some(writer) => writer.submit(write, is_long).await,
            None => blocking(move || inner.writing.run_alone(&write)).await,
        }
    }
}

/// Wraps an operation in a read-only transaction that sees the data as of its first statement.
fn on_snapshot(step: Step) -> Step {
    Box::new(move |connection| {
        match connection.driver() {
            Driver::Postgres(pg) => AnsiTransactionManager::begin_transaction_sql(
                pg,
                "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
            )?,
            Driver::Sqlite(sqlite) => AnsiTransactionManager::begin_transaction(sqlite)?,
        }
        // The next user of this connection must not find an open transaction with old data, even after a panic.
        match catch_unwind(AssertUnwindSafe(|| step(connection))) {
            Ok(Ok(answer)) => Transactions::commit_transaction(connection).map(|()| answer).map_err(Abort::Query),
            Ok(Err(abort)) => Err(rolled_back(connection, abort)),
            Err(panic) => {
                let _ = Transactions::rollback_transaction(connection);
                resume_unwind(panic)
            }
        }
    })
}

async fn blocking(work: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
    let outcome = tokio::task::spawn_blocking(work).await;
    outcome.unwrap_or_else(|error| Err(StoreError::Failed(error.to_string()).into()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::testing::{Kind, TestDatabase};

    #[tokio::test]
    async fn repeated_brief_reads_do_not_starve_other_readers() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let worked = Arc::new(AtomicBool::new(false));
        let work = Arc::clone(&worked);
        tokio::spawn(async move { work.store(true, Ordering::SeqCst) });
        let keyed = db.database.expecting(Extent::Keys);
        for _ in 0..10_000 {
            keyed.read(|_| Ok::<_, Abort<StoreError>>(())).await.unwrap();
        }
        assert!(worked.load(Ordering::SeqCst), "nobody else had a turn");
    }
}
