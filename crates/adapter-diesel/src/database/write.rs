//! Write operation with the idempotency key and the precondition of its request; batches, which process numbered
//! records a few at a time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel::connection::{AnsiTransactionManager, Connection, SimpleConnection as _, TransactionManager};
use diesel::result::Error as QueryError;
use kontor_kernel::StoreError;

use super::connections::Connections;
use super::failure::{Abort, Attempts, at_commit, is_lost, is_read_only, settled};
use super::idempotency::IdempotentRequest;
use super::invalidation::{CacheVersions, Invalidations};
use super::operation::{Answer, Operation, Outcome, Step};
use super::preconditions::{Left, RequestContext, VersionedRequest};
use super::{AnyConnection, Database, DatabaseUrl, Driver, Tables};

pub(super) type Transactions = <AnyConnection as Connection>::TransactionManager;

/// Time after which an operation is not committed any more: what it stores has the time of its start. Copies of lists
/// rely on changes that become readable within `kontor_kernel::ChangeService::overlap` of their time.
const MAX_AGE: Duration = Duration::from_secs(45);

/// Operation and the request it belongs to. It may run several times.
pub(super) struct Write {
    step: Step,
    asked_at: Instant,
    request: Option<Arc<IdempotentRequest>>,
    versioned: Option<Arc<VersionedRequest>>,
}

/// Result of an operation that is not committed yet.
pub(super) struct Written {
    answer: Answer,
    pub invalidations: Invalidations,
    left: Option<Left>,
    key: Option<i64>,
}

impl Write {
    /// Binds an operation to a request.
    pub fn of(step: Step, context: &RequestContext) -> Self {
        let request = context.keyed.clone().filter(|request| request.begins_to_write());
        Self { step, asked_at: Instant::now(), request, versioned: context.versioned.clone() }
    }

    /// Runs the operation within the open transaction. After an error the caller rolls back.
    pub fn attempt(&self, connection: &mut AnyConnection, tables: &'static Tables) -> Result<Written, Abort<Answer>> {
        // Reports of an abandoned attempt.
        connection.operation = Operation::default();
        #[cfg(feature = "test-support")]
        connection.statements.forget();
        if let Some(request) = &self.request {
            request.begin_attempt();
        }
        if let Some(versioned) = &self.versioned {
            versioned.check(connection)?;
        }
        let answer = (self.step)(connection)?;
        let operation = std::mem::take(&mut connection.operation);
        #[cfg(feature = "test-support")]
        if let Some(what) = connection.statements.fault(&operation.invalidations, tables) {
            return Err(Abort::Store(StoreError::Failed(what)));
        }
        #[cfg(not(feature = "test-support"))]
        let _ = tables;
        let left = match &self.versioned {
            Some(versioned) => versioned.leaving(connection, &operation)?,
            None => None,
        };
        let key = match &self.request {
            Some(request) => request.store_key(connection, &operation)?,
            None => None,
        };
        Ok(Written { answer, invalidations: operation.invalidations, left, key })
    }

    /// Notes that the operation is committed.
    pub fn committed(&self, written: Written) -> Answer {
        if let (Some(request), Some(number)) = (&self.request, written.key) {
            request.committed(number);
        }
        if let Some(versioned) = &self.versioned {
            versioned.committed(written.left);
        }
        written.answer
    }

    /// Runs the operation in its own transaction.
    pub fn run_alone(&self, connection: &mut AnyConnection, writing: &Writing) -> Outcome {
        begin(connection)?;
        // The counters are written last, because other transactions wait for their rows.
        let done = self.attempt(connection, writing.tables).and_then(|written| {
            let open = writing.versions.open(&written.invalidations, connection)?;
            writing.require_timely(self)?;
            #[cfg(feature = "test-support")]
            writing.conflicts.maybe_conflict()?;
            Ok((written, open))
        });
        let (written, open) = match done {
            Ok(done) => done,
            Err(abort) => return Err(rolled_back(connection, abort)),
        };
        Transactions::commit_transaction(connection).map_err(|error| at_commit(error, writing.is_server))?;
        if let Some(open) = open {
            open.committed();
        }
        Ok(self.committed(written))
    }
}

