//! Customer records.

mod change;
mod customer;

pub use change::{DecidedChange, PersonalData, ProfileChange};
pub use customer::{Customer, CustomerKind, Manager};
