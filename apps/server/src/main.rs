//! The `kontor` binary.

fn main() {}
