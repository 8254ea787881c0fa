//! Group commit: what waits for the only writer of SQLite is committed together.
//!
//! One thread writes. It takes the steps that wait, in their order, into one transaction, each within a savepoint, and commits
//! when none waits any longer, or when the group is large or old enough. So nobody waits for company, and a step that comes
//! alone is a transaction of its own. A step that is refused is rolled back alone. Nobody is answered before the commit:
//! neither who wrote, nor who was refused, since the reason may be what another step of the group wrote. When a group cannot be
//! committed, each of its steps runs again by itself, so that one cannot spoil the others.

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
use super::again::Attempts;
use super::connection::{give_up, is_broken};
use super::failure::{Abort, at_commit};
use super::invalidation::Invalidations;
use super::step::{Answer, Outcome};
use super::write::{Transactions, Write, Written, begin, rolled_back};
use super::writing::Writing;

/// Steps of one commit at most.
const MOST: usize = 128;
/// A group that is so old takes in nobody else: the first of it waits for the last.
const LONGEST: Duration = Duration::from_millis(8);

/// The thread that writes. It ends when this value is dropped, after what was asked of it.
pub(super) struct GroupWriter {
    queue: Option<Sender<Waiting>>,
    thread: Option<JoinHandle<()>>,
    wait: Duration,
}

/// A step that waits for its turn.
struct Waiting {
    write: Write,
    is_long: bool,
    answer: oneshot::Sender<Outcome>,
    /// Set by whoever comes first: the thread that begins the step, or who asked and waits no longer.
    claimed: Arc<AtomicBool>,
}

impl GroupWriter {
    /// Starts the thread. Who asks waits so long for their turn.
    pub fn start(writing: Arc<Writing>, wait: Duration) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let work = move || Turns { writing, queue: receiver, next: None }.work();
        let thread = std::thread::Builder::new().name("writer".to_owned()).spawn(work)?;
        Ok(Self { queue: Some(sender), thread: Some(thread), wait })
    }

    /// Has the step run. A long one shares its commit with nobody.
    pub async fn ask(&self, write: Write, is_long: bool) -> Outcome {
        let broke_off = || StoreError::Failed("a step broke off".to_owned());
        let claimed = Arc::new(AtomicBool::new(false));
        let (answer, mut answered) = oneshot::channel();
        let waiting = Waiting { write, is_long, answer, claimed: Arc::clone(&claimed) };
        let Some(Ok(())) = self.queue.as_ref().map(|queue| queue.send(waiting)) else { return Err(broke_off().into()) };
        let outcome = match tokio::time::timeout(self.wait, &mut answered).await {
            Ok(outcome) => outcome,
            Err(_) if !claimed.swap(true, Ordering::SeqCst) => {
                return Err(StoreError::Unavailable("others write for too long".to_owned()).into());
            }
            Err(_) => answered.await,
        };
        outcome.unwrap_or_else(|_| Err(broke_off().into()))
    }
}

impl Drop for GroupWriter {
    fn drop(&mut self) {
        self.queue.take();
        // The connection is closed when this returns. A step may hold the last handle to the database: it cannot wait for itself.
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id())
            && thread.join().is_err()
        {
            tracing::error!("the thread that writes panicked");
        }
    }
}

/// A step that ran, and what came of it.
struct Member {
    waiting: Waiting,
    outcome: Result<Written, Abort<Answer>>,
}

/// Why a transaction is gone with everything in it.
struct Lost;

/// What the thread works through.
struct Turns {
    writing: Arc<Writing>,
    queue: Receiver<Waiting>,
    /// Taken from the queue, but not for the group that was open then.
    next: Option<Waiting>,
}

impl Turns {
    fn work(mut self) {
        while let Some(first) = self.next.take().or_else(|| self.queue.recv().ok()) {
            // Everyone in the group learns by the missing answer; the connection leaves the pool.
            if catch_unwind(AssertUnwindSafe(|| self.group(first))).is_err() {
                tracing::error!("a group commit panicked; the thread that writes goes on");
            }
        }
    }

