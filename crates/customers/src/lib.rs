//! Customer records, their contacts and bank accounts, and their notifications.
//!
//! **Owns** the record of a customer, created by staff or by a first login.
//!
//! **Invariants**
//! - A customer belongs to one project and is not visible in others.
//! - Phones and addresses are normalized before they are stored.
//! - The phone that logs a customer in is not changed with the record.
//! - Deleted customers are anonymized, including in history entries, and cannot log in.
//! - A contact that logs one customer in is stored for no other.
//! - Contacts and bank accounts of a customer are not visible for other customers of the project.
//!
//! **Ports**: [`ports::CustomerRepository`], [`ports::StaffCustomerRepository`],
//! [`ports::CustomerPartRepository`], [`ports::NotificationReader`].

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
pub use registry::CustomerAdministration;
pub use staff::StaffCustomerService;

/// Compiles and runs the example of the reuse guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-customers.md")]
struct ReuseGuide;