/// Begins a transaction. SQLite takes the write lock at once: a later upgrade from a read could not wait for another
/// writer.
pub(super) fn begin(connection: &mut AnyConnection) -> Result<(), QueryError> {
    match connection.driver() {
        Driver::Postgres(pg) => AnsiTransactionManager::begin_transaction(pg),
        Driver::Sqlite(sqlite) => AnsiTransactionManager::begin_transaction_sql(sqlite, "BEGIN IMMEDIATE"),
    }
}

/// Repeats an operation that returns the number of records it wrote, until it returns zero.
pub(crate) fn repeat_until_zero<R>(
    connection: &mut AnyConnection,
    mut step: impl FnMut(&mut AnyConnection) -> Result<usize, Abort<R>>,
) -> Result<(), Abort<R>> {
    while serialized(connection, &mut step)? > 0 {}
    Ok(())
}

/// Runs one of many operations that read and write while other processes do too. On SQLite a pause of the same duration
/// follows, because waiting writers only poll for the write lock. Inside an open transaction it is a part of that
/// transaction.
fn serialized<T, R>(
    connection: &mut AnyConnection,
    step: impl FnOnce(&mut AnyConnection) -> Result<T, Abort<R>>,
) -> Result<T, Abort<R>> {
    let depth = Transactions::transaction_manager_status_mut(connection).transaction_depth()?;
    if depth.is_some() {
        return connection.transaction(step);
    }
    begin(connection)?;
    let began = Instant::now();
    match step(connection) {
        Ok(done) => {
            Transactions::commit_transaction(connection)?;
            if !connection.is_postgres() {
                std::thread::sleep(began.elapsed());
            }
            Ok(done)
        }
        Err(abort) => Err(rolled_back(connection, abort)),
    }
}

/// Rolls back after an error. A lost connection needs no rollback. A connection whose rollback fails is broken and
/// leaves the pool. The first error is the one to report.
pub(super) fn rolled_back<R>(connection: &mut AnyConnection, abort: Abort<R>) -> Abort<R> {
    if !matches!(&abort, Abort::Query(error) if is_lost(error))
        && let Err(error) = Transactions::rollback_transaction(connection)
    {
        tracing::warn!(%error, "a transaction could not be rolled back");
    }
    abort
}

/// State shared by everything that writes.
pub(super) struct Writing {
    pub connections: Arc<Connections>,
    pub versions: Arc<CacheVersions>,
    pub tables: &'static Tables,
    /// Number of operations begun.
    pub begun: AtomicU64,
    /// Number of repeated attempts.
    pub repeated: AtomicU64,
    /// `true` for PostgreSQL: other processes write too, and connections can be lost.
    pub is_server: bool,
    /// Lock that serializes operations with repeated conflicts.
    queue: Mutex<()>,
    #[cfg(feature = "test-support")]
    pub conflicts: super::pauses::Conflicts,
}

impl Writing {
    pub fn new(connections: Arc<Connections>, tables: &'static Tables, is_server: bool) -> Self {
        Self {
            connections,
            versions: Arc::default(),
            tables,
            begun: AtomicU64::default(),
            repeated: AtomicU64::default(),
            is_server,
            queue: Mutex::default(),
            #[cfg(feature = "test-support")]
            conflicts: super::pauses::Conflicts::default(),
        }
    }

    /// Refuses an operation that began too long ago. The caller may repeat it with a new time.
    pub fn require_timely(&self, write: &Write) -> Result<(), StoreError> {
        let age = write.asked_at.elapsed();
        #[cfg(feature = "test-support")]
        let age = age + self.conflicts.delay();
        if age < MAX_AGE {
            return Ok(());
        }
        Err(StoreError::Unavailable(format!("a change was not stored within {} seconds", MAX_AGE.as_secs())))
    }

    /// Waits before an operation runs again.
    pub fn again(&self, error: &QueryError, attempts: &mut Attempts) {
        tracing::debug!(%error, attempts = attempts.count(), "a transaction is retried");
        let repeated = self.repeated.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(attempts.pause(error, repeated));
    }

