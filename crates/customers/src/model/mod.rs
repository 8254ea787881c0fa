//! Customer records.

mod customer;

pub use customer::{Customer, CustomerKind, Manager};
