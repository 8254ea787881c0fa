//! Guards, tokens, one-time codes, employees and permissions.
//!
//! **Owns** access tokens of employees and customers, the two guards that tell who is calling, the passwords of
//! employees and the one-time codes of customers.
//!
//! **Invariants**
//! - Of a token only the fingerprint is stored; the value `<id>|<secret>` is shown once and counts only whole.
//! - Employees and customers have different guards; a token of one never opens the other.
//! - A customer's token belongs to one application of one project.
//! - One code gives one token, within [`model::CODE_LIFETIME`] and [`model::CODE_ATTEMPTS`] wrong tries.
//! - A phone becomes a customer's by a code that went to it; such a code and one for signing in never stand for each
//!   other.
//! - An unknown login, a wrong password and a banned employee cannot be told apart, not even by time.
//!
//! **Ports**: [`ports::TokenRepository`], [`ports::StaffRepository`], [`ports::CustomerAccounts`],
//! [`ports::CodeRepository`], [`ports::PhoneRepository`], [`ports::CodeSender`], [`ports::PasswordHasher`].
//!
//! ```
//! use kontor_auth::model::BearerToken;
//!
//! assert!(BearerToken::parse("17|Zq0uJ4").is_some());
//! for part in ["17", "Zq0uJ4", "17Zq0uJ4"] {
//!     assert!(BearerToken::parse(part).is_none());
//! }
//! ```

mod customers;
mod error;
mod guards;
pub mod model;
mod phone_change;
pub mod ports;
mod staff;

pub use customers::{CustomerSessions, SignedInCustomer};
pub use error::{CustomerLoginError, PhoneChangeError, SendCodeError, StaffLoginError, StaffRegistryError};
pub use guards::{CustomerAuthentication, CustomerGuard, StaffGuard};
pub use phone_change::PhoneChange;
pub use staff::{SignedInStaff, StaffRegistry, StaffSessions};

/// How far logging out goes (`from_all_devices` in the contract).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogoutExtent {
    /// Ends the token of the call.
    ThisDevice,
    /// Ends every token of the person.
    AllDevices,
}
