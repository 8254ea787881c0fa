//! Ports of access control.

mod agent_actions;
mod agents;
mod approval_mails;
mod callback;

#[cfg(feature = "mocks")]
pub use agent_actions::MockAgentActionRepository;
#[cfg(feature = "mocks")]
pub use agents::{MockAccessRequestRepository, MockAgentRepository};
#[cfg(feature = "mocks")]
pub use approval_mails::{MockApprovalMailQueue, MockApprovalMailSender};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, ApplicationId, Contact, CounterpartyId, CustomerScope, DepartmentId, Email, Page, PageRequest,
    PermissionId, Phone, ProjectId, ProjectScoped, RoleId, ScreenId, SecretString, Stamp, StoreError, TokenId, UserId,
};
use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use uuid::Uuid;

use crate::miniapp::MiniAppProvider;
use crate::model::{
    Audience, ClientSession, CodeRedemption, Employee, EmployeeChange, EmployeeEditor, EmployeeFilter, EmployeeSummary,
    EmployeeUpdate, FoundPermission, GrantedPermission, Login, NewCode, NewEmployee, NewIntrospectionClient,
    NewPhoneCode, NewToken, PasswordRecipient, PasswordRequest, PermissionChange, PermissionDraft, PhoneChangeAttempt,
    PhoneChangeOutcome, PhoneOwnership, RedeemOutcome, Reference, RoleChange, RoleChoice, RoleDraft, StaffCredentials,
    StaffRole, StoredCustomerToken, StoredIntrospection, StoredStaffToken, TemporaryPassword, TokenOwner, TokenUse,
};
use crate::{EmployeeError, IntrospectionRegistryError, PermissionError, RoleError, StaffRegistryError};
pub use agent_actions::AgentActionRepository;
pub use agents::{AccessRequestRepository, AgentRepository};
pub use approval_mails::{ApprovalMailQueue, ApprovalMailSender};
pub use callback::*;
pub use kontor_kernel::SendError;

/// Storage of issued tokens. Each look-up is bound to its guard: a token of the other guard is not found.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TokenRepository: Send + Sync {
    /// Returns the token of an employee with the permissions of the role, in one statement.
    async fn staff_token(&self, id: TokenId) -> Result<Option<StoredStaffToken>, StoreError>;

    /// Returns the token of an existing customer.
    async fn customer_token(&self, id: TokenId) -> Result<Option<StoredCustomerToken>, StoreError>;

    /// Stores uses of tokens and, for employees, their active time; see [`TokenUse::active_after`]. Tokens of both
    /// guards may be mixed. Revoked tokens are skipped.
    async fn record_uses(&self, uses: Vec<TokenUse>) -> Result<(), StoreError>;

    /// Revokes one token of its owner and, for a customer, closes its session. Idempotent.
    async fn revoke(&self, owner: TokenOwner, token: TokenId) -> Result<(), StoreError>;

    /// Revokes every token of the owner and, for a customer, closes the sessions.
    async fn revoke_all(&self, owner: TokenOwner) -> Result<(), StoreError>;
}

/// Addresses from which employees have signed in, as keyed hashes.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SignInAddresses: Send + Sync {
    /// `true` if the hash is stored.
    async fn contains(&self, fingerprint: &str) -> Result<bool, StoreError>;

    /// Stores the hash with this time, or updates its time.
    async fn remember(&self, fingerprint: &str, at: DateTime<Utc>) -> Result<(), StoreError>;
}

