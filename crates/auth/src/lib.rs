//! Guards, tokens, one-time codes, client sessions, introspection, employees and permissions.
//!
//! **Owns** access tokens of employees and customers, the two guards that tell who is calling, the passwords of
//! employees, the one-time codes and sessions of customers, and the backends that may ask about tokens.
//!
//! **Invariants**
//! - Of a token only the fingerprint is stored; the value `<id>|<secret>` is shown once and counts only whole.
//! - Employees and customers have different guards; a token of one never opens the other.
//! - A customer's token belongs to one application of one project.
//! - One code gives one token, within [`model::CODE_LIFETIME`] and [`model::CODE_ATTEMPTS`] wrong tries.
//! - A contact from a mini-app counts only when the messenger has signed it for the user who started the mini-app.
//! - At most one session per token goes on; no time counts twice, however many signs of life race.
//! - A backend learns nothing about a token that is not one of its own application, not even that it exists.
//! - Recognizing a token writes nothing: its uses are noted in memory and stored together.
//! - An unknown login, a wrong password and a banned employee cannot be told apart, not even by time.
//!
//! **Ports**: [`ports::TokenRepository`], [`ports::StaffRepository`], [`ports::CustomerAccounts`],
//! [`ports::CodeRepository`], [`ports::CodeSender`], [`ports::PasswordHasher`], [`ports::MiniAppTokens`],
//! [`ports::Hmac`], [`ports::ClientSessions`], [`ports::IntrospectionClients`].
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
mod heartbeats;
mod introspection;
pub mod miniapp;
pub mod model;
pub mod ports;
mod staff;
mod uses;
mod access_requests;
mod agents;
mod directory;
mod passwords;
mod permissions;
mod registry;
mod roles;

pub use customers::{CustomerSessions, SignedInCustomer};
pub use error::{CustomerLoginError, HeartbeatError, IntrospectionError, IntrospectionRegistryError, SendCodeError, StaffLoginError, StaffRegistryError, ContactLoginError, MiniAppRegistryError, AccessRequestError, AgentError, DirectoryError, PermissionError, RoleError, SendPasswordError};
pub use guards::{CustomerAuthentication, CustomerGuard, StaffGuard};
pub use heartbeats::{Heartbeat, Heartbeats};
pub use introspection::{Inquiry, Introspection, IntrospectionRegistry, IssuedIntrospectionClient};
pub use staff::{SignedInStaff, StaffRegistry, StaffSessions};
pub use access_requests::{AccessRequestService, OpenedAccessRequest};
pub use agents::{AgentService, IssuedAgentToken};
pub use directory::StaffDirectory;
pub use passwords::{PasswordRound, TemporaryPasswords};
pub use permissions::PermissionService;
pub use registry::{Hire, StaffRegistry};
pub use roles::RoleService;

/// How far logging out goes (`from_all_devices` in the contract).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogoutExtent {
    /// Ends the token of the call.
    ThisDevice,
    /// Ends every token of the person.
    AllDevices,
}

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-auth.md")]
struct ReuseGuide;
