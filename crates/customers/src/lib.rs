//! Customer records, their contacts, and what customers were told.
//!
//! **Owns** the record of a customer, whoever made it: staff, or a first login.
//!
//! **Invariants**
//! - A customer belongs to one project and is seen from no other.
//! - Phones and addresses are normalized before they are stored.
//! - The phone that signs a customer in is not changed with the record.
//! - A customer who left has no personal data, in their history neither, and nobody signs in as them.
//! - A contact that signs one customer in is noted for no other.
//! - What belongs to a customer is a customer's own: no other one of the project has it.
//!
//! **Ports**: [`ports::CustomerRepository`], [`ports::StaffCustomerRepository`], [`ports::CustomerPartRepository`],
//! [`ports::NotificationReader`].

mod error;
pub mod model;
mod notifications;
mod parts;
pub mod ports;
mod profile;
mod registry;
mod staff;

pub use error::{
    CustomerError, CustomerPartError, CustomerPartRefusal, CustomerReference, StaffCustomerError, StaffCustomerRefusal,
};
pub use notifications::NotificationService;
pub use parts::CustomerPartService;
pub use profile::ProfileService;
pub use registry::CustomerRegistry;
pub use staff::StaffCustomerService;

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-customers.md")]
struct ReuseGuide;
