//! Helpers for the tests of use cases and of adapters.

pub mod contract;
pub mod memory;
