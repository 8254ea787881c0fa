//! What access control needs from the outside.

mod miniapp;
mod agents;

use std::net::IpAddr;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{AppScope, Contact, CounterpartyId, CustomerScope, Email, Phone, ProjectId, SecretString, StoreError, TokenId, UserId};
use uuid::Uuid;
#[cfg(feature = "mocks")] pub use agents::{MockAccessRequestRepository, MockAgentRepository};

pub use miniapp::*;
use crate::model::{ClientSession, CodeRedemption, Employee, Login, NewCode, NewIntrospectionClient, NewOwner, NewToken, Redeemed, StaffCredentials, StoredCustomerToken, StoredInquiry, StoredStaffToken, TokenOwner, TokenUse};
use crate::{IntrospectionRegistryError, StaffRegistryError};
pub use agents::{AccessRequestRepository, AgentRepository};

/// Issued tokens. The two look-ups keep to their guard: a token of the other guard is not found.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TokenRepository: Send + Sync {
    /// The token of an employee with what his role allows, in one statement.
    async fn staff_token(&self, id: TokenId) -> Result<Option<StoredStaffToken>, StoreError>;

    /// The token of a customer who still exists.
    async fn customer_token(&self, id: TokenId) -> Result<Option<StoredCustomerToken>, StoreError>;

    /// Stores uses of tokens, and with those of employees the time they were active; see [`TokenUse::active_after`].
    /// What was used is told by the token, so tokens of both guards may come together; ended ones are passed over.
    async fn record_uses(&self, uses: Vec<TokenUse>) -> Result<(), StoreError>;

    /// Ends one token of its owner, a customer's session with it; ending it twice is no error.
    async fn revoke(&self, owner: TokenOwner, token: TokenId) -> Result<(), StoreError>;

    /// Ends every token of the owner, a customer's sessions with them.
    async fn revoke_all(&self, owner: TokenOwner) -> Result<(), StoreError>;
}

/// Employees.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StaffRepository: Send + Sync {
    /// What a login is checked against.
    async fn credentials(&self, login: &Login) -> Result<Option<StaffCredentials>, StoreError>;

    /// Stores the token of an employee who has proved himself, and notes his activity.
    async fn sign_in(&self, user: UserId, token: NewToken) -> Result<TokenId, StoreError>;

    /// The employee's record with his permissions.
    async fn employee(&self, user: UserId) -> Result<Option<Employee>, StoreError>;

    /// Stores an employee with the project's owner role, which is made when the project has none. Refuses a login in
    /// use and a branch of another project.
    async fn insert_owner(&self, owner: NewOwner) -> Result<UserId, StaffRegistryError>;
}

/// The customers of a project, as far as logging in needs them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CustomerAccounts: Send + Sync {
    /// The customer a contact logs in: the one it logged in before, else the oldest one staff noted it for, else a new
    /// one. Racing calls agree on one customer.
    async fn find_or_create(
        &self,
        project: ProjectId,
        contact: &Contact,
        at: DateTime<Utc>,
    ) -> Result<CounterpartyId, StoreError>;

    /// Stores the token of the customer whose contact is proven, in one step with finding or creating him as
    /// [`CustomerAccounts::find_or_create`] does.
    async fn sign_in_customer(
        &self,
        app: AppScope,
        contact: &Contact,
        token: NewToken,
    ) -> Result<(CounterpartyId, TokenId), StoreError>;
}

/// One-time codes, at most one per contact of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CodeRepository: Send + Sync {
    /// Stores a code in place of an earlier one of the contact.
    async fn replace(&self, project: ProjectId, contact: &Contact, code: NewCode) -> Result<(), StoreError>;

    /// Uses up the code and stores the token, or counts a wrong try. However many tries race, one code gives one
    /// token, and no more wrong tries pass than the code has.
    async fn redeem(&self, redemption: CodeRedemption) -> Result<Redeemed, StoreError>;
}

/// How a session was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStart {
    /// It goes on from here.
    Started(ClientSession),
    /// Another sign of life was quicker.
    Overtaken,
    /// The token ended meanwhile.
    SignedOut,
}

/// The sessions of customers: at most one per token goes on.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ClientSessions: Send + Sync {
    /// The session of a token that goes on.
    async fn current(&self, token: TokenId) -> Result<Option<ClientSession>, StoreError>;

    /// Stores how a session goes on, unless it was closed or seen since `seen_at`; then the answer is `false`.
    async fn go_on(&self, session: ClientSession, seen_at: DateTime<Utc>) -> Result<bool, StoreError>;

    /// Starts a session of the customer's token and closes the one before, unless that was seen meanwhile.
    async fn start(
        &self,
        customer: CustomerScope,
        before: Option<ClientSession>,
        at: DateTime<Utc>,
    ) -> Result<SessionStart, StoreError>;
}

/// The backends that may ask what a customer's token is worth.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait IntrospectionClients: Send + Sync {
    /// The client and, if it exists, the named token of a customer of the client's application, in one statement.
    async fn inquiry(&self, client_id: Uuid, token: Option<TokenId>) -> Result<Option<StoredInquiry>, StoreError>;

    /// Adds a client of an application. Refuses an unknown application and a second client for one audience.
    async fn insert(&self, client: NewIntrospectionClient) -> Result<(), IntrospectionRegistryError>;

    /// Puts another secret in the place of the client's and makes it active; `false` when there is no such client.
    async fn rotate(&self, client_id: Uuid, fingerprint: String, at: DateTime<Utc>) -> Result<bool, StoreError>;

    /// Shuts a client out; `false` when there is no such client.
    async fn disable(&self, client_id: Uuid) -> Result<bool, StoreError>;
}

/// Why a one-time code did not go out. Whether the provider did part of the work is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The provider answered and refused.
    #[error("the provider refused: {0}")]
    Refused(String),
    /// The provider could not be reached, or its answer made no sense.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
}

/// Brings one-time codes to customers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CodeSender: Send + Sync {
    /// Brings a code to a phone and returns it. A message carries the `proposed` code; the code of a call is the last
    /// digits of the calling number, which the provider chooses. `ip` is the address of the customer, which the provider
    /// uses against abuse.
    async fn code_to_phone(&self, phone: &Phone, proposed: &str, ip: Option<IpAddr>) -> Result<String, SendError>;

    /// Sends the code by e-mail.
    async fn email_code(&self, email: &Email, code: &str) -> Result<(), SendError>;
}

/// A password could not be hashed or compared.
#[derive(Debug, thiserror::Error)]
#[error("the password hash failed: {0}")]
pub struct HashingFailed(pub String);

/// Slow, salted hashing of employees' passwords.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasswordHasher: Send + Sync {
    /// The form that is stored.
    async fn hash(&self, password: &SecretString) -> Result<String, HashingFailed>;

    /// Whether the password belongs to the hash. Without a hash the answer is `false` and takes as long, so that an
    /// unknown login cannot be told from a wrong password.
    async fn verify(&self, password: &SecretString, hash: Option<String>) -> Result<bool, HashingFailed>;
}
