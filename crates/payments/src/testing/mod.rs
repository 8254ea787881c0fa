//! What the tests of an adapter run, behind the feature `testing`.

pub mod acquirer;
pub mod contract;
