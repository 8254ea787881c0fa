//! Rate limits counted in memory.
//!
//! **Owns** the counters of this process: fixed windows that start at the first hit of a subject.
//!
//! **Invariants**
//! - A window takes no more hits than its limit, however many race.
//! - Memory is bounded: a counter has a fixed size and there are never more than the given number of them.
//! - Subjects are not kept, only keyed hashes of them.
//!
//! Several processes count apart, each with the whole limit.
//!
//! ```
//! use std::sync::Arc;
//! use kontor_adapter_limits::MemoryLimiter;
//! use kontor_kernel::FixedClock;
//!
//! let clock = Arc::new(FixedClock::at(Default::default()));
//! let limiter = MemoryLimiter::new(clock);
//! ```

mod memory;

pub use memory::{MOST_COUNTERS, MemoryLimiter};
