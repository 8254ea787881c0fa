//! Random choices that can be repeated from a seed.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// A source of choices (`SplitMix64`).
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a random seed.
    pub fn any_seed() -> u64 {
        RandomState::new().hash_one("seed") % 1_000_000
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `sides`.
    pub fn below(&mut self, sides: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(sides).unwrap()).unwrap()
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
        Self(self.next())
    }
}
