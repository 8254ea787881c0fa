//! Outgoing messages, received by the sandbox and by receivers that misbehave. No request leaves the machine.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod callcheck;
mod codes;
mod deliveries;
mod internal;
mod peers;
mod support;