    /// Runs an operation in its own transaction, and repeats it where a retry may help.
    pub fn run_alone(&self, write: &Write) -> Outcome {
        let mut attempts = Attempts::begin();
        loop {
            // The lock is taken before the connection, so that no waiting operation holds a connection.
            let _queue = attempts.queues().then(|| self.queue.lock().unwrap_or_else(PoisonError::into_inner));
            let mut connection = self.connections.take()?;
            let outcome = write.run_alone(&mut connection, self);
            if matches!(&outcome, Err(Abort::Query(error)) if is_read_only(error)) {
                self.connections.abandon_server(&mut connection);
            }
            // A connection to a file cannot be lost; its error would recur.
            let lost =
                outcome.as_ref().is_err_and(|abort| self.connections.is_lost(&mut connection, abort)) && self.is_server;
            match outcome {
                Err(Abort::Query(error)) if attempts.writing(&error, lost, self.is_server) => {
                    drop(connection);
                    self.again(&error, &mut attempts);
                }
                outcome => return outcome.map_err(|abort| settled(abort, self.is_server)),
            }
        }
    }
}

/// Number of the last record of a batch, if any, and the count it adds.
type Done = (Option<i64>, u64);

/// Indexes of other owners are left alone.
const ENTER_NEW_ROWS: &str = "SELECT gin_clean_pending_list(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam \
    WHERE a.amname = 'gin' AND c.relkind = 'i' AND c.relnamespace = current_schema()::regnamespace \
    AND pg_has_role(c.relowner, 'USAGE')";

impl Database {
    /// Runs an operation on the records after a number, each time in its own transaction, until it returns no last
    /// number. Returns the sum of the counts.
    pub(crate) async fn walk(
        &self,
        step: impl Fn(&mut AnyConnection, i64) -> Result<Done, Abort<StoreError>> + Copy + Send + 'static,
    ) -> Result<u64, StoreError> {
        self.steps(step, false).await
    }

    /// As [`Database::walk`], for operations that fill tables. Whenever the number of batches has doubled, `ANALYZE`
    /// runs, so that no plan is made for much smaller tables.
    pub(crate) async fn fill(
        &self,
        step: impl Fn(&mut AnyConnection, i64) -> Result<Done, Abort<StoreError>> + Copy + Send + 'static,
    ) -> Result<u64, StoreError> {
        self.analyze_tables().await;
        self.steps(step, true).await
    }

    async fn steps(
        &self,
        step: impl Fn(&mut AnyConnection, i64) -> Result<Done, Abort<StoreError>> + Copy + Send + 'static,
        is_filling: bool,
    ) -> Result<u64, StoreError> {
        let (mut last, mut sum, mut steps) = (0, 0, 0_u64);
        loop {
            let (next, count) = self.write_long(move |connection| step(connection, last)).await?;
            sum += count;
            steps += 1;
            match next {
                Some(next) => last = next,
                None => break,
            }
            if is_filling && steps.is_power_of_two() {
                self.analyze_tables().await;
            }
        }
        if is_filling {
            self.enter_new_rows().await;
        }
        Ok(sum)
    }

    /// Runs `ANALYZE` on the growing tables. PostgreSQL does so itself, but some time later. Until then, after many
    /// inserts, its plans fit small tables and scan large ones. SQLite needs no statistics.
    pub(crate) async fn analyze_tables(&self) {
        // Another session may be running it already.
        let tables = self.tables().growing;
        self.maintain(format!("SET LOCAL lock_timeout = '1s'; ANALYZE {tables}")).await;
    }

    /// Enters new rows into the text indexes. PostgreSQL does so itself, but some time later. Until then, every search
    /// reads the list of rows that the index does not contain yet. SQLite has no such list.
    pub(crate) async fn enter_new_rows(&self) {
        self.maintain(ENTER_NEW_ROWS.to_owned()).await;
    }

    async fn maintain(&self, statements: String) {
        // The rows of a rehearsal are never committed.
        if !matches!(self.url(), DatabaseUrl::Postgres(_)) || self.rehearsal().is_some() {
            return;
        }
        // This write does not belong to the request that filled the tables.
        let background = self.for_request(RequestContext::default());
        let maintained =
            background.write_long(move |connection| Ok::<_, Abort<StoreError>>(connection.batch_execute(&statements)?));
        if let Err(error) = maintained.await {
            tracing::warn!(%error, "searches may be slow: statistics or text indexes were not updated");
        }
    }
}
