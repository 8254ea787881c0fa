//! Random choices that can be repeated from a seed.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use kontor_kernel::testing;

/// A source of choices.
#[derive(Clone)]
pub struct TestRng(testing::TestRng);

impl TestRng {
    pub fn new(seed: u64) -> Self {
        Self(testing::TestRng::new(seed))
    }

    /// Returns a random seed.
    pub fn any_seed() -> u64 {
        RandomState::new().hash_one("seed") % 1_000_000
    }

    /// Returns a number below `sides`.
    pub fn below(&mut self, sides: usize) -> usize {
        usize::try_from(self.0.below(u64::try_from(sides).unwrap())).unwrap()
    }

    pub fn one_in(&mut self, sides: usize) -> bool {
        self.below(sides) == 0
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Returns a duration below this number of milliseconds.
    pub fn pause(&mut self, most: usize) -> Duration {
        Duration::from_millis(u64::try_from(self.below(most)).unwrap())
    }

    /// Waits for this number of milliseconds and less than `most` more: the moment of a fault is left to chance. With
    /// `most` 0 there is no choice.
    pub async fn rest(&mut self, least: u64, most: usize) {
        let more = if most > 0 { self.pause(most) } else { Duration::ZERO };
        tokio::time::sleep(Duration::from_millis(least) + more).await;
    }

    /// Returns a separate source of choices.
    pub fn split(&mut self) -> Self {
        Self(self.0.split())
    }
}