    /// The next step that somebody still waits for and that may join others.
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
            Err(error) => return tell(first, Err(error.into())),
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
                    // Nothing is open, so nothing is to be waited for.
                    Ok(Err(abort)) if group.is_empty() => tell(waiting, Err(abort)),
                    Ok(outcome) => group.push(Member { waiting, outcome }),
                    Err(Lost) => {
                        give_up(&mut connection);
                        drop(connection);
                        for waiting in group.into_iter().map(|member| member.waiting).chain([waiting]) {
                            self.alone(waiting);
                        }
                        return;
                    }
                }
            }
            let is_full = is_long || group.len() >= MOST || began.elapsed() >= LONGEST;
            next = if is_full { None } else { self.another() };
        }
        if !group.is_empty() {
            self.commit(connection, group);
        }
    }

    /// Begins a transaction with a step. It stays open when the step did something.
    fn open(&self, connection: &mut AnyConnection, write: &Write) -> Result<Result<Written, Abort<Answer>>, Lost> {
        let mut attempts = Attempts::begin();
        loop {
            if let Err(error) = begin(connection) {
                return Ok(Err(error.into()));
            }
            match self.attempt(connection, write)? {
                Err(abort) => {
                    let abort = rolled_back(connection, abort);
                    if is_broken(connection) {
                        return Err(Lost);
                    }
                    if !self.again(&abort, &mut attempts) {
                        return Ok(Err(abort));
                    }
                }
                written => return Ok(written),
            }
        }
    }

    /// Runs a step within a savepoint of the transaction that is open.
    fn join(&self, connection: &mut AnyConnection, write: &Write) -> Result<Result<Written, Abort<Answer>>, Lost> {
        let mut attempts = Attempts::begin();
        loop {
            Transactions::begin_transaction(connection).map_err(|_| Lost)?;
            match self.attempt(connection, write)? {
                Err(abort) => {
                    // An error may have ended the whole transaction; then there is no savepoint to go back to.
                    Transactions::rollback_transaction(connection).map_err(|_| Lost)?;
                    if !self.again(&abort, &mut attempts) {
                        return Ok(Err(abort));
                    }
                }
                written => {
                    Transactions::commit_transaction(connection).map_err(|_| Lost)?;
                    return Ok(written);
                }
            }
        }
    }

    fn attempt(&self, connection: &mut AnyConnection, write: &Write) -> Result<Result<Written, Abort<Answer>>, Lost> {
        let attempt = || write.attempt(connection, self.writing.tables);
        catch_unwind(AssertUnwindSafe(attempt)).map_err(|_| Lost)
    }

    /// Whether a step runs again. Nobody else writes meanwhile, so there is nothing to wait for.
    fn again(&self, abort: &Abort<Answer>, attempts: &mut Attempts) -> bool {
        let Abort::Query(error) = abort else { return false };
        let again = attempts.writing(error, false, false);
        if again {
            attempts.pause(error, self.writing.repeated.fetch_add(1, Ordering::Relaxed));
        }
        again
    }

    /// Commits what the group did, with the counters of everything that it invalidated, and answers everybody.
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
                    tell(waiting, outcome);
                }
                return;
            }
            Err(abort) => abort,
        };
        if Transactions::rollback_transaction(&mut *connection).is_err() {
            give_up(&mut connection);
        }
        drop(connection);
        let unknown = match &abort {
            Abort::Store(StoreError::OutcomeUnknown(reason)) => Some(reason),
            _ => None,
        };
        for Member { waiting, .. } in group {
            match unknown {
                // Whether the group is stored shows when the file is opened next: done again, it might be done twice.
                Some(reason) => tell(waiting, Err(StoreError::OutcomeUnknown(reason.clone()).into())),
                None => self.alone(waiting),
            }
        }
    }

    /// Runs a step in a transaction of its own, whatever became of the group.
    fn alone(&self, waiting: Waiting) {
        let run = || self.writing.alone(&waiting.write);
        let panicked = || Abort::Store(StoreError::Failed("a step panicked".to_owned()));
        let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(panicked()));
        tell(waiting, outcome);
    }
}

/// Who asked may have gone meanwhile.
fn tell(waiting: Waiting, outcome: Outcome) {
    let _ = waiting.answer.send(outcome);
}
