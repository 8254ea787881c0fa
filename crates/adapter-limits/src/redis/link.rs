use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use kontor_kernel::{Quota, RateRule};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ConnectionInfo, ErrorKind, RedisError, ServerErrorKind};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::{Counter, RedisUrl};

/// Timeout for a connection. Only hits before the first attempt ends wait for it.
const CONNECT_WITHIN: Duration = Duration::from_secs(1);

/// Back-off between attempts: doubles from the first to the last pause.
const INITIAL_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(2);

/// Minimum duration of a good connection: after it, the back-off starts again with the first pause.
const STABLE_AFTER: Duration = Duration::from_secs(10);

/// Maximum commands that wait to be written to the connection.
const MAX_WAITING: usize = 1_024;

/// Hit that proves that Redis accepts writes and responds in time. A refused hit would write nothing.
const PROBE: RateRule = RateRule { name: "probe", limit: u32::MAX, window: Duration::from_secs(1) };

#[derive(Clone)]
enum State {
    /// Not started: no hit waits.
    Idle,
    /// The first attempt is in progress.
    Starting,
    Up {
        /// Identifies the connection: a late failure of an old one says nothing about the next.
        number: u64,
        connection: MultiplexedConnection,
    },
    Down,
}

/// Maximum cluster nodes per attempt: the configured one, the one it redirects to, and another one while slots move.
const MAX_NODES: usize = 3;

#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("no response within {} ms", .0.as_millis())]
    Slow(Duration),
    #[error(transparent)]
    Refused(#[from] RedisError),
}

/// Connection to Redis and its state. Logs once when Redis is lost and once when it is back.
pub struct Link {
    url: RedisUrl,
    patience: Duration,
    counter: Counter,
    probe_key: String,
    state: watch::Sender<State>,
}

impl Link {
    pub fn new(url: RedisUrl, patience: Duration, counter: Counter, probe_key: String) -> Self {
        Self { url, patience, counter, probe_key, state: watch::Sender::new(State::Idle) }
    }

    pub fn is_up(&self) -> bool {
        matches!(*self.state.borrow(), State::Up { .. })
    }

    /// Makes hits wait until the first attempt has ended.
    pub fn expect_connection(&self) {
        self.state.send_replace(State::Starting);
    }

    /// Counts in Redis; `None` when Redis is not connected or does not respond in time.
    pub async fn hit(&self, rule: &RateRule, key: &str) -> Option<Quota> {
        let (number, mut connection) = self.connection().await?;
        match self.count(&mut connection, rule, key).await {
            Ok(quota) => Some(quota),
            Err(why) => {
                self.mark_lost(|state| matches!(state, State::Up { number: up, .. } if *up == number), &why);
                None
            }
        }
    }

    async fn count(&self, connection: &mut MultiplexedConnection, rule: &RateRule, key: &str) -> Result<Quota, Lost> {
        let counted = timeout(self.patience, self.counter.hit(connection, rule, key)).await;
        Ok(counted.map_err(|_| Lost::Slow(self.patience))??)
    }

    async fn connection(&self) -> Option<(u64, MultiplexedConnection)> {
        let mut state = self.state.borrow().clone();
        if matches!(state, State::Starting) {
            let mut changes = self.state.subscribe();
            let decided = changes.wait_for(|state| !matches!(state, State::Starting));
            let decided = timeout(self.patience, decided).await.map(|state| state.map(|state| state.clone()));
            let Ok(Ok(decided)) = decided else {
                // Only the first hits wait for a slow first attempt.
                self.mark_lost(|state| matches!(state, State::Starting), &Lost::Slow(self.patience));
                return None;
            };
            state = decided;
        }
        match state {
            State::Up { number, connection } => Some((number, connection)),
            State::Idle | State::Starting | State::Down => None,
        }
    }

    /// Marks the connection as lost if `lasts` still holds. Of all hits that lose the same connection, only the first
    /// logs it.
    fn mark_lost(&self, lasts: impl Fn(&State) -> bool, why: &Lost) {
        let first = self.state.send_if_modified(|state| {
            let current = lasts(state);
            if current {
                *state = State::Down;
            }
            current
        });
        if first {
            self.log_lost(why);
        }
    }

    /// Counts in memory until the next connection.
    pub fn count_in_memory(&self) {
        self.state.send_replace(State::Down);
    }

    fn log_lost(&self, why: &dyn Display) {
        tracing::warn!(redis = %self.url, %why, "Redis is unavailable: rate limits are counted in local memory");
    }

    /// Connects, waits for the connection to be lost, and reconnects.
    pub async fn keep_connected(self: Arc<Self>) {
        let mut changes = self.state.subscribe();
        let mut pause = INITIAL_BACKOFF;
        let mut number = 0;
        loop {
            match self.connect().await {
                Ok(connection) => {
                    number += 1;
                    tracing::info!(redis = %self.url, "rate limits are counted in Redis");
                    self.state.send_replace(State::Up { number, connection });
                    let since = Instant::now();
                    if changes.wait_for(|state| matches!(state, State::Down)).await.is_err() {
                        return;
                    }
                    pause = if since.elapsed() < STABLE_AFTER { (pause * 2).min(MAX_BACKOFF) } else { INITIAL_BACKOFF };
                }
                Err(why) => {
                    if matches!(self.state.send_replace(State::Down), State::Down) {
                        tracing::debug!(redis = %self.url, %why, "Redis is still unavailable");
                    } else {
                        self.log_lost(&why);
                    }
                    pause = (pause * 2).min(MAX_BACKOFF);
                }
            }
            sleep(pause).await;
        }
    }

    /// Returns a connection on which hits were counted in time. All counters share one hash slot: in a cluster, this is
    /// a connection to the node with that slot.
    async fn connect(&self) -> Result<MultiplexedConnection, Lost> {
        let mut outcome = self.connect_to(self.url.connection_info()).await;
        for _ in 1..MAX_NODES {
            let Err(Lost::Refused(error)) = &outcome else { break };
            let Some(info) = owner_in(error).and_then(|node| self.url.node(node)) else { break };
            outcome = self.connect_to(info).await;
        }
        outcome
    }

    async fn connect_to(&self, info: ConnectionInfo) -> Result<MultiplexedConnection, Lost> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_WITHIN))
            .set_response_timeout(None)
            .set_pipeline_buffer_size(MAX_WAITING);
        let client = Client::open(info)?;
        let connecting = client.get_multiplexed_async_connection_with_config(&config);
        let mut connection = timeout(CONNECT_WITHIN, connecting).await.map_err(|_| Lost::Slow(CONNECT_WITHIN))??;
        // The first call loads the script; the second is like every hit.
        self.count(&mut connection, &PROBE, &self.probe_key).await?;
        self.count(&mut connection, &PROBE, &self.probe_key).await?;
        Ok(connection)
    }
}

/// Returns the node in a `MOVED` error. `ASK` applies to single commands while a slot moves: until then, memory counts.
fn owner_in(error: &RedisError) -> Option<&str> {
    let is_moved = error.kind() == ErrorKind::Server(ServerErrorKind::Moved);
    is_moved.then(|| error.redirect_node()).flatten().map(|(node, _)| node)
}