/// Storage of employees.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StaffRepository: Send + Sync {
    /// Returns the credentials of a login, with a temporary password that is valid at this time.
    async fn credentials(&self, login: &Login, at: DateTime<Utc>) -> Result<Option<StaffCredentials>, StoreError>;

    /// Stores the token of an employee who has proved a password, and records their activity. A temporary password
    /// becomes the employee's own password, and every other token is revoked in the same commit. Returns `None` and
    /// stores nothing if the employee was banned in the meantime, or if the compared password is no longer the stored
    /// one.
    async fn sign_in(&self, sign_in: SignIn) -> Result<Option<TokenId>, StoreError>;

    /// Returns the employee with their permissions.
    async fn employee(&self, user: UserId) -> Result<Option<Employee>, StoreError>;

    /// Stores an employee. Refuses an unknown project, a login in use, and a role, branch or department of another
    /// project.
    async fn insert_employee(&self, employee: NewEmployee) -> Result<UserId, StaffRegistryError>;

    /// Bans an employee and revokes their tokens and temporary password in one commit. Refuses the last owner.
    async fn ban(&self, user: UserId, at: DateTime<Utc>) -> Result<(), StaffRegistryError>;

    /// Lifts the ban of an employee, who must sign in again.
    async fn unban(&self, user: UserId, at: DateTime<Utc>) -> Result<(), StaffRegistryError>;

    /// Assigns another role of the project to an employee. Refuses to remove the owner role from the last owner, also
    /// under concurrent calls.
    async fn assign_role(&self, user: UserId, role: RoleChoice, at: DateTime<Utc>) -> Result<(), StaffRegistryError>;

    /// Assigns an employee to a department of the project, or to none.
    async fn assign_department(
        &self,
        user: UserId,
        department: Option<DepartmentId>,
        at: DateTime<Utc>,
    ) -> Result<(), StaffRegistryError>;

    /// Changes the employee with this login and returns the identifier. Refuses a file that is not an avatar of the
    /// project.
    async fn update_employee(
        &self,
        login: &Login,
        change: EmployeeChange,
        at: DateTime<Utc>,
    ) -> Result<UserId, StaffRegistryError>;
}

/// Customers of a project, as far as login needs them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CustomerAccounts: Send + Sync {
    /// Returns the customer that a contact signs in: the one who signed in with it before, otherwise the oldest one
    /// with the contact in the record, otherwise a new customer. Concurrent calls agree on one customer.
    async fn find_or_create(
        &self,
        project: ProjectId,
        contact: &Contact,
        at: DateTime<Utc>,
    ) -> Result<CounterpartyId, StoreError>;

    /// Stores the token of the customer whose contact is proven, and finds or creates the customer in the same commit
    /// as [`CustomerAccounts::find_or_create`] does.
    async fn sign_in_customer(
        &self,
        app: AppScope,
        contact: &Contact,
        token: NewToken,
    ) -> Result<(CounterpartyId, TokenId), StoreError>;
}

/// Storage of one-time codes, at most one per contact of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CodeRepository: Send + Sync {
    /// Stores a code and replaces an earlier one of the contact.
    async fn replace(&self, project: ProjectId, contact: &Contact, code: NewCode) -> Result<(), StoreError>;

    /// Uses up the code and stores the token, or counts a wrong attempt. Also under concurrent attempts, one code gives
    /// one token and the limit of wrong attempts holds.
    async fn redeem(&self, redemption: CodeRedemption) -> Result<RedeemOutcome, StoreError>;
}

/// Outcome of starting a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStart {
    /// The session was started.
    Started(ClientSession),
    /// Another heartbeat was faster.
    Superseded,
    /// The token was revoked in the meantime.
    SignedOut,
}

/// Storage of client sessions: at most one per token is open.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ClientSessions: Send + Sync {
    /// Returns the open session of a token.
    async fn current(&self, token: TokenId) -> Result<Option<ClientSession>, StoreError>;

    /// Stores the continued session. Returns `false` if the session was closed or updated since `seen_at`.
    async fn continue_session(&self, session: ClientSession, seen_at: DateTime<Utc>) -> Result<bool, StoreError>;

    /// Starts a session of the customer's token and closes the previous one, unless that was updated in the meantime.
    async fn start(
        &self,
        customer: CustomerScope,
        before: Option<ClientSession>,
        at: DateTime<Utc>,
    ) -> Result<SessionStart, StoreError>;
}

