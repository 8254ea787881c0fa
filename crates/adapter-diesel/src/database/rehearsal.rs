//! Rehearsal of a request: its result, without its effect.
//!
//! The first write operation of the request begins a transaction. All later operations of the request run in it, each
//! in a savepoint, so that the request reads its own writes. The transaction is one write operation that cannot
//! succeed: its result type has no value. So the code that commits is never reached with it. It ends with the request,
//! or after [`MAX_TIME`], and is rolled back.
//!
//! On SQLite the only writer waits meanwhile. So a rehearsed request must be short, and must call no outside service.

use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diesel::connection::TransactionManager;
use kontor_kernel::StoreError;
use tokio::sync::oneshot;

use super::connection::mark_broken;
use super::failure::Abort;
use super::operation::{Outcome, Step};
use super::preconditions::RequestContext;
use super::write::{Transactions, Write};
use super::{AnyConnection, Database, Tables};

/// Maximum duration of the transaction.
const MAX_TIME: Duration = Duration::from_secs(2);

/// Operation of a rehearsed request.
pub(super) enum Part {
    Read(Step),
    Write(Write),
}

impl Part {
    fn run(&self, connection: &mut AnyConnection, tables: &'static Tables) -> Outcome {
        match self {
            Self::Read(step) => step(connection),
            // Later operations of the request find it as if it was committed.
            Self::Write(write) => write.attempt(connection, tables).map(|written| write.committed(written)),
        }
    }
}

/// Operation that waits for its turn in the transaction.
struct Waiting {
    part: Part,
    answer: oneshot::Sender<Outcome>,
}

enum State {
    /// Nothing was written.
    New,
    /// The transaction is open, and takes operations.
    Open(Sender<Waiting>),
    /// The request has ended.
    Ended,
}

/// Rehearsal of one request.
pub struct Rehearsal {
    state: Mutex<State>,
    is_outside: AtomicBool,
}

impl fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rehearsal").finish_non_exhaustive()
    }
}

fn ended() -> StoreError {
    StoreError::Unavailable("the rehearsal of the request has ended".to_owned())
}

impl Rehearsal {
    /// Creates the rehearsal of a request that has written nothing.
    pub fn begin() -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State::New), is_outside: AtomicBool::new(false) })
    }

    /// Ends the request: everything is rolled back, and no operation follows.
    pub fn end(&self) {
        *self.state() = State::Ended;
    }

    /// Notes that the request needs an outside service, which a rehearsal must not call: its result is not known.
    pub fn note_outside(&self) {
        self.is_outside.store(true, Ordering::SeqCst);
    }

    /// Returns `true` if the request needs an outside service.
    pub fn needs_outside(&self) -> bool {
        self.is_outside.load(Ordering::SeqCst)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `true` if operations that read must run in the transaction.
    pub(super) fn has_written(&self) -> bool {
        !matches!(*self.state(), State::New)
    }

    /// Runs an operation in the transaction, and begins it before the first one.
    pub(super) async fn run(&self, database: &Database, part: Part) -> Outcome {
        let (answer, answered) = oneshot::channel();
        let sent = self.queue(database)?.send(Waiting { part, answer });
        sent.map_err(|_| ended())?;
        answered.await.unwrap_or_else(|_| Err(ended().into()))
    }

    fn queue(&self, database: &Database) -> Result<Sender<Waiting>, StoreError> {
        let mut state = self.state();
        match &*state {
            State::New => {}
            State::Open(queue) => return Ok(queue.clone()),
            State::Ended => return Err(ended()),
        }
        let (sender, receiver) = channel();
        *state = State::Open(sender.clone());
        let (handle, tables) = (database.for_request(RequestContext::default()), database.tables());
        tokio::spawn(async move {
            let work = move |connection: &mut AnyConnection| perform(connection, &receiver, tables);
            let end: Result<Infallible, StoreError> = handle.write_long(work).await;
            tracing::debug!(?end, "a rehearsal was rolled back");
        });
        Ok(sender)
    }
}

/// Runs the operations of a request until it ends. It never succeeds, so the transaction around it is rolled back.
fn perform(
    connection: &mut AnyConnection,
    waiting: &Receiver<Waiting>,
    tables: &'static Tables,
) -> Result<Infallible, Abort<StoreError>> {
    let end = Instant::now() + MAX_TIME;
    while let Some(left) = end.checked_duration_since(Instant::now())
        && let Ok(Waiting { part, answer }) = waiting.recv_timeout(left)
    {
        let outcome = within_savepoint(connection, |connection| part.run(connection, tables));
        // The request may no longer wait for it.
        let _ = answer.send(outcome);
    }
    Err(Abort::Store(ended()))
}

/// Runs an operation that is rolled back alone if it fails. If its savepoint is lost, the connection is not used again: the
/// next savepoint could be a transaction of its own.
fn within_savepoint(connection: &mut AnyConnection, operation: impl FnOnce(&mut AnyConnection) -> Outcome) -> Outcome {
    Transactions::begin_transaction(connection)?;
    match operation(connection) {
        Ok(answer) => {
            let depth = Transactions::transaction_manager_status_mut(connection).transaction_depth()?;
            // The end of the outermost transaction would be a commit.
            if depth.is_none_or(|depth| depth.get() < 2) {
                return Err(StoreError::Failed("an operation left no savepoint".to_owned()).into());
            }
            let released = Transactions::commit_transaction(connection);
            released.inspect_err(|_| mark_broken(connection))?;
            Ok(answer)
        }
        Err(abort) => {
            if Transactions::rollback_transaction(connection).is_err() {
                mark_broken(connection);
            }
            Err(abort)
        }
    }
}
