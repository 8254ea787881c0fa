//! A deterministic scheduler: use cases run concurrently on one thread, and the seed chooses the next one.
//!
//! Each port that a simulation wires waits for its turn before it does its work. A use case runs alone from one port
//! to the next. There it waits until it is chosen again, or is dropped, as when its process dies. So the order of all
//! storage operations follows from the seed, regardless of the threads of the storage.
//!
//! On PostgreSQL a statement may be held back as well, so that other use cases run within its transaction. A use case
//! that waits for a row of that transaction is left alone until the transaction continues. A waiting use case is
//! recognised only by elapsed time. So on PostgreSQL a seed does not repeat every step.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use kontor_adapter_diesel::Database;
use kontor_kernel::testing::TestRng;

/// A use case that is ready to run.
pub type Run<T> = Pin<Box<dyn Future<Output = T>>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// Ports pass without waiting.
    Open,
    /// The current use case runs until its next port.
    Running,
    /// The current use case waits at a port.
    AtPort,
}

/// Point that a use case reached.
enum Step<T> {
    Ended(T),
    AtPort,
    /// One of its statements is held back.
    Held,
    /// It waits for the use case that is held back.
    Blocked,
}

const MOMENT: Duration = Duration::from_millis(2);
/// Number of intervals of `MOMENT` after which a use case without progress counts as waiting.
const MAX_IDLE_INTERVALS: u32 = 20;

/// Counts of meetings within a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Met {
    /// Number of times a statement was held back while others ran.
    pub held: u64,
    /// Number of times another use case waited for a lock of that transaction.
    pub waited: u64,
}

/// Scheduler state shared by all ports.
#[derive(Clone)]
pub struct Turns(Arc<Mutex<Stand>>);

impl Default for Turns {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Stand::Open)))
    }
}

impl Turns {
    fn stand(&self) -> Stand {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, stand: Stand) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = stand;
    }

    /// Waits at a port for the turn.
    pub async fn take(&self) {
        if self.stand() == Stand::Open {
            return;
        }
        let mut arrived = false;
        std::future::poll_fn(|context| {
            if arrived {
                return Poll::Ready(());
            }
            arrived = true;
            self.set(Stand::AtPort);
            // An executor that polls several use cases by their wakers must poll this one again.
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Runs a use case until it ends or waits at a port.
    async fn advance<T>(&self, run: &mut Run<T>) -> Step<T> {
        self.set(Stand::Running);
        let step = std::future::poll_fn(|context| match run.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Step::Ended(outcome)),
            Poll::Pending if self.stand() == Stand::AtPort => Poll::Ready(Step::AtPort),
            Poll::Pending => Poll::Pending,
        })
        .await;
        self.set(Stand::Open);
        step
    }

    /// Like `advance`, but also stops when a statement of the use case is held back, or when it waits for the held
    /// one.
    async fn advance_within<T>(&self, run: &mut Run<T>, database: &Database, held: bool) -> Step<T> {
        let mut step = Step::Blocked;
        for _ in 0..MAX_IDLE_INTERVALS {
            if let Ok(came) = tokio::time::timeout(MOMENT, self.advance(run)).await {
                step = came;
                break;
            }
            if !held && database.pauses().waiting().is_some() {
                step = Step::Held;
                break;
            }
        }
        self.set(Stand::Open);
        step
    }

    /// Runs all use cases, one port at a time, in a random order. A use case with a limit is dropped after that many
    /// ports. Returns `None` for dropped use cases.
    pub async fn interleave<T>(&self, runs: Vec<(Run<T>, Option<u32>)>, rng: &mut TestRng) -> Vec<Option<T>> {
        let mut outcomes: Vec<Option<T>> = runs.iter().map(|_| None).collect();
        let mut alive = ReadyTasks::of(runs);
        while let Some(mut one) = alive.choose(rng) {
            match self.advance(&mut one.run).await {
                Step::Ended(outcome) => outcomes[one.place] = Some(outcome),
                _ => alive.comes_back(one),
            }
        }
        outcomes
    }

    /// Like `interleave`, but holds back the statement with this number while the others run as far as they can.
    pub async fn interleave_within<T>(
        &self,
        runs: Vec<(Run<T>, Option<u32>)>,
        rng: &mut TestRng,
        database: &Database,
        statement: usize,
        met: &mut Met,
    ) -> Vec<Option<T>> {
        let mut outcomes: Vec<Option<T>> = runs.iter().map(|_| None).collect();
        let mut alive = ReadyTasks::of(runs);
        // Use cases that wait, and the one they wait for.
        let (mut blocked, mut held): (Vec<One<T>>, Option<One<T>>) = (Vec::new(), None);
        database.pauses().arm(Some(statement));
        loop {
            let Some(mut one) = alive.choose(rng) else {
                // All others have ended or wait, so the held one continues.
                let Some(one) = held.take() else { break };
                database.pauses().resume();
                alive.0.push(one);
                alive.0.append(&mut blocked);
                continue;
            };
            match self.advance_within(&mut one.run, database, held.is_some()).await {
                Step::Ended(outcome) => outcomes[one.place] = Some(outcome),
                Step::AtPort => alive.comes_back(one),
                Step::Held => {
                    met.held += 1;
                    held = Some(one);
                }
                Step::Blocked if held.is_some() => {
                    met.waited += 1;
                    blocked.push(one);
                }
                Step::Blocked => alive.0.push(one),
            }
        }
        database.pauses().resume();
        database.pauses().arm(None);
        outcomes
    }
}

/// A use case in progress.
struct One<T> {
    place: usize,
    run: Run<T>,
    /// Number of ports left before it dies.
    lives: Option<u32>,
}

/// Use cases of which one is chosen next.
struct ReadyTasks<T>(Vec<One<T>>);

impl<T> ReadyTasks<T> {
    fn of(runs: Vec<(Run<T>, Option<u32>)>) -> Self {
        Self(runs.into_iter().enumerate().map(|(place, (run, lives))| One { place, run, lives }).collect())
    }

    fn choose(&mut self, rng: &mut TestRng) -> Option<One<T>> {
        let bound = u64::try_from(self.0.len()).ok().filter(|bound| *bound > 0)?;
        Some(self.0.swap_remove(usize::try_from(rng.below(bound)).unwrap_or_default()))
    }

    /// Puts back a use case that came to a port, or drops it if it dies there.
    fn comes_back(&mut self, one: One<T>) {
        match one.lives {
            Some(0) => {}
            lives => self.0.push(One { lives: lives.map(|left| left - 1), ..one }),
        }
    }
}
