//! Orders: nobody oversells, nobody is charged twice.
#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests fail by panicking")]

mod counter;
mod lifecycle;
mod payments;
mod placement;
mod races;
