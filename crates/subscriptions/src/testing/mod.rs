//! Helpers for the tests of rules and of adapters.

pub mod contract;
