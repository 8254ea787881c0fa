//! Customer records and their contacts.
//!
//! **Owns** the record of a customer, whoever made it: staff, or a first login.
//!
//! **Invariants**
//! - A customer belongs to one project and is seen from no other.
//! - Phones and addresses are normalized before they are stored.
//!
//! **Ports**: [`ports::CustomerRepository`].

mod error;
pub mod model;
pub mod ports;
mod profile;

pub use error::CustomerError;
pub use profile::ProfileService;
