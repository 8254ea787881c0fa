//! Every surface over real HTTP, on both databases.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod dictionaries;
mod platform_branches;
mod support;
mod transport;
