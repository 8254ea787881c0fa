//! Guards, tokens, one-time codes, logins by call, employees and permissions.
//!
//! **Owns** access tokens of employees and customers, the two guards that tell who is calling, the passwords of
//! employees, the one-time codes of customers and their attempts to log in by calling a number.
//!
//! **Invariants**
//! - Of a token only the fingerprint is stored; the value `<id>|<secret>` is shown once and counts only whole.
//! - Employees and customers have different guards; a token of one never opens the other.
//! - A customer's token belongs to one application of one project.
//! - One code gives one token, within [`model::CODE_LIFETIME`] and [`model::CODE_ATTEMPTS`] wrong tries.
//! - One callback attempt gives one token, to the holder of its two secrets alone, in its application alone. The
//!   provider is called once to begin it and never while a transaction is open.
//! - An unknown login, a wrong password and a banned employee cannot be told apart, not even by time.
//!
//! **Ports**: [`ports::TokenRepository`], [`ports::StaffRepository`], [`ports::CustomerAccounts`],
//! [`ports::CodeRepository`], [`ports::CodeSender`], [`ports::PasswordHasher`], [`ports::CallbackAttempts`],
//! [`ports::CallVerifier`], [`ports::CallNotices`].
//!
//! ```
//! use kontor_auth::model::BearerToken;
//!
//! assert!(BearerToken::parse("17|Zq0uJ4").is_some());
//! for part in ["17", "Zq0uJ4", "17Zq0uJ4"] {
//!     assert!(BearerToken::parse(part).is_none());
//! }
//! ```

mod callback;
mod customers;
mod error;
mod guards;
pub mod model;
pub mod ports;
mod staff;

pub use callback::{CallbackLogin, CallbackStatus, StartedAttempt};
pub use customers::{CustomerSessions, SignedInCustomer};
pub use error::{
    CallNoticeError, CallbackLoginError, CustomerLoginError, SendCodeError, StaffLoginError, StaffRegistryError,
};
pub use guards::{CustomerAuthentication, CustomerGuard, StaffGuard};
pub use staff::{SignedInStaff, StaffRegistry, StaffSessions};

/// How far logging out goes (`from_all_devices` in the contract).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogoutExtent {
    /// Ends the token of the call.
    ThisDevice,
    /// Ends every token of the person.
    AllDevices,
}
