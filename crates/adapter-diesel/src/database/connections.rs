//! Connection pool that checks its connections after one was lost.
//!
//! A restart or fail-over of the server ends all connections at once, but a pool notices each loss only on use. After
//! one connection was lost, every other one is checked before its next use. A server that became read-only, because
//! another server takes over, may keep its connections. The first refused write therefore discards all of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::r2d2::{Pool, PooledConnection, State};
use kontor_kernel::StoreError;

use super::AnyConnection;
use super::connection::{Manager, is_broken, mark_broken};
use super::failure::{Abort, is_unclassified};

/// Maximum pause between two attempts to connect. A pool that has no server learns of a new one by these attempts.
const MAX_CONNECT_PAUSE: Duration = Duration::from_millis(500);

/// Minimum interval between two switches to another server. Where no other server accepts changes, reads continue.
const MIN_SWITCH_INTERVAL: Duration = Duration::from_secs(1);

/// Number of lost connections at the last successful check of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CheckedAt(u64);

pub(super) struct Connections {
    pool: Pool<Manager>,
    /// Maximum time a caller waits for a connection.
    wait: Duration,
    losses: AtomicU64,
    /// Time at which a server was abandoned. Connections requested before that lead to it.
    left_at: Mutex<Option<Instant>>,
}

impl Connections {
    pub fn open(manager: Manager, size: u32, wait: Duration) -> Result<Self, StoreError> {
        // The pauses between attempts to connect grow to half of the timeout of the pool. Callers have their own.
        let pool = Pool::builder()
            .max_size(size)
            .min_idle(Some(1))
            .connection_timeout(wait.min(MAX_CONNECT_PAUSE * 2))
            .idle_timeout(None)
            .max_lifetime(None)
            .test_on_check_out(false)
            .build_unchecked(manager);
        let connections = Self { pool, wait, losses: AtomicU64::new(0), left_at: Mutex::default() };
        drop(connections.take()?);
        Ok(connections)
    }

    /// Returns a connection that works as far as is known.
    pub fn take(&self) -> Result<PooledConnection<Manager>, StoreError> {
        // Each dead connection leaves the pool, so after `max_size` of them the next one is new.
        for _ in 0..=self.pool.max_size() {
            let mut connection =
                self.pool.get_timeout(self.wait).map_err(|error| StoreError::Unavailable(error.to_string()))?;
            if self.works(&mut connection) {
                return Ok(connection);
            }
        }
        Err(StoreError::Unavailable("every connection was lost".to_owned()))
    }

    /// Returns an idle SQLite connection, unless all are busy. SQLite connections cannot be lost.
    pub fn try_take(&self) -> Option<PooledConnection<Manager>> {
        self.pool.try_get()
    }

    pub fn state(&self) -> State {
        self.pool.state()
    }

    fn works(&self, connection: &mut PooledConnection<Manager>) -> bool {
        let losses = CheckedAt(self.losses.load(Ordering::SeqCst));
        if losses == CheckedAt(0) || PooledConnection::extensions(connection).get() == Some(&losses) {
            return true;
        }
        let works = self.is_newer(connection) && connection.batch_execute("SELECT 1").is_ok();
        if works {
            PooledConnection::extensions_mut(connection).insert(losses);
        } else {
            // Diesel does not always notice the loss: the pool would keep the connection.
            mark_broken(connection);
        }
        works
    }

    fn left_at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.left_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `true` if a connection was requested after the last server was abandoned.
    fn is_newer(&self, connection: &AnyConnection) -> bool {
        self.left_at().is_none_or(|left| connection.asked_at > left)
    }

    /// Abandons the server of a connection, because it accepts no changes.
    pub fn abandon_server(&self, connection: &mut AnyConnection) {
        let mut left_at = self.left_at();
        if left_at.is_none_or(|left| connection.asked_at > left && left.elapsed() > MIN_SWITCH_INTERVAL) {
            *left_at = Some(Instant::now());
        }
        mark_broken(connection);
    }

    /// Checks a connection on which an operation failed. Returns `true` if it was lost: it leaves the pool, and the
    /// others are checked before their next use. If the error is inconclusive, a query tests the connection.
    pub fn is_lost<R>(&self, connection: &mut AnyConnection, abort: &Abort<R>) -> bool {
        let unclear = matches!(abort, Abort::Query(error) if connection.is_postgres() && is_unclassified(error));
        if unclear && !is_broken(connection) && connection.batch_execute("SELECT 1").is_err() {
            mark_broken(connection);
        }
        let is_lost = is_broken(connection);
        if is_lost {
            self.losses.fetch_add(1, Ordering::SeqCst);
        }
        is_lost
    }
}
