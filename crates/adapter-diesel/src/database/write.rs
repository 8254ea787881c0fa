//! One step that writes, with what its request expects of it.

use std::sync::Arc;
use std::time::Instant;

use diesel::connection::{AnsiTransactionManager, Connection, TransactionManager};
use diesel::result::Error as QueryError;

use super::failure::{Abort, at_commit, is_lost};
use super::idempotency::{self, IdempotentRequest, Serving};
use super::invalidation::Invalidations;
use super::preconditions::{self, Left, VersionedRequest};
use super::step::{Answer, Outcome, Step};
use super::tables::Tables;
use super::writing::Writing;
use super::{AnyConnection, Driver};

pub(super) type Transactions = <AnyConnection as Connection>::TransactionManager;

/// A step, and the request that it belongs to. It may run several times.
pub(super) struct Write {
    step: Step,
    request: Option<Arc<IdempotentRequest>>,
    versioned: Option<Arc<VersionedRequest>>,
}

/// What a step did that is not committed yet.
pub(super) struct Written {
    answer: Answer,
    pub invalidations: Invalidations,
    left: Option<Left>,
    has_key: bool,
}

impl Write {
    /// The step, of the request that this task works on.
    pub fn of(step: Step) -> Self {
        Self { step, request: idempotency::current(), versioned: preconditions::current() }
    }

    /// Runs the step within the transaction that is open. After an error the caller rolls back.
    pub fn attempt(&self, connection: &mut AnyConnection, tables: &'static Tables) -> Result<Written, Abort<Answer>> {
        // Of an attempt that was given up.
        Invalidations::take();
        let _serving = Serving::begin(self.request.as_ref());
        preconditions::begin();
        #[cfg(feature = "test-support")]
        super::write_check::forget();
        if let Some(versioned) = &self.versioned {
            versioned.check(connection)?;
        }
        let answer = (self.step)(connection)?;
        let invalidations = Invalidations::take();
        #[cfg(feature = "test-support")]
        if let Some(what) = super::write_check::fault(&invalidations, tables) {
            return Err(Abort::Store(kontor_kernel::StoreError::Failed(what)));
        }
        #[cfg(not(feature = "test-support"))]
        let _ = tables;
        let left = match &self.versioned {
            Some(versioned) => versioned.leaving(connection)?,
            None => None,
        };
        let has_key = idempotency::note(connection)?;
        Ok(Written { answer, invalidations, left, has_key })
    }

    /// The step is committed.
    pub fn committed(&self, written: Written) -> Answer {
        if let Some(request) = self.request.as_ref().filter(|_| written.has_key) {
            request.committed();
        }
        if let Some(versioned) = &self.versioned {
            versioned.committed(written.left);
        }
        written.answer
    }

    /// The step in a transaction of its own.
    pub fn alone(&self, connection: &mut AnyConnection, writing: &Writing) -> Outcome {
        begin(connection)?;
        // The counters come last: others wait for them.
        let done = self.attempt(connection, writing.tables).and_then(|written| {
            let open = writing.versions.open(&written.invalidations, connection)?;
            #[cfg(feature = "test-support")]
            writing.conflicts.meet()?;
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

/// SQLite takes the write lock at the start: a later upgrade from a read could not wait for another writer.
pub(super) fn begin(connection: &mut AnyConnection) -> Result<(), QueryError> {
    match connection.driver() {
        Driver::Postgres(pg) => AnsiTransactionManager::begin_transaction(pg),
        Driver::Sqlite(sqlite) => AnsiTransactionManager::begin_transaction_sql(sqlite, "BEGIN IMMEDIATE"),
    }
}

/// Repeats a step that tells how many records it wrote, until none is left.
pub(crate) fn in_turns<R>(
    connection: &mut AnyConnection,
    mut step: impl FnMut(&mut AnyConnection) -> Result<usize, Abort<R>>,
) -> Result<(), Abort<R>> {
    while in_turn(connection, &mut step)? > 0 {}
    Ok(())
}

/// A step of many that reads and writes while other processes do, too. On SQLite nothing follows it for as long as it took:
/// whoever waits for the write lock only looks from time to time. Inside an open transaction it is a part of that.
fn in_turn<T, R>(
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

/// A lost connection needs no rolling back. One that cannot even do that is broken and leaves the pool; the first error is
/// the one to tell.
pub(super) fn rolled_back<R>(connection: &mut AnyConnection, abort: Abort<R>) -> Abort<R> {
    if !matches!(&abort, Abort::Query(error) if is_lost(error))
        && let Err(error) = Transactions::rollback_transaction(connection)
    {
        tracing::warn!(%error, "a transaction could not be rolled back");
    }
    abort
}
