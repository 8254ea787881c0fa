//! How long and how often is measured, and how two sides take turns.

use std::time::Duration;

use crate::Failure;
use crate::load::Sample;

/// The length of everything.
pub struct Pace {
    /// Before the first round, on each side.
    pub warm_up: Duration,
    /// One round of one side.
    pub round: Duration,
    /// Rounds of each side.
    pub rounds: usize,
    /// Connections of the load generator; as many customers place orders.
    pub connections: usize,
    /// Threads of the load generator.
    pub threads: usize,
    /// Starts of the binary.
    pub starts: usize,
    /// Idle time before resident memory is read.
    pub idle: Duration,
}

impl Pace {
    /// For figures.
    pub const FULL: Self = Self {
        warm_up: Duration::from_secs(1),
        round: Duration::from_secs(3),
        rounds: 3,
        connections: 16,
        threads: 2,
        starts: 5,
        idle: Duration::from_secs(3),
    };
    /// Whether nobody will look at the figures.
    pub fn is_quick(&self) -> bool {
        self.rounds < Self::FULL.rounds
    }

    /// For a smoke run.
    pub const QUICK: Self = Self {
        warm_up: Duration::from_millis(50),
        round: Duration::from_millis(150),
        rounds: 1,
        starts: 1,
        idle: Duration::from_millis(300),
        ..Self::FULL
    };
}

/// One round of each side, run next to each other.
pub struct Pair {
    /// The service.
    pub ours: Sample,
    /// Its peer.
    pub peer: Sample,
}

impl Pair {
    /// How much of the peer's rate the service reaches.
    pub fn ratio(&self) -> f64 {
        self.ours.per_second() / self.peer.per_second()
    }
}

/// Runs both sides in turns, the first of one pair being the second of the next, and keeps the pair in the middle: the
/// machine may grow faster or slower meanwhile, and a single disturbed round does not count.
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
