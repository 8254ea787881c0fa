//! The shared vocabulary of every other crate.
//!
//! **Owns** identifiers, [`Money`], [`Phone`], [`Email`], pages, [`Violations`], the actors with their scopes, and the
//! ports for time, randomness, secrets and rate limits.
//!
//! **Invariants**
//! - A value that exists is valid: every newtype has private fields and one checked constructor.
//! - Money is whole minor units; no floating point takes part in any computation.
//! - The crate knows no other crate of the workspace, no database, no HTTP and no async runtime.

mod clock;

pub use clock::{AdjustableClock, Clock, FixedClock};
