//! Both adapters, and what happens when Redis is lost.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod agreement;
mod bench;
mod cluster;
mod outage;
mod windows;
