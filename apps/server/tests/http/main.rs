//! Every surface over real HTTP, on both databases.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod client_profile;
mod client_session;
mod dictionaries;
mod outside;
mod platform_branches;
mod platform_session;
mod support;
mod transport;
