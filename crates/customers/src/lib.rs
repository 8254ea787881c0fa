//! Customer records and their contacts.
//!
//! **Owns** the record of a customer, whoever made it: staff, or a first login.
//!
//! **Invariants**
//! - A customer belongs to one project and is seen from no other.
//! - Phones and addresses are normalized before they are stored.
//! - The phone that signs a customer in is not changed with the record.
//! - A customer who left has no personal data, and nobody signs in as him.
//!
//! **Ports**: [`ports::CustomerRepository`].

mod error;
pub mod model;
pub mod ports;
mod profile;
mod registry;

pub use error::CustomerError;
pub use profile::ProfileService;
pub use registry::CustomerRegistry;

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-customers.md")]
struct ReuseGuide;
