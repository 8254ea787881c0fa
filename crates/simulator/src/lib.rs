//! Weeks of trade of several merchants, from one seed, on the real services and the real storage.
//!
//! **Owns** nothing that ships. Clock, randomness, the outside world and the order in which use cases take their turns come
//! from the seed; everything else is what the service runs on, over SQLite. After every step the rules in [`invariants`] are
//! looked at, and more of them after every day and at the end.
//!
//! **Invariants**
//! - The same plan gives the same steps: [`Outcome::hash`] tells.
//! - Between two ports one use case runs alone.
//! - A rule that is broken is told by its name, with the last steps and the command that repeats the run.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a simulation fails by panicking"
)]

mod act;
mod acts;
mod books;
mod gated;
pub mod invariants;
mod merchant;
mod outside;
mod services;
mod simulation;
mod trace;
mod turns;

pub use invariants::When;
pub use simulation::{Broken, Outcome, Plan, Simulation};
pub use turns::Met;
