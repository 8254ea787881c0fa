//! Helpers for the tests of adapters, behind the feature `testing`.

pub mod acquirer;
pub mod contract;