/// Storage of introspection clients.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait IntrospectionClients: Send + Sync {
    /// Returns the client and, if it exists, the token of a customer of the client's application, in one statement.
    async fn client_and_token(
        &self,
        client_id: Uuid,
        token: Option<TokenId>,
    ) -> Result<Option<StoredIntrospection>, StoreError>;

    /// Returns the cached result of [`IntrospectionClients::client_and_token`] for an active client and a token of its
    /// application. It is never older than the commits of this process, and at most a second older than those of other
    /// processes. `None` means not cached.
    fn remembered_inquiry(&self, client_id: Uuid, token: Option<TokenId>) -> Option<StoredIntrospection>;

    /// Stores a client of an application. Refuses an unknown application and a second client for one audience.
    async fn insert(&self, client: NewIntrospectionClient) -> Result<(), IntrospectionRegistryError>;

    /// Replaces the secret of the application's client for an audience and activates the client. Returns the client;
    /// `None` if there is none.
    async fn rotate(
        &self,
        application_id: ApplicationId,
        audience: Audience,
        fingerprint: String,
        at: DateTime<Utc>,
    ) -> Result<Option<Uuid>, StoreError>;

    /// Disables the application's client for an audience. Returns the client; `None` if there is none.
    async fn disable(&self, application_id: ApplicationId, audience: Audience) -> Result<Option<Uuid>, StoreError>;
}

/// Sends one-time codes to customers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CodeSender: Send + Sync {
    /// Sends a code to a phone and returns it. A message carries the `proposed` code. The code of a call is the last
    /// digits of the calling number, chosen by the provider. `ip` is the customer's address, which the provider uses to
    /// prevent abuse.
    async fn code_to_phone(&self, phone: &Phone, proposed: &str, ip: Option<IpAddr>) -> Result<String, SendError>;

    /// Sends the code by e-mail.
    async fn email_code(&self, email: &Email, code: &str) -> Result<(), SendError>;
}

/// Error: a password could not be hashed or compared.
#[derive(Debug, thiserror::Error)]
#[error("the password hash failed: {0}")]
pub struct HashingFailed(pub String);

/// Slow, salted hashing of employees' passwords.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasswordHasher: Send + Sync {
    /// Returns the stored form.
    async fn hash(&self, password: &SecretString) -> Result<String, HashingFailed>;

    /// Returns `true` if the password matches the hash. Without a hash it returns `false` after the same time, so that
    /// an unknown login cannot be distinguished from a wrong password.
    async fn verify(&self, password: &SecretString, hash: Option<String>) -> Result<bool, HashingFailed>;
}

/// Stored form of the password that an employee has proved. It is compared again in the commit that stores the token.
#[derive(Clone, PartialEq, Eq)]
pub enum MatchedPassword {
    /// The employee's own password.
    Own(String),
    /// Temporary password, which becomes the employee's own.
    Temporary(String),
}

impl fmt::Debug for MatchedPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own(_) => "Own",
            Self::Temporary(_) => "Temporary",
        })
    }
}

/// Login of an employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    /// Employee.
    pub user_id: UserId,
    /// Proved password.
    pub proved: MatchedPassword,
    /// Token to store.
    pub token: NewToken,
}

