//! What access control needs from the outside.

mod agents;
mod callback;
mod miniapp;

#[cfg(feature = "mocks")]
pub use agents::{MockAccessRequestRepository, MockAgentRepository};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, ApplicationId, Contact, CounterpartyId, CustomerScope, DepartmentId, Email, OfProject, Page, PageRequest,
    PermissionId, Phone, ProjectId, RoleId, ScreenId, SecretString, Stamp, StoreError, TokenId, UserId,
};
use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use uuid::Uuid;

use crate::model::{
    Audience, ClientSession, CodeRedemption, Colleague, Employee, EmployeeChange, EmployeeFilter, FoundPermission,
    GrantedPermission, Login, NewCode, NewEmployee, NewIntrospectionClient, NewOwner, NewPhoneCode, NewToken,
    PasswordRecipient, PasswordRequest, PermissionChange, PermissionDraft, PhoneChangeTry, PhoneChanged, PhoneStanding,
    Redeemed, Reference, RoleChange, RoleChoice, RoleDraft, StaffCredentials, StaffRole, StoredCustomerToken,
    StoredInquiry, StoredStaffToken, TemporaryPassword, TokenOwner, TokenUse,
};
use crate::{IntrospectionRegistryError, PermissionError, RoleError, StaffRegistryError};
pub use agents::{AccessRequestRepository, AgentRepository};
pub use callback::*;
pub use kontor_kernel::SendError;
pub use miniapp::*;

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

/// Addresses from which employees have signed in, as keyed hashes.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SignInAddresses: Send + Sync {
    /// `true` if the hash is stored.
    async fn contains(&self, fingerprint: &str) -> Result<bool, StoreError>;

    /// Stores the hash with this moment, or moves it to this moment.
    async fn remember(&self, fingerprint: &str, at: DateTime<Utc>) -> Result<(), StoreError>;
}

/// Employees.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StaffRepository: Send + Sync {
    /// What a login is checked against, with a temporary password that is valid at this moment.
    async fn credentials(&self, login: &Login, at: DateTime<Utc>) -> Result<Option<StaffCredentials>, StoreError>;

    /// Stores the token of an employee who has proved a password, and records their activity. A temporary password becomes
    /// their own by that, and every other token ends in the same commit. `None`, and nothing is stored, when they were
    /// banned meanwhile or the password that was compared is no longer the stored one.
    async fn sign_in(&self, sign_in: SignIn) -> Result<Option<TokenId>, StoreError>;

    /// The employee's record with his permissions.
    async fn employee(&self, user: UserId) -> Result<Option<Employee>, StoreError>;

    /// Stores an employee with the project's owner role, which is made when the project has none. Refuses a login in
    /// use and a branch of another project.
    async fn insert_owner(&self, owner: NewOwner) -> Result<UserId, StaffRegistryError>;

    /// Stores an employee. Refuses an unknown project, a login in use, and a role, branch or department of another
    /// project.
    async fn insert_employee(&self, employee: NewEmployee) -> Result<UserId, StaffRegistryError>;

    /// Shuts an employee out and ends his tokens and his temporary password, in one step. Refuses the last owner.
    async fn ban(&self, user: UserId, at: DateTime<Utc>) -> Result<(), StaffRegistryError>;

    /// Lets an employee in again; he has to sign in.
    async fn unban(&self, user: UserId, at: DateTime<Utc>) -> Result<(), StaffRegistryError>;

    /// Gives an employee another role of his project. Refuses to take ownership from the last owner, however many
    /// calls race.
    async fn assign_role(&self, user: UserId, role: RoleChoice, at: DateTime<Utc>) -> Result<(), StaffRegistryError>;

    /// Puts an employee into a department of his project, or into none.
    async fn assign_department(
        &self,
        user: UserId,
        department: Option<DepartmentId>,
        at: DateTime<Utc>,
    ) -> Result<(), StaffRegistryError>;

    /// Changes the employee with this login, and says who that is. Refuses a picture that is no avatar of his project.
    async fn update_employee(
        &self,
        login: &Login,
        change: EmployeeChange,
        at: DateTime<Utc>,
    ) -> Result<UserId, StaffRegistryError>;
}

/// The customers of a project, as far as logging in needs them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CustomerAccounts: Send + Sync {
    /// The customer a contact logs in: the one it logged in before, else the oldest one staff entered it for, else a new
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

    /// What [`IntrospectionClients::inquiry`] found before, as far as it is remembered: an active client and one of its
    /// application's tokens. Never older than what this process has committed, and at most a second older than what
    /// another one has; nothing is no answer.
    fn remembered_inquiry(&self, client_id: Uuid, token: Option<TokenId>) -> Option<StoredInquiry>;

    /// Adds a client of an application. Refuses an unknown application and a second client for one audience.
    async fn insert(&self, client: NewIntrospectionClient) -> Result<(), IntrospectionRegistryError>;

    /// Puts another secret in the place of the one of the application's client for an audience and makes it active.
    /// Gives the client; `None` when there is none.
    async fn rotate(
        &self,
        application_id: ApplicationId,
        audience: Audience,
        fingerprint: String,
        at: DateTime<Utc>,
    ) -> Result<Option<Uuid>, StoreError>;

    /// Shuts the application's client for an audience out. Gives the client; `None` when there is none.
    async fn disable(&self, application_id: ApplicationId, audience: Audience) -> Result<Option<Uuid>, StoreError>;
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

/// The stored form of the password an employee has proved to know. It is compared once more where the token is stored.
#[derive(Clone, PartialEq, Eq)]
pub enum ProvedPassword {
    /// Their own.
    Own(String),
    /// A temporary one, which becomes their own.
    Temporary(String),
}

