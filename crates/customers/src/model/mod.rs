//! Customer records.

mod customer;
mod edit;

pub use customer::{Customer, CustomerKind, Manager};
pub use edit::{PersonalData, ProfileChange, ProfileEdit};
