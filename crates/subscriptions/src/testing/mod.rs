//! Helpers for the tests of rules and of adapters.

pub mod contract;
pub mod samples;
