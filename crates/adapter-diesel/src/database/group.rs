//! Group commit: operations that wait for the only writer of SQLite are committed together.
//!
//! One thread writes. It takes waiting operations in order into one transaction, each within a savepoint. It commits
//! when no operation waits, or when the group is large or old enough. So no operation waits for others to join, and
//! a single operation is a transaction of its own.
//!
//! A refused operation is rolled back alone. No caller gets a result before the commit, not even a refused one: the
//! reason for the refusal may be a write of the same group. If a group cannot be committed, each of its operations runs
//! again by itself, so that a failing one does not affect the others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use diesel::connection::TransactionManager;
use kontor_kernel::StoreError;
use tokio::sync::oneshot;

use super::AnyConnection;
use super::connection::{is_broken, mark_broken};
use super::failure::{Abort, Attempts, at_commit};
use super::invalidation::Invalidations;
use super::operation::{Answer, Outcome};
use super::write::{Transactions, Write, Writing, Written, begin, rolled_back};

/// Maximum operations per commit.
const MAX_OPERATIONS: usize = 128;
/// Age at which a group accepts no more operations: its first waits for its last.
const MAX_GROUP_AGE: Duration = Duration::from_millis(8);

/// Handle of the thread that writes. When it is dropped, the thread finishes the queued operations and ends.
pub(super) struct GroupWriter {
    queue: Option<Sender<Waiting>>,
    thread: Option<JoinHandle<()>>,
    wait: Duration,
}

/// Operation that waits for its turn.
struct Waiting {
    write: Write,
    is_long: bool,
    answer: oneshot::Sender<Outcome>,
    /// Set by the first of two: the thread that begins the operation, or the caller that stops waiting.
    claimed: Arc<AtomicBool>,
}

impl GroupWriter {
    /// Starts the thread. Callers wait at most `wait` for their turn.
    pub fn start(writing: Arc<Writing>, wait: Duration) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let work = move || GroupState { writing, queue: receiver, next: None }.work();
        let thread = std::thread::Builder::new().name("writer".to_owned()).spawn(work)?;
        Ok(Self { queue: Some(sender), thread: Some(thread), wait })
    }

    /// Runs an operation. A long one has a commit of its own.
    pub async fn submit(&self, write: Write, is_long: bool) -> Outcome {
        let broke_off = || StoreError::Failed("a step was aborted".to_owned());
        let claimed = Arc::new(AtomicBool::new(false));
        let (answer, mut answered) = oneshot::channel();
        let waiting = Waiting { write, is_long, answer, claimed: Arc::clone(&claimed) };
        let Some(Ok(())) = self.queue.as_ref().map(|queue| queue.send(waiting)) else { return Err(broke_off().into()) };
        let outcome = match tokio::time::timeout(self.wait, &mut answered).await {
            Ok(outcome) => outcome,
            Err(_) if !claimed.swap(true, Ordering::SeqCst) => {
                return Err(StoreError::Unavailable("timed out waiting for other writes".to_owned()).into());
            }
            Err(_) => answered.await,
        };
        outcome.unwrap_or_else(|_| Err(broke_off().into()))
    }
}

impl Drop for GroupWriter {
    fn drop(&mut self) {
        self.queue.take();
        // The connection is closed when this returns. An operation may hold the last handle to the database; then the
        // thread cannot join itself.
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id())
            && thread.join().is_err()
        {
            tracing::error!("the writer thread panicked");
        }
    }
}

/// Operation that ran, and its outcome.
struct Member {
    waiting: Waiting,
    outcome: Result<Written, Abort<Answer>>,
}

/// Error: the whole transaction is lost.
struct TransactionLost;

/// State of the thread that writes.
struct GroupState {
    writing: Arc<Writing>,
    queue: Receiver<Waiting>,
    /// Taken from the queue, but deferred to the next group.
    next: Option<Waiting>,
}

impl GroupState {
    fn work(mut self) {
        while let Some(first) = self.next.take().or_else(|| self.queue.recv().ok()) {
            // The callers of the group get an error because their channels close; the connection leaves the pool.
            if catch_unwind(AssertUnwindSafe(|| self.group(first))).is_err() {
                tracing::error!("a group commit panicked; the writer thread continues");
            }
        }
    }

    /// Returns the next operation that is waiting and may join the group.
    fn another(&mut self) -> Option<Waiting> {
        let waiting = self.queue.try_recv().ok()?;
        if waiting.is_long {
            self.next = Some(waiting);
            return None;
        }
        Some(waiting)
    }

    fn group(&mut self, first: Waiting) {
        let mut connection = match self.writing.connections.take() {
            Ok(connection) => connection,
            Err(error) => return send_outcome(first, Err(error.into())),
        };
        let began = Instant::now();
        let mut group: Vec<Member> = Vec::new();
        let mut next = Some(first);
        while let Some(waiting) = next {
            let is_long = waiting.is_long;
            if !waiting.claimed.swap(true, Ordering::SeqCst) {
                let outcome = if group.is_empty() {
                    self.open(&mut connection, &waiting.write)
                } else {
                    self.join(&mut connection, &waiting.write)
                };
                match outcome {
                    // No transaction is open, so there is no commit to wait for.
                    Ok(Err(abort)) if group.is_empty() => send_outcome(waiting, Err(abort)),
                    Ok(outcome) => group.push(Member { waiting, outcome }),
                    Err(TransactionLost) => {
                        mark_broken(&mut connection);
                        drop(connection);
                        for waiting in group.into_iter().map(|member| member.waiting).chain([waiting]) {
                            self.run_alone(waiting);
                        }
                        return;
                    }
                }
            }
            let is_full = is_long || group.len() >= MAX_OPERATIONS || began.elapsed() >= MAX_GROUP_AGE;
            next = if is_full { None } else { self.another() };
        }
        if !group.is_empty() {
            self.commit(connection, group);
        }
    }

