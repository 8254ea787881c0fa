//! The two entry points to the data: [`Database::read`] and [`Database::write`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use diesel::connection::{AnsiTransactionManager, Connection, TransactionManager};
use diesel::result::Error as QueryError;
use kontor_kernel::StoreError;

use super::connection::{Manager, Role, give_up};
use super::connections::Connections;
use super::failure::{Abort, at_commit, is_demoted, is_lost, passes};
use super::idempotency::{self, Serving};
use super::invalidation::{CacheVersions, Invalidations, invalidate_everything};
use super::memory::Memories;
use super::page_readers::PageReaders;
use super::preconditions::{self, VersionedRequest};
use super::step::{Answer, Outcome, Step, hide, reveal};
use super::tables::Tables;
use super::tls::Forwarder;
use super::{AnyConnection, DatabaseUrl, Driver};

/// How many connections to keep.
#[derive(Debug, Clone, Copy)]
pub struct PoolOptions {
    /// Connections for reading; on PostgreSQL the one pool for everything.
    pub connections: u32,
    /// How long a request waits for a free connection.
    pub wait: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self { connections: 8, wait: Duration::from_secs(5) }
    }
}

/// Use of a pool at one moment.
#[derive(Debug, Clone, Copy)]
pub struct PoolState {
    /// Connections open.
    pub open: u32,
    /// Of these, not in use.
    pub idle: u32,
}

/// An open database. Cloning shares the pools.
#[derive(Clone)]
pub struct Database {
    inner: Arc<Inner>,
}

struct Inner {
    /// Makes connections like those that write.
    manager: Manager,
    readers: Connections,
    /// SQLite takes one writer at a time; queueing for it here is fairer than its own busy loop.
    writer: Option<Connections>,
    /// Started with the first page; nothing when they could not be.
    page_readers: OnceLock<Option<PageReaders>>,
    repeated: AtomicU64,
    writes: AtomicU64,
    versions: Arc<CacheVersions>,
    memories: Memories,
    tables: &'static Tables,
}

impl Inner {
    fn writing(&self) -> &Connections {
        self.writer.as_ref().unwrap_or(&self.readers)
    }

    /// The threads that read pages; PostgreSQL has none, its connections are the scarce good.
    fn page_readers(&self) -> Option<&PageReaders> {
        self.writer.as_ref()?;
        let start = || {
            let manager = Manager { role: Role::Reader, ..self.manager.clone() };
            let threads = std::thread::available_parallelism().map_or(2, usize::from).max(2);
            PageReaders::start(&manager, threads)
                .inspect_err(|error| tracing::warn!(%error, "lists are read without threads of their own"))
                .ok()
        };
        self.page_readers.get_or_init(start).as_ref()
    }

    /// Waits a little before a step runs again.
    fn again(&self, error: &QueryError, attempt: &mut u32) {
        tracing::debug!(%error, attempt, "a step runs again");
        self.repeated.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(u64::from(5 * *attempt * *attempt)));
        *attempt += 1;
    }
}

/// How often a step runs at most.
const ATTEMPTS: u32 = 5;

impl Database {
    /// Opens the pools on what is told about the tables.
    pub(crate) fn open_with(
        url: DatabaseUrl,
        options: PoolOptions,
        tables: &'static Tables,
    ) -> Result<Self, StoreError> {
        let statements = Arc::new(AtomicU64::new(0));
        let tls = match &url {
            DatabaseUrl::Sqlite(_) => None,
            DatabaseUrl::Postgres(url) => {
                Forwarder::start(url).map_err(|error| StoreError::Failed(error.to_string()))?
            }
        };
        let manager = Manager { url, role: Role::Writer, tls: tls.map(Arc::new), statements };
        let build = |role: Role, size: u32| Connections::open(Manager { role, ..manager.clone() }, size, options.wait);
        // The writer first: it creates the file that the readers then open.
        let writer = match manager.url {
            DatabaseUrl::Sqlite(_) => Some(build(Role::Writer, 1)?),
            DatabaseUrl::Postgres(_) => None,
        };
        let readers = build(if writer.is_some() { Role::Reader } else { Role::Writer }, options.connections)?;
        let (versions, memories) = (Arc::default(), Memories::default());
        let inner = Inner {
            manager,
            readers,
            writer,
            page_readers: OnceLock::new(),
            repeated: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            versions,
            memories,
            tables,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Which database this is.
    pub fn url(&self) -> &DatabaseUrl {
        &self.inner.manager.url
    }

    /// What makes connections of this database.
    pub(super) fn manager(&self) -> &Manager {
        &self.inner.manager
    }

    /// How one knows that what was read is still so.
    pub fn cache_versions(&self) -> &Arc<CacheVersions> {
        &self.inner.versions
    }

    /// The memory of this type, made when it is asked for first.
    pub(crate) fn memory<M: std::any::Any + Default + Send + Sync>(&self) -> Arc<M> {
        self.inner.memories.of()
    }

    /// What the modules above tell about their tables.
    pub(super) fn tables(&self) -> &'static Tables {
        self.inner.tables
    }

    /// Statements sent so far by every connection, for tests that count them.
    pub fn statements(&self) -> u64 {
        self.inner.manager.statements.load(Ordering::Relaxed)
    }

    /// Steps that ran again after a conflict or a lost connection, for tests that count them.
    pub fn repeated(&self) -> u64 {
        self.inner.repeated.load(Ordering::Relaxed)
    }

    /// Steps that were begun to write, each of which waits for the only writer of SQLite, for tests that count them.
    pub fn writes(&self) -> u64 {
        self.inner.writes.load(Ordering::Relaxed)
    }

    /// Use of the pool that serves reads.
    pub fn pool_state(&self) -> PoolState {
        let state = self.inner.readers.state();
        PoolState { open: state.connections, idle: state.idle_connections }
    }

    /// Runs a reading step on a blocking thread. Several statements see the same data only on SQLite inside one
    /// statement; a step that needs a snapshot across statements uses [`Database::read_snapshot`]. When the connection is
    /// lost, the step runs again over another.
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

    /// Runs a short reading step: few rows, all found by key, so little work that handing it to another thread and back
    /// would cost more. SQLite answers on the calling thread, out of its page cache, unless every connection is busy;
    /// everything else goes the way of [`Database::read`].
    pub async fn read_brief<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        reveal(self.read_brief_step(hide(work)).await)
    }

