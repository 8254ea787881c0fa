//! Guards, tokens, one-time codes, employees and permissions.
//!
//! **Owns** access tokens of employees and customers, the two guards that tell who is calling, employees with their
//! passwords, roles and permissions, and the one-time codes of customers.
//!
//! **Invariants**
//! - Of a token only the fingerprint is stored; the value `<id>|<secret>` is shown once and counts only whole.
//! - Employees and customers have different guards; a token of one never opens the other.
//! - A customer's token belongs to one application of one project.
//! - One code gives one token, within [`model::CODE_LIFETIME`] and [`model::CODE_ATTEMPTS`] wrong tries.
//! - An unknown login, a wrong password and a banned employee cannot be told apart, not even by time.
//! - Asking for a temporary password leaves the password as it is, and tells nothing about the login.
//! - Nobody gives a role what he does not have himself; a project never loses its last owner.
//!
//! **Ports**: [`ports::TokenRepository`], [`ports::StaffRepository`], [`ports::DirectoryRepository`],
//! [`ports::RoleRepository`], [`ports::PermissionRepository`], [`ports::PasswordRequests`], [`ports::PasswordSender`],
//! [`ports::PasswordHasher`], [`ports::CustomerAccounts`], [`ports::CodeRepository`], [`ports::CodeSender`].
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
mod directory;
mod error;
mod guards;
pub mod model;
mod passwords;
mod permissions;
pub mod ports;
mod registry;
mod roles;
mod staff;

pub use customers::{CustomerSessions, SignedInCustomer};
pub use directory::StaffDirectory;
pub use error::{
    CustomerLoginError, DirectoryError, PermissionError, RoleError, SendCodeError, SendPasswordError, StaffLoginError,
    StaffRegistryError,
};
pub use guards::{CustomerAuthentication, CustomerGuard, StaffGuard};
pub use passwords::{PasswordRound, TemporaryPasswords};
pub use permissions::PermissionService;
pub use registry::{Hire, StaffRegistry};
pub use roles::RoleService;
pub use staff::{SignedInStaff, StaffSessions};

/// How far logging out goes (`from_all_devices` in the contract).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogoutExtent {
    /// Ends the token of the call.
    ThisDevice,
    /// Ends every token of the person.
    AllDevices,
}
