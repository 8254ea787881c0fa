//! Guards, tokens, the ways to sign in, sessions, employees, roles and agents.
//!
//! **Owns** access tokens of employees, agents and customers and the guards that tell who is calling; the one-time codes,
//! callback attempts, signed contacts and sessions of customers; employees with their passwords, roles and permissions;
//! agents and their requests for access; the backends that may ask about tokens.
//!
//! **Invariants**
//! - Of a token only the fingerprint is stored; the value `<id>|<secret>` is shown once and counts only whole.
//! - Employees and customers have different guards; a token of one never opens the other.
//! - A customer's token belongs to one application of one project.
//! - One code gives one token, within [`model::CODE_LIFETIME`] and [`model::CODE_ATTEMPTS`] wrong tries.
//! - One callback attempt gives one token, to the holder of its two secrets alone, in its application alone. The
//!   provider is called once to begin it and never while a transaction is open.
//! - A contact from a mini-app counts only when the messenger has signed it for the user who started the mini-app.
//! - A phone becomes a customer's by a code that went to it; such a code and one for signing in never stand for each
//!   other.
//! - At most one session per token goes on; no time counts twice, however many signs of life race.
//! - A backend learns nothing about a token that is not one of its own application, not even that it exists.
//! - Recognizing a token writes nothing: its uses are recorded in memory and stored together.
//! - Nobody hands on what he does not have; a token never opens more than the role behind it does now.
//! - A request for access gives one token, to whoever has its secret, after an employee agreed.
//! - A project keeps an owner who can sign in.
//! - An unknown login, a wrong password and a banned employee cannot be told apart, not even by time.
//!
//! **Ports** stand in [`ports`].
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
    AccessRequestError, AccessRequestRefusal, AgentError, AgentRefusal, CallNoticeError, CallbackLoginError,
    ContactLoginError, CustomerLoginError, HeartbeatError, IntrospectionError, IntrospectionRegistryError,
    MiniAppRegistryError, PermissionError, PermissionRefusal, PhoneChangeError, RoleError, RoleRefusal, SendCodeError,
    SendPasswordError, StaffLoginError, StaffRegistryError,
};
pub use guards::{CustomerAuthentication, CustomerGuard, StaffGuard};
pub use heartbeats::{Heartbeat, Heartbeats};
pub use introspection::{Inquiry, Introspection, IntrospectionRegistry, IssuedIntrospectionClient};
pub use known_addresses::KnownAddresses;
pub use passwords::{PasswordRound, TemporaryPasswords};
pub use permissions::PermissionService;
pub use phone_change::PhoneChange;
pub use registry::{Hire, StaffRegistry};
pub use roles::RoleService;
pub use staff::{IssuedStaffToken, StaffSessions};

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
#[doc = include_str!("../../../docs/reuse.md")]
struct ReuseGuide;
