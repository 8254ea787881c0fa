//! Who goes on at which moment: use cases run side by side on one thread, and the seed says whose turn it is.
//!
//! Each port that a simulation wires takes a turn before it does its work. A use case runs alone from one port to the next,
//! and waits there until it is chosen again, or is given up there, as when its process dies. So the order of all steps of
//! storage follows from the seed, whatever the threads of the storage do.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

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

    /// Runs one until it ends or waits at a port. `true` when it waits.
    async fn advance<T>(&self, run: &mut Run<T>) -> Option<T> {
        self.set(Stand::Running);
        let outcome = std::future::poll_fn(|context| match run.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending if self.stand() == Stand::AtPort => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await;
        self.set(Stand::Open);
        outcome
    }

    /// Runs all of them, one port at a time, in the order that the dice give. Of one with a number of ports to live the rest
    /// is dropped there. `None` for what was dropped.
    pub async fn interleave<T>(&self, runs: Vec<(Run<T>, Option<u32>)>, dice: &mut Dice) -> Vec<Option<T>> {
        let mut outcomes: Vec<Option<T>> = runs.iter().map(|_| None).collect();
        let mut alive: Vec<(usize, Run<T>, Option<u32>)> =
            runs.into_iter().enumerate().map(|(place, (run, lives))| (place, run, lives)).collect();
        while !alive.is_empty() {
            let bound = u64::try_from(alive.len()).unwrap_or(u64::MAX);
            let chosen = usize::try_from(dice.below(bound)).unwrap_or_default();
            let (place, mut run, lives) = alive.swap_remove(chosen);
            match (self.advance(&mut run).await, lives) {
                (Some(outcome), _) => outcomes[place] = Some(outcome),
                (None, Some(0)) => {}
                (None, lives) => alive.push((place, run, lives.map(|left| left - 1))),
            }
        }
        outcomes
    }
}
