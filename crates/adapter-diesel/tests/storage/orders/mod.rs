//! Orders: nobody oversells, nobody is charged twice.
#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests fail by panicking")]

pub mod counter;
mod lifecycle;
mod payments;
mod placement;
mod races;
mod verifications;
