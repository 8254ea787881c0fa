//! A pool that is not trusted after one of its connections was lost.
//!
//! A restart or a fail-over of the server ends all connections at once, and a pool learns it of each only when it is used.
//! So after one was lost, every other is asked before its next use whether it still works. A server that takes no changes any
//! longer, because another one takes its place, may keep its connections: the first that is refused to write ends all of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::r2d2::{Pool, PooledConnection, State};
use kontor_kernel::StoreError;

use super::AnyConnection;
use super::connection::{Manager, give_up, is_broken};
use super::failure::{Abort, may_pass};

/// A server is left at most this often: where there is no other that takes changes, reading goes on.
const LEFT_AT_MOST_EVERY: Duration = Duration::from_secs(1);

/// How many connections had been lost when one was last known to work.
#[derive(Clone, Copy, PartialEq, Eq)]
struct WorkedAt(u64);

pub(super) struct Connections {
    pool: Pool<Manager>,
    losses: AtomicU64,
    /// When a server was left. Connections that were asked for before lead there.
    left_at: Mutex<Option<Instant>>,
}

impl Connections {
    pub fn open(manager: Manager, size: u32, wait: Duration) -> Result<Self, StoreError> {
        let pool = Pool::builder()
            .max_size(size)
            .min_idle(Some(1))
            .connection_timeout(wait)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_on_check_out(false)
            .build(manager)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { pool, losses: AtomicU64::new(0), left_at: Mutex::default() })
    }

    /// A connection that works, as far as anybody knows.
    pub fn take(&self) -> Result<PooledConnection<Manager>, StoreError> {
        // Each that turns out dead leaves the pool; one more than there can be is a new one.
        for _ in 0..=self.pool.max_size() {
            let mut connection = self.pool.get().map_err(|error| StoreError::Unavailable(error.to_string()))?;
            if self.works(&mut connection) {
                return Ok(connection);
            }
        }
        Err(StoreError::Unavailable("every connection was lost".to_owned()))
    }

    /// A connection to SQLite that is idle, unless all are busy. Those cannot be lost.
    pub fn try_take(&self) -> Option<PooledConnection<Manager>> {
        self.pool.try_get()
    }

    pub fn state(&self) -> State {
        self.pool.state()
    }

    fn works(&self, connection: &mut PooledConnection<Manager>) -> bool {
        let losses = WorkedAt(self.losses.load(Ordering::SeqCst));
        if losses == WorkedAt(0) || PooledConnection::extensions(connection).get() == Some(&losses) {
            return true;
        }
        let works = self.is_newer(connection) && connection.batch_execute("SELECT 1").is_ok();
        if works {
            PooledConnection::extensions_mut(connection).insert(losses);
        } else {
            // Diesel does not always know: the pool would keep it.
            give_up(connection);
        }
        works
    }

    fn left_at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.left_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a connection was asked for after a server was left.
    fn is_newer(&self, connection: &AnyConnection) -> bool {
        self.left_at().is_none_or(|left| connection.asked_at > left)
    }

    /// Leaves the server of a connection, since it takes no changes.
    pub fn leave_server(&self, connection: &mut AnyConnection) {
        let mut left_at = self.left_at();
        if left_at.is_none_or(|left| connection.asked_at > left && left.elapsed() > LEFT_AT_MOST_EVERY) {
            *left_at = Some(Instant::now());
        }
        give_up(connection);
    }

    /// Looks at a connection over which a step failed. Returns whether it was lost: it leaves the pool, and the others are
    /// asked before they are used again. Of some errors it cannot be told: then the connection is asked.
    pub fn is_lost<R>(&self, connection: &mut AnyConnection, abort: &Abort<R>) -> bool {
        let unclear = matches!(abort, Abort::Query(error) if connection.is_postgres() && may_pass(error));
        if unclear && !is_broken(connection) && connection.batch_execute("SELECT 1").is_err() {
            give_up(connection);
        }
        let is_lost = is_broken(connection);
        if is_lost {
            self.losses.fetch_add(1, Ordering::SeqCst);
        }
        is_lost
    }
}
