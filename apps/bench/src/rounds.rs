//! Lengths and numbers of measurements, and the alternation of two sides.

use std::time::Duration;

use crate::Failure;
use crate::load::Sample;

/// Lengths and numbers of measurements.
pub struct RunLengths {
    /// Time before the first round, on each side.
    pub warm_up: Duration,
    /// Time of one round of one side.
    pub round: Duration,
    /// Rounds of each side.
    pub rounds: usize,
    /// Connections of the load generator; the same number of customers place orders.
    pub connections: usize,
    /// Threads of the load generator.
    pub threads: usize,
    /// Starts of the binary.
    pub starts: usize,
    /// Idle time before resident memory is read.
    pub idle: Duration,
}

impl RunLengths {
    /// Values for real figures.
    pub const FULL: Self = Self {
        warm_up: Duration::from_secs(1),
        round: Duration::from_secs(3),
        rounds: 3,
        connections: 16,
        threads: 2,
        starts: 5,
        idle: Duration::from_secs(3),
    };
    /// Returns `true` if the figures are not meant to be used.
    pub fn is_quick(&self) -> bool {
        self.rounds < Self::FULL.rounds
    }

    /// Values for a smoke run.
    pub const QUICK: Self = Self {
        warm_up: Duration::from_millis(50),
        round: Duration::from_millis(150),
        rounds: 1,
        starts: 1,
        idle: Duration::from_millis(300),
        ..Self::FULL
    };
}

/// One round of each side, run one after the other.
pub struct Pair {
    pub ours: Sample,
    pub peer: Sample,
}

impl Pair {
    /// Returns the service's rate as a share of the peer's rate.
    pub fn ratio(&self) -> f64 {
        self.ours.per_second() / self.peer.per_second()
    }
}

/// Alternates both sides and returns the median pair. The second round of a pair is the first of the next. So changes
/// in the machine's speed and a single disturbed round do not count.
pub fn in_turns(
    rounds: usize,
    mut ours: impl FnMut() -> Result<Sample, Failure>,
    mut peer: impl FnMut() -> Result<Sample, Failure>,
) -> Result<Pair, Failure> {
    let mut pairs = Vec::with_capacity(rounds);
    for round in 0..rounds {
        pairs.push(if round % 2 == 0 {
            let peer = peer()?;
            Pair { ours: ours()?, peer }
        } else {
            Pair { ours: ours()?, peer: peer()? }
        });
    }
    pairs.sort_by(|left, right| left.ratio().total_cmp(&right.ratio()));
    let middle = pairs.len() / 2;
    pairs.into_iter().nth(middle).ok_or_else(|| "there must be a round".into())
}
