//! Steps that are transactions of their own, and what writing costs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

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

/// What writing has cost since the database was opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteLoad {
    /// Transactions that were committed.
    pub commits: u64,
    /// Time in which steps ran that shared a commit or could have: on SQLite all but those that ran again by themselves.
    pub in_steps: Duration,
    /// Time that their commits took; of a step by itself with the step.
    pub in_commits: Duration,
}

/// What everybody needs who writes.
pub(super) struct Writing {
    pub connections: Arc<Connections>,
    pub versions: Arc<CacheVersions>,
    pub tables: &'static Tables,
    /// Steps that were begun.
    pub begun: AtomicU64,
    /// Steps that ran again.
    pub repeated: AtomicU64,
    commits: AtomicU64,
    nanoseconds_in_steps: AtomicU64,
    nanoseconds_in_commits: AtomicU64,
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
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
            commits: AtomicU64::default(),
            nanoseconds_in_steps: AtomicU64::default(),
            nanoseconds_in_commits: AtomicU64::default(),
        }
    }

    pub fn load(&self) -> WriteLoad {
        let time = |of: &AtomicU64| Duration::from_nanos(of.load(Ordering::Relaxed));
        WriteLoad {
            commits: self.commits.load(Ordering::Relaxed),
            in_steps: time(&self.nanoseconds_in_steps),
            in_commits: time(&self.nanoseconds_in_commits),
        }
    }

    /// The steps of a group took so long.
    pub fn stepped(&self, time: Duration) {
        self.nanoseconds_in_steps.fetch_add(nanoseconds(time), Ordering::Relaxed);
    }

    /// A transaction was committed, which took so long.
    pub fn committed(&self, time: Duration) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds_in_commits.fetch_add(nanoseconds(time), Ordering::Relaxed);
    }

    /// Runs a step in a transaction of its own, again where that may help.
    pub fn alone(&self, write: &Write) -> Outcome {
        let mut attempt = 1;
        loop {
            let mut connection = self.connections.take()?;
            let began = Instant::now();
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
                outcome => {
                    if outcome.is_ok() {
                        self.committed(began.elapsed());
                    }
                    return outcome;
                }
            }
        }
    }
}
