//! Guards, tokens, one-time codes, employees and permissions.
//!
//! **Owns** access tokens of employees and customers and the two guards that tell who is calling.
//!
//! **Invariants**
//! - Of a token only the fingerprint is stored; the value `<id>|<secret>` is shown once and counts only whole.
//! - Employees and customers have different guards; a token of one never opens the other.
//! - A customer's token belongs to one application of one project.
//!
//! **Ports**: [`ports::TokenRepository`], [`ports::CodeSender`], [`ports::PasswordHasher`].

mod guards;
pub mod model;
pub mod ports;

pub use guards::{CustomerAuthentication, CustomerGuard, StaffGuard};
