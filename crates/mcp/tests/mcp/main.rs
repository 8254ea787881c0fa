//! The protocol and the tools over a scripted API.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod protocol;
mod schemas;
mod script;
mod tools;