impl fmt::Debug for ProvedPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own(_) => "Own",
            Self::Temporary(_) => "Temporary",
        })
    }
}

/// How an employee signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    /// The employee.
    pub user_id: UserId,
    /// What they proved.
    pub proved: ProvedPassword,
    /// The token to store.
    pub token: NewToken,
}

/// Lists of employees. Agents are never among them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DirectoryRepository: Send + Sync {
    /// A page of the project's employees with their permissions, oldest first. The number of statements does not grow
    /// with the page.
    async fn employees(
        &self,
        project: ProjectId,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<Employee>, StoreError>;

    /// The same, by name only.
    async fn colleagues(
        &self,
        project: ProjectId,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<Colleague>, StoreError>;
}

/// Roles of staff. The private roles of agents are never among them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait RoleRepository: Send + Sync {
    /// Every role of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<StaffRole>, StoreError>;

    /// A role of whatever project.
    async fn find(&self, id: RoleId) -> Result<Option<OfProject<StaffRole>>, StoreError>;

    /// Every permission that roles of the project can have.
    async fn permissions(&self, project: ProjectId) -> Result<Vec<GrantedPermission>, StoreError>;

    /// The permissions defined by the project that a call with this token has: those of the holder's role, and none for
    /// a token that is held to a part of its role.
    async fn project_permissions(&self, token: TokenId) -> Result<BTreeSet<PermissionId>, StoreError>;

    /// Stores a role.
    async fn insert(&self, stamp: Stamp, draft: RoleDraft) -> Result<StaffRole, RoleError>;

    /// Changes a role that still has the version it was decided by, else [`RoleRefusal::Stale`](crate::RoleRefusal::Stale).
    async fn update(&self, stamp: Stamp, id: RoleId, version: i64, change: RoleChange) -> Result<StaffRole, RoleError>;

    /// Deletes a role that still has this version, else [`RoleRefusal::Stale`](crate::RoleRefusal::Stale). Refuses one that somebody has.
    async fn delete(&self, project: ProjectId, id: RoleId, version: i64) -> Result<(), RoleError>;
}

/// Permissions and screens.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PermissionRepository: Send + Sync {
    /// The service's permissions and those the project defined, by number.
    async fn list(&self, project: ProjectId) -> Result<Vec<GrantedPermission>, StoreError>;

    /// A permission of the service or of whatever project.
    async fn find(&self, id: PermissionId) -> Result<Option<FoundPermission>, StoreError>;

    /// Stores a permission of the project. Refuses a name in use and an unknown screen.
    async fn insert(&self, project: ProjectId, draft: PermissionDraft) -> Result<GrantedPermission, PermissionError>;

    /// Changes a permission that the project defined.
    async fn update(
        &self,
        project: ProjectId,
        id: PermissionId,
        change: PermissionChange,
    ) -> Result<GrantedPermission, PermissionError>;

    /// Deletes a permission that the project defined. Refuses one that a role has.
    async fn delete(&self, project: ProjectId, id: PermissionId) -> Result<(), PermissionError>;

    /// Every screen, by number.
    async fn screens(&self) -> Result<Vec<Reference<ScreenId>>, StoreError>;

    /// One screen.
    async fn screen(&self, id: ScreenId) -> Result<Option<Reference<ScreenId>>, StoreError>;
}

/// Temporary passwords and who asked for them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasswordRequests: Send + Sync {
    /// Queues a request, in the place of an earlier one for the login. Does the same whether the login is known or not.
    async fn enqueue(&self, login: &Login, at: DateTime<Utc>) -> Result<(), StoreError>;

    /// Leases the oldest request that is due and counts the attempt; of racing callers one gets it. One that cannot be
    /// read is put aside and stops nobody.
    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<PasswordRequest>, StoreError>;

    /// Gives a request back that is to be tried again; one made since stays as it is.
    async fn postpone(&self, request: &PasswordRequest, next: DateTime<Utc>) -> Result<(), StoreError>;

    /// The employee with this login, unless he is banned.
    async fn recipient(&self, login: &Login) -> Result<Option<PasswordRecipient>, StoreError>;

    /// Stores a temporary password in the place of an earlier one. The employee's own password stays valid. Nothing is
    /// stored when they were banned meanwhile.
    async fn store(&self, password: TemporaryPassword) -> Result<(), StoreError>;

    /// Removes a request that has been answered; one made since stays.
    async fn forget(&self, request: &PasswordRequest) -> Result<(), StoreError>;
}

/// Brings temporary passwords to employees.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasswordSender: Send + Sync {
    /// Sends a temporary password by e-mail.
    async fn email_password(&self, to: &Email, login: &Login, password: &SecretString) -> Result<(), SendError>;
}

/// The phones of customers and the codes that prove them, at most one code per customer.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PhoneRepository: Send + Sync {
    /// Whose a phone is, for a customer who wants it.
    async fn standing(
        &self,
        project: ProjectId,
        customer: CounterpartyId,
        phone: &Phone,
    ) -> Result<PhoneStanding, StoreError>;

    /// Stores a code in place of an earlier one of the customer. `false` when he has left.
    async fn store_code(&self, code: NewPhoneCode) -> Result<bool, StoreError>;

    /// Uses up the code and moves the customer to the phone: his record, and what signs him in. Or counts a wrong try.
    /// However many customers prove a phone at the same time, one gets it.
    async fn change_phone(&self, attempt: PhoneChangeTry) -> Result<PhoneChanged, StoreError>;
}
