//! The two entry points to the data: [`Database::read`] and [`Database::write`].

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use diesel::connection::{AnsiTransactionManager, TransactionManager};
use kontor_kernel::StoreError;

use super::again::Attempts;
use super::connection::{Manager, Role};
use super::connections::Connections;
use super::failure::{Abort, settled};
use super::generation::GenerationFile;
use super::group::GroupWriter;
use super::invalidation::{CacheVersions, invalidate_everything};
use super::memory::Memories;
use super::page_readers::PageReaders;
use super::step::{Outcome, Step, hide, reveal};
use super::tables::Tables;
use super::tls::Forwarder;
use super::write::{Transactions, Write, rolled_back};
use super::write_costs::WriteCosts;
use super::writing::Writing;
use super::{AnyConnection, DatabaseUrl, Driver};

/// How many connections to keep.
#[derive(Debug, Clone, Copy)]
pub struct PoolOptions {
    /// Connections for reading; on PostgreSQL the one pool for everything.
    pub connections: u32,
    /// How long a request waits for a free connection.
    pub wait: Duration,
    /// Whether statements stay prepared on their connection. Behind a pooler that hands connections of the server on between
    /// transactions they cannot, and no setting of a session stays either: there the account's own settings count.
    pub prepared_statements: bool,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self { connections: 8, wait: Duration::from_secs(5), prepared_statements: true }
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
    readers: Arc<Connections>,
    writing: Arc<Writing>,
    /// SQLite takes one writer at a time, who writes for everybody: started with the first write; nothing when it could not be.
    group_writer: OnceLock<Option<GroupWriter>>,
    wait: Duration,
    /// Started with the first page; nothing when they could not be.
    page_readers: OnceLock<Option<PageReaders>>,
    memories: Memories,
    /// Where the generation is kept outside the database; nothing where nobody has said so.
    generation: OnceLock<GenerationFile>,
}

impl Inner {
    fn is_sqlite(&self) -> bool {
        !self.writing.is_server
    }

    /// The thread that writes; PostgreSQL has many writers.
    fn group_writer(&self) -> Option<&GroupWriter> {
        if !self.is_sqlite() {
            return None;
        }
        let start = || {
            GroupWriter::start(Arc::clone(&self.writing), self.wait)
                .inspect_err(|error| tracing::warn!(%error, "every write is a commit of its own"))
                .ok()
        };
        self.group_writer.get_or_init(start).as_ref()
    }

    /// The threads that read pages; PostgreSQL has none, its connections are the scarce good.
    fn page_readers(&self) -> Option<&PageReaders> {
        if !self.is_sqlite() {
            return None;
        }
        let start = || {
            let manager = Manager { role: Role::Reader, ..self.manager.clone() };
            let threads = std::thread::available_parallelism().map_or(2, usize::from).max(2);
            PageReaders::start(&manager, threads)
                .inspect_err(|error| tracing::warn!(%error, "lists are read without threads of their own"))
                .ok()
        };
        self.page_readers.get_or_init(start).as_ref()
    }
}

impl Database {
    /// Opens the pools on what is told about the tables.
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
        // The writer first: it creates the file that the readers then open.
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
            memories: Memories::default(),
            generation: OnceLock::new(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Where the generation is kept outside the database.
    pub(crate) fn generation_file(&self) -> Option<&GenerationFile> {
        self.inner.generation.get()
    }

    /// Keeps the generation there from now on. The first one counts.
    pub(crate) fn watch_generation(&self, file: GenerationFile) {
        let _ = self.inner.generation.set(file);
    }

    /// Which database this is.
    pub fn url(&self) -> &DatabaseUrl {
        &self.inner.manager.url
    }

    /// How one knows that what was read is still so.
    pub fn cache_versions(&self) -> &Arc<CacheVersions> {
        &self.inner.writing.versions
    }

    /// The memory of this type, made when it is asked for first.
    pub(crate) fn memory<M: std::any::Any + Default + Send + Sync>(&self) -> Arc<M> {
        self.inner.memories.of()
    }

    /// What makes connections of this database.
    pub(super) fn manager(&self) -> &Manager {
        &self.inner.manager
    }

    /// What the modules above tell about their tables.
    pub(super) fn tables(&self) -> &'static Tables {
        self.inner.writing.tables
    }

    /// Statements sent so far by every connection, for tests that count them.
    pub fn statements(&self) -> u64 {
        self.inner.manager.statements.load(Ordering::Relaxed)
    }

    /// Steps that ran again after a conflict or a lost connection, for tests that count them.
    pub fn repeated(&self) -> u64 {
        self.inner.writing.repeated.load(Ordering::Relaxed)
    }

    /// Steps that were begun to write, each of which waits for the only writer of SQLite, for tests that count them.
    pub fn writes(&self) -> u64 {
        self.inner.writing.begun.load(Ordering::Relaxed)
    }

    /// What all transactions that write have cost so far.
    pub fn write_costs(&self) -> WriteCosts {
        self.inner.manager.writes.read()
    }

    /// Conflicts that commits meet beside the real ones, for tests.
    #[cfg(feature = "test-support")]
    pub fn conflicts(&self) -> &super::injected::Conflicts {
        &self.inner.writing.conflicts
    }

    /// What holds back statements, for tests.
    #[cfg(feature = "test-support")]
    pub fn pauses(&self) -> &super::pauses::Pauses {
        &self.inner.manager.pauses
    }

    /// Use of the pool that serves reads.
    pub fn pool_state(&self) -> PoolState {
        let state = self.inner.readers.state();
        PoolState { open: state.connections, idle: state.idle_connections }
    }

    /// Runs a reading step on a blocking thread. Several statements see the same data only on SQLite inside one
    /// statement; a step that needs a snapshot across statements uses [`Database::read_snapshot`]. When the connection is
    /// lost, the step runs again over another; so it does when a server that reads serializably reports a conflict.
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

    /// As [`Database::read_snapshot`], of a step as short as those of [`Database::read_page`].
    pub async fn read_page_snapshot<T, R>(
        &self,
        work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
    ) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
    {
        reveal(self.read_page_step(at_one_moment(hide(work))).await)
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
        reveal(self.write_step(hide(work), false).await)
    }

    /// As [`Database::write`], of a step that takes long (very many rows): on SQLite nobody shares its commit, so that nobody
    /// who was done before waits for it.
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
        work(&mut *self.inner.writing.connections.take()?)
    }

    async fn read_step(&self, step: Step) -> Outcome {
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

    async fn read_brief_step(&self, step: Step) -> Outcome {
        if self.inner.is_sqlite() {
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

    async fn write_step(&self, step: Step, is_long: bool) -> Outcome {
        let inner = Arc::clone(&self.inner);
        let write = Write::of(step);
        inner.writing.begun.fetch_add(1, Ordering::Relaxed);
        match inner.group_writer() {
            Some(writer) => writer.ask(write, is_long).await,
            None => blocking(move || inner.writing.alone(&write)).await,
        }
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
        // Whoever reads over this connection next must not find the transaction open, and the data of its moment.
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
