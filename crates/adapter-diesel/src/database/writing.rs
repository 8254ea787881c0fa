//! Steps that are transactions of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use diesel::result::Error as QueryError;

use super::connection::give_up;
use super::connections::Connections;
use super::failure::{Abort, is_demoted, passes};
use super::invalidation::CacheVersions;
use super::step::Outcome;
use super::tables::Tables;
use super::write::Write;

/// How often a step runs at most.
pub(super) const ATTEMPTS: u32 = 5;

/// What everybody needs who writes.
pub(super) struct Writing {
    pub connections: Arc<Connections>,
    pub versions: Arc<CacheVersions>,
    pub tables: &'static Tables,
    /// Steps that were begun.
    pub begun: AtomicU64,
    /// Steps that ran again.
    pub repeated: AtomicU64,
}

/// Waits a little before a step runs again.
pub(super) fn pause(error: &QueryError, attempt: &mut u32) {
    tracing::debug!(%error, attempt, "a step runs again");
    std::thread::sleep(Duration::from_millis(u64::from(5 * *attempt * *attempt)));
    *attempt += 1;
}

impl Writing {
    pub fn new(connections: Arc<Connections>, tables: &'static Tables) -> Self {
        Self {
            connections,
            versions: Arc::default(),
            tables,
            begun: AtomicU64::default(),
            repeated: AtomicU64::default(),
        }
    }

    /// Runs a step in a transaction of its own, again where that may help.
    pub fn alone(&self, write: &Write) -> Outcome {
        let mut attempt = 1;
        loop {
            let mut connection = self.connections.take()?;
            let outcome = write.alone(&mut connection, &self.versions, self.tables);
            if matches!(&outcome, Err(Abort::Query(error)) if is_demoted(error)) {
                give_up(&mut connection);
            }
            // A file is not lost on the way; what it reports would be reported again.
            let lost = outcome.is_err() && self.connections.is_lost(&mut connection) && connection.is_postgres();
            match outcome {
                Err(Abort::Query(error)) if attempt < ATTEMPTS && (lost || passes(&error)) => {
                    drop(connection);
                    self.repeated.fetch_add(1, Ordering::Relaxed);
                    pause(&error, &mut attempt);
                }
                outcome => return outcome,
            }
        }
    }
}
