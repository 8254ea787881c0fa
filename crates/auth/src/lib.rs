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
//! - An approved call of an agent is executed at most once, for the token that proposed it, as it was shown. Tokens of
//!   agents never approve. [`model::AGENT_ACTION_MOVES`] has every move.
//! - A project always keeps an owner who can sign in.
//! - An unknown login, a wrong password and a banned employee are indistinguishable, also by response time.
//!
//! **Refusals**: each group of use cases has one error, such as [`CustomerLoginError`], [`StaffLoginError`] and
//! [`RoleError`]. [`RoleRefusal`], [`AgentRefusal`] and others list the business refusals.
//!
//! **Ports** ([`ports`]):
//! - tokens: [`ports::TokenRepository`];
//! - customers: [`ports::CustomerAccounts`], [`ports::CodeRepository`], [`ports::CodeSender`],
//!   [`ports::PhoneRepository`], [`ports::ClientSessions`];
//! - login by call: [`ports::CallbackAttempts`], [`ports::CallVerifier`], [`ports::CallNotificationParser`];
//! - mini-apps: [`ports::MiniAppTokens`], [`ports::Hmac`];
//! - introspection: [`ports::IntrospectionClients`];
//! - employees: [`ports::StaffRepository`], [`ports::EmployeeRepository`], [`ports::DirectoryRepository`],
//!   [`ports::RoleRepository`], [`ports::PermissionRepository`], [`ports::PasswordRequests`], [`ports::PasswordSender`],
//!   [`ports::PasswordHasher`], [`ports::SignInAddresses`];
//! - agents: [`ports::AgentRepository`], [`ports::AccessRequestRepository`], [`ports::AgentActionRepository`],
//!   [`ports::ApprovalMailQueue`], [`ports::ApprovalMailSender`].
//!
//! **Services and their ports**; most also take a `Clock`, a `Random` or a `SecretCipher` of the kernel:
//!
//! | Service | Ports |
//! |---|---|
//! | [`StaffSessions`], [`StaffRegistry`] | `StaffRepository`, `TokenRepository`, `PasswordHasher` |
//! | [`StaffGuard`], [`CustomerGuard`] | `TokenRepository` |
//! | [`CustomerSessions`] | `CustomerAccounts`, `CodeRepository`, `TokenRepository`, `CodeSender` |
//! | [`CallbackLogin`] | `CallbackAttempts`, `CallVerifier`, `CallNotificationParser` |
//! | [`miniapp::MiniAppLogin`] | `MiniAppTokens`, `CustomerAccounts`, `Hmac` |
//! | [`PhoneChange`] | `PhoneRepository`, `CodeSender` |
//! | [`Heartbeats`] | `ClientSessions` |
//! | [`Introspection`], [`IntrospectionRegistry`] | `IntrospectionClients` |
//! | [`EmployeeService`] | `EmployeeRepository`, `RoleRepository`, `PasswordHasher`, `Histories` of the kernel |
//! | [`TemporaryPasswords`] | `PasswordRequests`, `PasswordHasher`, `PasswordSender` |
//! | [`StaffDirectory`], [`RoleService`], [`PermissionService`] | `DirectoryRepository`, `RoleRepository`, `PermissionRepository` |
//! | [`AgentService`], [`AccessRequestService`] | `AgentRepository`, `AccessRequestRepository` |
//! | [`ApprovalMailWorker`] | `ApprovalMailQueue`, `ApprovalMailSender` |
//! | [`KnownAddresses`] | `SignInAddresses` |
//!
//! **Features**, none by default
//! - `mocks` adds a mock of every port.
//! - `testing` adds `testing::contract`, the promises of the stores of tokens, sessions, codes, calls, employees,
//!   roles, permissions, passwords, introspection clients and agents, as functions that the tests of an adapter run; and
//!   `testing::memory`, a storage of logins in memory.
//!
//! ```toml
//! [dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel" }
//! kontor-auth = { path = "../kontor/crates/auth" }
//!
//! [dev-dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel", features = ["mocks"] }
//! kontor-auth = { path = "../kontor/crates/auth", features = ["mocks", "testing"] }
//! ```
//!
//! **When not to use it**
//! - Customers with passwords: they log in by code, call or mini-app.
//! - An identity provider for applications of others: backends introspect tokens, but there is no OAuth authorization.
//! - Phones outside the Russian numbering plan: see `Phone` of the kernel.
//!
//! A customer logs in by code, in memory:
//! ```
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::net::IpAddr;
//! use std::sync::{Arc, Mutex};
//!
//! use chrono::DateTime;
//! use kontor_auth::model::TokenLifetimes;
//! use kontor_auth::ports::{CodeSender, SendError};
//! use kontor_auth::testing::memory::InMemoryLogins;
//! use kontor_auth::{CustomerLoginError, CustomerSessions};
//! use kontor_kernel::testing::{CountingRandom, PlainCipher, app_scope};
//! use kontor_kernel::{Contact, Email, FixedClock, Phone};
//!
//! // 1. A sender behind the port. Phones get the proposed code; a provider that chooses codes itself returns its own.
//! #[derive(Default)]
//! struct Outbox(Mutex<Vec<String>>);
//!
//! #[async_trait::async_trait]
//! impl CodeSender for Outbox {
//!     async fn code_to_phone(&self, _: &Phone, proposed: &str, _: Option<IpAddr>) -> Result<String, SendError> {
//!         self.0.lock().unwrap().push(proposed.to_owned());
//!         Ok(proposed.to_owned())
//!     }
//!
//!     async fn email_code(&self, _: &Email, _: &str) -> Result<(), SendError> {
//!         Err(SendError::Refused("there is no mail server".to_owned()))
//!     }
//! }
//!
//! // 2. Storage in memory, with one application. Time, randomness and hashing are ports, too.
//! let (store, outbox, app) = (Arc::new(InMemoryLogins::default()), Arc::new(Outbox::default()), app_scope(1, 1));
//! store.add_app(app);
//! let sessions = CustomerSessions {
//!     accounts: store.clone(),
//!     codes: store.clone(),
//!     tokens: store.clone(),
//!     sender: outbox.clone(),
//!     clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
//!     random: Arc::new(CountingRandom::new()),
//!     cipher: Arc::new(PlainCipher),
//!     lifetimes: TokenLifetimes::default(),
//! };
//!
//! // 3. The use cases. Every spelling of a phone is one contact; a code works once.
//! let phone = Contact::parse("8 (900) 123-45-67")?;
//! sessions.send_code(app, &phone, None).await?;
//! let code = outbox.0.lock().unwrap().remove(0);
//!
//! let wrong = sessions.log_in(app, &phone, "000000", None).await;
//! assert!(matches!(wrong, Err(CustomerLoginError::WrongCode)));
//! let signed = sessions.log_in(app, &Contact::parse("+79001234567")?, &code, None).await?;
//! assert_eq!(signed.scope.app, app);
//! let again = sessions.log_in(app, &phone, &code, None).await;
//! assert!(matches!(again, Err(CustomerLoginError::CodeNotRequested)));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```
//!
//! A token is valid only as a whole:
//! ```
//! use kontor_auth::model::BearerToken;
//!
//! assert!(BearerToken::parse("17|Zq0uJ4").is_some());
//! for part in ["17", "Zq0uJ4", "17Zq0uJ4"] {
//!     assert!(BearerToken::parse(part).is_none());
//! }
//! ```