/// Lists of employees, without agents and other projects.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DirectoryRepository: Send + Sync {
    /// Returns one page of the project's employees with their permissions, oldest first. The number of statements does
    /// not grow with the page.
    async fn employees(
        &self,
        project: ProjectId,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<Employee>, StoreError>;

    /// Returns one page of the project's employees by name only, oldest first.
    async fn colleagues(
        &self,
        project: ProjectId,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<EmployeeSummary>, StoreError>;
}

/// Storage of staff roles, without the private roles of agents. Each change is one commit: a refused one stores
/// nothing. After [`StoreError::OutcomeUnknown`], read again: a role with the version that was read is unchanged.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait RoleRepository: Send + Sync {
    /// Returns every role of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<StaffRole>, StoreError>;

    /// Returns a role of any project.
    async fn find(&self, id: RoleId) -> Result<Option<ProjectScoped<StaffRole>>, StoreError>;

    /// Returns every permission that roles of the project can have.
    async fn permissions(&self, project: ProjectId) -> Result<Vec<GrantedPermission>, StoreError>;

    /// Returns the project-defined permissions of a call with this token: those of the holder's role. Returns none for
    /// a token that is limited to a part of its role.
    async fn project_permissions(&self, token: TokenId) -> Result<BTreeSet<PermissionId>, StoreError>;

    /// Stores a role. Returns [`RoleRefusal::Stale`](crate::RoleRefusal::Stale) if a permission does not exist any
    /// more; the caller has checked that the permissions are among [`RoleRepository::permissions`].
    async fn insert(&self, stamp: Stamp, draft: RoleDraft) -> Result<StaffRole, RoleError>;

    /// Changes a role if it still has this version; otherwise returns
    /// [`RoleRefusal::Stale`](crate::RoleRefusal::Stale), as for the owner's role, a role of another project and a
    /// permission that does not exist any more. Of concurrent changes of one version, one is stored.
    async fn update(&self, stamp: Stamp, id: RoleId, version: i64, change: RoleChange) -> Result<StaffRole, RoleError>;

    /// Deletes a role if it still has this version; otherwise returns
    /// [`RoleRefusal::Stale`](crate::RoleRefusal::Stale), as for the owner's role and a role of another project.
    /// Refuses a role that an employee has.
    async fn delete(&self, project: ProjectId, id: RoleId, version: i64) -> Result<(), RoleError>;
}

/// Storage of permissions and screens. Each change is one commit. It may be repeated after
/// [`StoreError::OutcomeUnknown`]: if it was stored, the name is in use, or the deleted permission is not found.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PermissionRepository: Send + Sync {
    /// Returns the service's permissions and those defined by the project, by identifier.
    async fn list(&self, project: ProjectId) -> Result<Vec<GrantedPermission>, StoreError>;

    /// Returns a permission of the service or of any project.
    async fn find(&self, id: PermissionId) -> Result<Option<FoundPermission>, StoreError>;

    /// Stores a permission of the project. Refuses an unknown screen and a name in use by the project, also under
    /// concurrent calls.
    async fn insert(&self, project: ProjectId, draft: PermissionDraft) -> Result<GrantedPermission, PermissionError>;

    /// Changes a permission defined by the project. Refuses the same as [`PermissionRepository::insert`]. Permissions
    /// of the service and of other projects are not found, even if the change is empty.
    async fn update(
        &self,
        project: ProjectId,
        id: PermissionId,
        change: PermissionChange,
    ) -> Result<GrantedPermission, PermissionError>;

    /// Deletes a permission defined by the project. Refuses one that a role has. Permissions of the service and of
    /// other projects are not found.
    async fn delete(&self, project: ProjectId, id: PermissionId) -> Result<(), PermissionError>;

    /// Returns every screen, by identifier.
    async fn screens(&self) -> Result<Vec<Reference<ScreenId>>, StoreError>;

    /// Returns one screen.
    async fn screen(&self, id: ScreenId) -> Result<Option<Reference<ScreenId>>, StoreError>;
}

/// Storage of temporary passwords and the requests for them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasswordRequests: Send + Sync {
    /// Queues a request and replaces an earlier one for the login. Does the same for known and unknown logins.
    async fn enqueue(&self, login: &Login, at: DateTime<Utc>) -> Result<(), StoreError>;

    /// Leases the oldest request that is due and counts the attempt. Of concurrent callers one gets it. A request that
    /// cannot be decoded is set aside and does not block others.
    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<PasswordRequest>, StoreError>;

    /// Releases the lease of a request that is to be retried; a newer request for the login is not changed.
    async fn postpone(&self, request: &PasswordRequest, next: DateTime<Utc>) -> Result<(), StoreError>;

    /// Returns the employee with this login, unless banned.
    async fn recipient(&self, login: &Login) -> Result<Option<PasswordRecipient>, StoreError>;

    /// Stores a temporary password and replaces an earlier one. The employee's own password stays valid. Stores nothing
    /// and returns `false` if the employee was banned or got another address in the meantime.
    async fn store(&self, password: TemporaryPassword) -> Result<bool, StoreError>;

    /// Removes a completed request; a newer request for the login is kept.
    async fn forget(&self, request: &PasswordRequest) -> Result<(), StoreError>;
}

