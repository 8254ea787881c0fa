//! Helpers for the tests of adapters.

pub mod contract;