mod access_requests;
mod agent_actions;
mod agent_gate;
mod agents;
mod approval_mails;
mod callback;
mod customers;
mod directory;
mod employees;
mod error;
mod guards;
mod heartbeats;
mod introspection;
pub mod miniapp;
pub mod model;
mod passwords;
mod permissions;
mod phone_change;
pub mod ports;
mod registry;
mod roles;
mod staff;
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of adapters and of use cases.

    pub mod contract;
    pub mod memory;
}
mod uses;

pub use access_requests::{AccessRequestService, OpenedAccessRequest};
pub use agent_actions::{AgentActionService, ShownAgentAction};
pub use agent_gate::{AgentCallState, AgentResponse, JudgedCall};
pub use agents::{AgentService, IssuedAgentToken};
pub use approval_mails::{APPROVAL_MAIL_DELAY, APPROVAL_MAIL_INTERVAL, ApprovalMailOutcome, ApprovalMailWorker};
pub use callback::{CallbackLogin, CallbackStatus, StartedAttempt};
pub use customers::{CustomerSessions, IssuedCustomerToken};
pub use directory::StaffDirectory;
pub use employees::EmployeeService;
pub use error::{
    AccessRequestError, AccessRequestRefusal, AgentActionError, AgentActionRefusal, AgentError, AgentRefusal,
    CallNotificationError, CallbackLoginError, ContactLoginError, CustomerLoginError, EmployeeError, EmployeeRefusal,
    HeartbeatError, IntrospectionError, IntrospectionRegistryError, MiniAppRegistryError, PermissionError,
    PermissionRefusal, PhoneChangeError, RoleError, RoleRefusal, SendCodeError, SendPasswordError, StaffLoginError,
    StaffRegistryError,
};
pub use guards::{CustomerAuthentication, CustomerGuard, StaffGuard};
pub use heartbeats::{Heartbeat, Heartbeats};
pub use introspection::{AuthenticatedIntrospection, Introspection, IntrospectionRegistry, IssuedIntrospectionClient};
pub use passwords::{KnownAddresses, PasswordSendOutcome, TemporaryPasswords};
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
