//! Helpers for the tests of rules, of use cases and of adapters.

pub mod contract;
pub mod memory;
pub mod samples;
