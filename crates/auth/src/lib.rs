//! Authentication and access control: guards, tokens, login methods, sessions, employees, roles and agents.
//!
//! **Owns** access tokens of employees, agents and customers, and the guards that authenticate callers; one-time codes,
//! callback attempts, signed contacts and sessions of customers; employees with their passwords, roles and permissions;
//! agents and their access requests; the backends that may introspect tokens.
//!
//! **Invariants**
//! - Only the fingerprint of a token is stored. The value `<id>|<secret>` is returned once, and neither half is valid
//!   alone.
//! - Employees and customers have different guards. A token of one kind is never accepted by the other guard.
//! - A customer's token belongs to one application of one project.
//! - One code gives one token, within [`model::CODE_LIFETIME`] and [`model::CODE_ATTEMPTS`] wrong attempts.
//! - One callback attempt gives one token, only to the holder of its two secrets and only in its application. The
//!   provider is called once to start it and never while a transaction is open.
//! - A contact from a mini-app is accepted only if the messenger signed it for the user who started the mini-app.
//! - A customer's phone changes only with a code that was sent to it. Codes for a phone change and codes for login are
//!   not interchangeable.
//! - At most one session per token is open. No time is counted twice, however many heartbeats race.
//! - A backend learns nothing about tokens of other applications, not even that they exist.
//! - Authenticating a token writes nothing. Its uses are recorded in memory and stored together.
//! - Callers cannot grant permissions they do not hold. A token never grants more than the role behind it does now.
//! - An access request gives one token, to the holder of its secret, after an employee approved it.
//! - A project always keeps an owner who can sign in.
//! - An unknown login, a wrong password and a banned employee are indistinguishable, also by response time.
//!
//! **Ports** are in [`ports`].
//!
//! ```
//! use kontor_auth::model::BearerToken;
//!
//! assert!(BearerToken::parse("17|Zq0uJ4").is_some());
//! for part in ["17", "Zq0uJ4", "17Zq0uJ4"] {
//!     assert!(BearerToken::parse(part).is_none());
//! }
//! ```

mod access_requests;
mod agents;
mod callback;
mod customers;
mod directory;
mod error;
mod guards;
mod heartbeats;
mod introspection;
mod known_addresses;
pub mod miniapp;
pub mod model;
mod passwords;
mod permissions;
mod phone_change;
pub mod ports;
mod registry;
mod roles;
mod staff;
mod uses;

pub use access_requests::{AccessRequestService, OpenedAccessRequest};
pub use agents::{AgentService, IssuedAgentToken};
pub use callback::{CallbackLogin, CallbackStatus, StartedAttempt};
pub use customers::{CustomerSessions, IssuedCustomerToken};
pub use directory::StaffDirectory;
pub use error::{
    AccessRequestError, AccessRequestRefusal, AgentError, AgentRefusal, CallNotificationError, CallbackLoginError,
    ContactLoginError, CustomerLoginError, HeartbeatError, IntrospectionError, IntrospectionRegistryError,
    MiniAppRegistryError, PermissionError, PermissionRefusal, PhoneChangeError, RoleError, RoleRefusal, SendCodeError,
    SendPasswordError, StaffLoginError, StaffRegistryError,
};
pub use guards::{CustomerAuthentication, CustomerGuard, StaffGuard};
pub use heartbeats::{Heartbeat, Heartbeats};
pub use introspection::{AuthenticatedIntrospection, Introspection, IntrospectionRegistry, IssuedIntrospectionClient};
pub use known_addresses::KnownAddresses;
pub use passwords::{PasswordSendOutcome, TemporaryPasswords};
pub use permissions::PermissionService;
pub use phone_change::PhoneChange;
pub use registry::{NewEmployeeInput, StaffRegistry};
pub use roles::RoleService;
pub use staff::{IssuedStaffToken, StaffSessions};

/// Scope of a logout (`from_all_devices` in the contract).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogoutExtent {
    /// Revokes the token of the call.
    ThisDevice,
    /// Revokes every token of the caller.
    AllDevices,
}

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse.md")]
struct ReuseGuide;