    /// Reads a page for a visitor: few statements, each over one range of an index. On SQLite by threads of their own,
    /// which never do anything longer; on PostgreSQL as [`Database::read`].
    pub async fn read_page<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        reveal(self.read_page_step(hide(work)).await)
    }

    /// Runs a reading step whose statements all see the data of one moment.
    pub async fn read_snapshot<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        reveal(self.read_step(at_one_moment(hide(work))).await)
    }

    /// As [`Database::read_snapshot`], of a step as short as those of [`Database::read_brief`].
    pub async fn read_brief_snapshot<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        reveal(self.read_brief_step(at_one_moment(hide(work))).await)
    }

    /// Runs one whole step in one transaction: everything is committed, or nothing. The step runs again when
    /// PostgreSQL reports a serialization failure or a deadlock, when a record it looked up is gone before it refers to it,
    /// or the connection is lost before the commit, so it must change nothing outside the database. When the connection is
    /// lost at the commit, nobody knows what became of it: [`StoreError::OutcomeUnknown`].
    pub async fn write<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        reveal(self.write_step(hide(work)).await)
    }

    /// As [`Database::write`], for records that are written by other means than this crate's ports: nothing that is
    /// remembered anywhere counts any longer.
    pub async fn write_apart<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        let step = move |connection: &mut AnyConnection| {
            invalidate_everything();
            work(connection)
        };
        self.write(step).await
    }

    /// Runs work on a connection for writing outside any transaction, on the calling thread.
    pub(crate) fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut AnyConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(&mut *self.inner.writing().take()?)
    }

    async fn read_step(&self, step: Step) -> Outcome {
        let inner = Arc::clone(&self.inner);
        blocking(move || {
            let mut attempt = 1;
            loop {
                let mut connection = inner.readers.take()?;
                let outcome = step(&mut connection);
                let lost = outcome.is_err() && inner.readers.is_lost(&mut connection);
                match outcome {
                    Err(Abort::Query(error)) if lost && attempt < ATTEMPTS && is_lost(&error) => {
                        drop(connection);
                        inner.again(&error, &mut attempt);
                    }
                    outcome => return outcome,
                }
            }
        })
        .await
    }

    async fn read_brief_step(&self, step: Step) -> Outcome {
        if self.inner.writer.is_some() {
            // Nothing below waits, so a task that reads again and again would keep its thread from all others.
            tokio::task::coop::consume_budget().await;
            if let Some(mut connection) = self.inner.readers.try_take() {
                return step(&mut connection);
            }
        }
        self.read_step(step).await
    }

    async fn read_page_step(&self, step: Step) -> Outcome {
        let Some(readers) = self.inner.page_readers() else { return self.read_step(step).await };
        let (answer, answered) = tokio::sync::oneshot::channel();
        let asked = readers.ask(Box::new(move |connection| {
            // Nobody waits any longer when the visitor has gone.
            if !answer.is_closed() {
                let _ = answer.send(step(connection));
            }
        }));
        if !asked {
            return Err(StoreError::Unavailable("too many lists are being read".to_owned()).into());
        }
        answered.await.unwrap_or_else(|_| Err(StoreError::Failed("reading a page broke off".to_owned()).into()))
    }

    async fn write_step(&self, step: Step) -> Outcome {
        let inner = Arc::clone(&self.inner);
        let request = idempotency::current();
        let versioned = preconditions::current();
        blocking(move || {
            let pool = inner.writing();
            inner.writes.fetch_add(1, Ordering::Relaxed);
            let mut attempt = 1;
            loop {
                let mut connection = pool.take()?;
                // Of an attempt that was given up.
                Invalidations::take();
                let _serving = Serving::begin(request.as_ref());
                preconditions::begin();
                #[cfg(feature = "test-support")]
                super::write_check::forget();
                let versioned = versioned.as_deref();
                let outcome = begin(&mut connection).map_err(Abort::Query).map(|()| {
                    versioned.map_or(Ok(()), |request| request.check(&mut connection))?;
                    step(&mut connection)
                });
                let outcome = outcome.and_then(|done| commit(&inner, &mut connection, done, versioned));
                if matches!(&outcome, Err(Abort::Query(error)) if is_demoted(error)) {
                    give_up(&mut connection);
                }
                let lost = outcome.is_err() && pool.is_lost(&mut connection);
                match outcome {
                    Err(Abort::Query(error)) if attempt < ATTEMPTS && (lost || passes(&error)) => {
                        drop(connection);
                        inner.again(&error, &mut attempt);
                    }
                    outcome => return outcome,
                }
            }
        })
        .await
    }
}