/// Sends temporary passwords to employees.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasswordSender: Send + Sync {
    /// Sends a temporary password by e-mail.
    async fn email_password(&self, to: &Email, login: &Login, password: &SecretString) -> Result<(), SendError>;
}

/// Storage of customers' phones and of the codes that prove them, at most one code per customer.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PhoneRepository: Send + Sync {
    /// Returns the owner of a phone, from the view of a customer who wants it.
    async fn phone_ownership(
        &self,
        project: ProjectId,
        customer: CounterpartyId,
        phone: &Phone,
    ) -> Result<PhoneOwnership, StoreError>;

    /// Stores a code and replaces an earlier one of the customer. Returns `false` if the customer was deleted.
    async fn store_code(&self, code: NewPhoneCode) -> Result<bool, StoreError>;

    /// Uses up the code and changes the customer's phone, both in the record and for login; or counts a wrong attempt.
    /// If several customers prove a phone at the same time, one of them gets it.
    async fn change_phone(&self, attempt: PhoneChangeAttempt) -> Result<PhoneChangeOutcome, StoreError>;
}

/// Storage of employees, without agents. Each change is one commit together with its history entry, and applies the
/// rules of [`EmployeeEditor`] to the locked record. A refused change stores nothing. After
/// [`StoreError::OutcomeUnknown`] a change may be repeated: a stored employee has the login, which is then refused.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait EmployeeRepository: Send + Sync {
    /// Returns an employee of any project.
    async fn find(&self, id: UserId) -> Result<Option<ProjectScoped<Employee>>, StoreError>;

    /// Stores an employee and queues the mail with a temporary password. Refuses a login in use in any project, also
    /// under concurrent calls, references to records of other projects, and a role with permissions that the caller
    /// lacks.
    async fn insert(&self, editor: EmployeeEditor, new: NewEmployee) -> Result<Employee, EmployeeError>;

    /// Changes an employee of the project. Another address removes the temporary password that was sent to the former
    /// one. Refuses the same references and roles as [`EmployeeRepository::insert`], and another role for the last
    /// owner, also under concurrent calls.
    async fn update(
        &self,
        editor: EmployeeEditor,
        id: UserId,
        change: EmployeeUpdate,
    ) -> Result<Employee, EmployeeError>;

    /// Bans an employee of the project and revokes their tokens and temporary password, or lifts the ban. Refuses to
    /// ban the last owner, also under concurrent calls.
    async fn set_banned(&self, editor: EmployeeEditor, id: UserId, banned: bool) -> Result<Employee, EmployeeError>;
}

/// Storage of the sealed bot tokens of applications.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait MiniAppTokens: Send + Sync {
    /// Returns the sealed token of the application's bot.
    async fn token(&self, application: ApplicationId, provider: MiniAppProvider) -> Result<Option<String>, StoreError>;

    /// Stores a sealed token and replaces an earlier one. Returns `false` if the application does not exist.
    async fn put(
        &self,
        application: ApplicationId,
        provider: MiniAppProvider,
        sealed: String,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Removes the token. Returns `false` if there was none.
    async fn remove(&self, application: ApplicationId, provider: MiniAppProvider) -> Result<bool, StoreError>;
}

/// Cryptography of messengers' signatures.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait Hmac: Send + Sync {
    /// Computes the HMAC-SHA256 of a message.
    fn hmac_sha256(&self, key: &[u8], message: &[u8]) -> [u8; 32];
}
