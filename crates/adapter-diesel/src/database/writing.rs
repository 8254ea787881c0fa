//! Write operations in transactions of their own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use diesel::result::Error as QueryError;

use super::again::Attempts;
use super::connections::Connections;
use super::failure::{Abort, is_read_only, settled};
use super::invalidation::CacheVersions;
use super::step::Outcome;
use super::tables::Tables;
use super::write::Write;

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
    pub conflicts: super::injected_conflicts::Conflicts,
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
            conflicts: super::injected_conflicts::Conflicts::default(),
        }
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
