//! Both adapters, and the loss of Redis.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod agreement;
mod bench;
mod cluster;
mod outage;
mod windows;