type Transactions = <AnyConnection as Connection>::TransactionManager;

/// SQLite takes the write lock at the start: a later upgrade from a read could not wait for another writer.
fn begin(connection: &mut AnyConnection) -> Result<(), QueryError> {
    match connection.driver() {
        Driver::Postgres(pg) => AnsiTransactionManager::begin_transaction(pg),
        Driver::Sqlite(sqlite) => AnsiTransactionManager::begin_transaction_sql(sqlite, "BEGIN IMMEDIATE"),
    }
}

/// The step in a transaction that changes nothing and sees the data as they were at its first statement.
fn at_one_moment(step: Step) -> Step {
    Box::new(move |connection| {
        match connection.driver() {
            Driver::Postgres(pg) => AnsiTransactionManager::begin_transaction_sql(
                pg,
                "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
            )?,
            Driver::Sqlite(sqlite) => AnsiTransactionManager::begin_transaction(sqlite)?,
        }
        match step(connection) {
            Ok(answer) => Transactions::commit_transaction(connection).map(|()| answer).map_err(Abort::Query),
            Err(abort) => Err(rolled_back(connection, abort)),
        }
    })
}

/// Commits, with the counters of what the step invalidated.
fn commit(
    inner: &Inner,
    connection: &mut AnyConnection,
    done: Outcome,
    versioned: Option<&VersionedRequest>,
) -> Outcome {
    let invalidations = Invalidations::take();
    let (mut open, mut left) = (None, None);
    let done = done.and_then(|value| {
        #[cfg(feature = "test-support")]
        if let Some(what) = super::write_check::forgotten(&invalidations, inner.tables) {
            return Err(Abort::Store(StoreError::Failed(format!("a step changes {what}"))));
        }
        if let Some(request) = versioned {
            left = request.leaving(connection)?;
        }
        // Before the counters, which others wait for.
        idempotency::note(connection)?;
        open = inner.versions.open(&invalidations, connection)?;
        Ok(value)
    });
    let outcome = match done {
        Ok(value) => Transactions::commit_transaction(connection).map(|()| value).map_err(at_commit),
        Err(abort) => Err(rolled_back(connection, abort)),
    };
    if outcome.is_ok() {
        idempotency::committed();
        if let Some(request) = versioned {
            request.committed(left);
        }
        if let Some(open) = open {
            open.committed();
        }
    }
    outcome
}

/// A lost connection needs no rolling back. One that cannot even do that is broken and leaves the pool; the first error is
/// the one to tell.
fn rolled_back(connection: &mut AnyConnection, abort: Abort<Answer>) -> Abort<Answer> {
    if !matches!(&abort, Abort::Query(error) if is_lost(error))
        && let Err(error) = Transactions::rollback_transaction(connection)
    {
        tracing::warn!(%error, "a transaction could not be rolled back");
    }
    abort
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
    async fn who_reads_briefly_again_and_again_lets_others_work() {
        let db = TestDatabase::fresh(Kind::Sqlite).unwrap();
        let worked = Arc::new(AtomicBool::new(false));
        let work = Arc::clone(&worked);
        tokio::spawn(async move { work.store(true, Ordering::SeqCst) });
        for _ in 0..10_000 {
            db.database.read_brief(|_| Ok::<_, Abort<StoreError>>(())).await.unwrap();
        }
        assert!(worked.load(Ordering::SeqCst), "nobody else had a turn");
    }
}
