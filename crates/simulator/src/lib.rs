//! Weeks of trade of several merchants, from one seed, on the real services and the real storage.
//!
//! **Owns** nothing that ships. Clock, randomness, outside services and the order in which use cases take their turns
//! come from the seed. Everything else is what the service runs on, over SQLite. After every step the rules in
//! [`invariants`] are checked. More rules are checked after every day and at the end.
//!
//! **Invariants**
//! - The same plan produces the same steps, with the same [`Outcome::hash`].
//! - Between two ports one use case runs alone.
//! - A broken rule is reported by its name, with the last steps and the command that repeats the run.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a simulation fails by panicking"
)]

mod acts;
mod audit;
pub mod invariants;
mod merchant;
mod providers;
mod scheduled_ports;
mod scheduler;
mod services;
mod simulation;
mod trace;

pub use invariants::When;
pub use scheduler::Met;
pub use simulation::{Broken, Outcome, Plan, Simulation};
