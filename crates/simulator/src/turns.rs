//! Who goes on at which moment: use cases run side by side on one thread, and the seed says whose turn it is.
//!
//! Each port that a simulation wires takes a turn before it does its work. A use case runs alone from one port to the next,
//! and waits there until it is chosen again, or is given up there, as when its process dies. So the order of all steps of
//! storage follows from the seed, whatever the threads of the storage do.
//!
//! On PostgreSQL a statement may be held back as well, so that others come in within a transaction. Who waits for a row of that
//! transaction is left alone until it goes on. Who waits is known by time alone, so there a seed does not repeat every step.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use kontor_adapter_diesel::Database;
use kontor_kernel::testing::Dice;

/// A use case that is ready to run.
pub type Run<T> = Pin<Box<dyn Future<Output = T>>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// Ports pass without waiting.
    Open,
    /// The use case that runs goes on until its next port.
    Running,
    /// It waits at a port.
    AtPort,
}

/// How far one came.
enum Step<T> {
    Ended(T),
    AtPort,
    /// A statement of it is held back.
    Held,
    /// It waits for one that is held back.
    Blocked,
}

const MOMENT: Duration = Duration::from_millis(2);
/// Moments after which one that does not go on is believed to wait.
const PATIENCE: u32 = 20;

/// How often use cases met within a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Met {
    /// A statement was held back while others went on.
    pub held: u64,
    /// One of these waited for what that transaction had locked.
    pub waited: u64,
}

/// What the ports of a simulation have in common.
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

    /// A port waits here for its turn.
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
            // Who runs several of them by their wakers polls this one again, too.
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Runs one until it ends or waits at a port.
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

    /// The same, or until a statement of it is held back, or it waits for one that is.
    async fn advance_within<T>(&self, run: &mut Run<T>, database: &Database, held: bool) -> Step<T> {
        let mut step = Step::Blocked;
        for _ in 0..PATIENCE {
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

    /// Runs all of them, one port at a time, in the order that the dice give. Of one with a number of ports to live the rest
    /// is dropped there. `None` for what was dropped.
    pub async fn interleave<T>(&self, runs: Vec<(Run<T>, Option<u32>)>, dice: &mut Dice) -> Vec<Option<T>> {
        let mut outcomes: Vec<Option<T>> = runs.iter().map(|_| None).collect();
        let mut alive = Alive::of(runs);
        while let Some(mut one) = alive.choose(dice) {
            match self.advance(&mut one.run).await {
                Step::Ended(outcome) => outcomes[one.place] = Some(outcome),
                _ => alive.comes_back(one),
            }
        }
        outcomes
    }

    /// The same, with one statement held back, the one with this number, while the others go on as far as they can.
    pub async fn interleave_within<T>(
        &self,
        runs: Vec<(Run<T>, Option<u32>)>,
        dice: &mut Dice,
        database: &Database,
        statement: usize,
        met: &mut Met,
    ) -> Vec<Option<T>> {
        let mut outcomes: Vec<Option<T>> = runs.iter().map(|_| None).collect();
        let mut alive = Alive::of(runs);
        // Those that wait, and the one they wait for.
        let (mut blocked, mut held): (Vec<One<T>>, Option<One<T>>) = (Vec::new(), None);
        database.pauses().arm(Some(statement));
        loop {
            let Some(mut one) = alive.choose(dice) else {
                // All others have ended or wait: what was held back goes on.
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

/// A use case on its way.
struct One<T> {
    place: usize,
    run: Run<T>,
    /// How many ports it has to live, where it dies.
    lives: Option<u32>,
}

/// Those of whom one goes on next.
struct Alive<T>(Vec<One<T>>);

impl<T> Alive<T> {
    fn of(runs: Vec<(Run<T>, Option<u32>)>) -> Self {
        Self(runs.into_iter().enumerate().map(|(place, (run, lives))| One { place, run, lives }).collect())
    }

    fn choose(&mut self, dice: &mut Dice) -> Option<One<T>> {
        let bound = u64::try_from(self.0.len()).ok().filter(|bound| *bound > 0)?;
        Some(self.0.swap_remove(usize::try_from(dice.below(bound)).unwrap_or_default()))
    }

    /// It came to a port, and dies there or goes on later.
    fn comes_back(&mut self, one: One<T>) {
        match one.lives {
            Some(0) => {}
            lives => self.0.push(One { lives: lives.map(|left| left - 1), ..one }),
        }
    }
}