    /// Begins a transaction with an operation. It stays open if the operation succeeded.
    fn open(
        &self,
        connection: &mut AnyConnection,
        write: &Write,
    ) -> Result<Result<Written, Abort<Answer>>, TransactionLost> {
        let mut attempts = Attempts::begin();
        loop {
            if let Err(error) = begin(connection) {
                return Ok(Err(error.into()));
            }
            match self.attempt(connection, write)? {
                Err(abort) => {
                    let abort = rolled_back(connection, abort);
                    if is_broken(connection) {
                        return Err(TransactionLost);
                    }
                    if !self.again(&abort, &mut attempts) {
                        return Ok(Err(abort));
                    }
                }
                written => return Ok(written),
            }
        }
    }

    /// Runs an operation within a savepoint of the open transaction.
    fn join(
        &self,
        connection: &mut AnyConnection,
        write: &Write,
    ) -> Result<Result<Written, Abort<Answer>>, TransactionLost> {
        let mut attempts = Attempts::begin();
        loop {
            Transactions::begin_transaction(connection).map_err(|_| TransactionLost)?;
            match self.attempt(connection, write)? {
                Err(abort) => {
                    // An error may have ended the whole transaction; then there is no savepoint to roll back to.
                    Transactions::rollback_transaction(connection).map_err(|_| TransactionLost)?;
                    if !self.again(&abort, &mut attempts) {
                        return Ok(Err(abort));
                    }
                }
                written => {
                    Transactions::commit_transaction(connection).map_err(|_| TransactionLost)?;
                    return Ok(written);
                }
            }
        }
    }

    fn attempt(
        &self,
        connection: &mut AnyConnection,
        write: &Write,
    ) -> Result<Result<Written, Abort<Answer>>, TransactionLost> {
        let timely = |written| self.writing.require_timely(write).map(|()| written).map_err(Abort::Store);
        let attempt = || write.attempt(connection, self.writing.tables).and_then(timely);
        catch_unwind(AssertUnwindSafe(attempt)).map_err(|_| TransactionLost)
    }

    /// `true` if an operation runs again. No other writer runs in the meantime, so no pause is needed.
    fn again(&self, abort: &Abort<Answer>, attempts: &mut Attempts) -> bool {
        let Abort::Query(error) = abort else { return false };
        let again = attempts.writing(error, false, false);
        if again {
            attempts.pause(error, self.writing.repeated.fetch_add(1, Ordering::Relaxed));
        }
        again
    }

    /// Commits the group with the counters of everything that it invalidated, and sends each caller its result.
    fn commit(&self, mut connection: impl std::ops::DerefMut<Target = AnyConnection>, group: Vec<Member>) {
        let mut invalidations = Invalidations::default();
        for written in group.iter().filter_map(|member| member.outcome.as_ref().ok()) {
            invalidations.add(&written.invalidations);
        }
        let committed = self.writing.versions.open::<Answer>(&invalidations, &mut connection).and_then(|open| {
            Transactions::commit_transaction(&mut *connection).map_err(|error| at_commit(error, false))?;
            Ok(open)
        });
        let abort = match committed {
            Ok(open) => {
                if let Some(open) = open {
                    open.committed();
                }
                drop(connection);
                for Member { waiting, outcome } in group {
                    let outcome = outcome.map(|written| waiting.write.committed(written));
                    send_outcome(waiting, outcome);
                }
                return;
            }
            Err(abort) => abort,
        };
        if Transactions::rollback_transaction(&mut *connection).is_err() {
            mark_broken(&mut connection);
        }
        drop(connection);
        let unknown = match &abort {
            Abort::Store(StoreError::OutcomeUnknown(reason)) => Some(reason),
            _ => None,
        };
        for Member { waiting, .. } in group {
            match unknown {
                // Only the next opening of the file shows if the group is stored. A retry could apply it twice.
                Some(reason) => send_outcome(waiting, Err(StoreError::OutcomeUnknown(reason.clone()).into())),
                None => self.run_alone(waiting),
            }
        }
    }

    /// Runs an operation in its own transaction, independent of the group.
    fn run_alone(&self, waiting: Waiting) {
        let run = || self.writing.run_alone(&waiting.write);
        let panicked = || Abort::Store(StoreError::Failed("a step panicked".to_owned()));
        let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(panicked()));
        send_outcome(waiting, outcome);
    }
}

/// Sends the outcome to the caller, which may no longer wait for it.
fn send_outcome(waiting: Waiting, outcome: Outcome) {
    let _ = waiting.answer.send(outcome);
}
