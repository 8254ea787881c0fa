//! Orders: nobody oversells, nobody is charged twice.

mod counter;
mod lifecycle;
mod payments;
mod placement;
mod races;
