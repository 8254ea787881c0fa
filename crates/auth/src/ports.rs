//! What access control needs from the outside.

use std::net::IpAddr;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{Contact, CounterpartyId, Email, Phone, ProjectId, SecretString, StoreError, TokenId, UserId};

use crate::StaffRegistryError;
use crate::model::{
    CodeRedemption, Employee, Login, NewCode, NewOwner, NewPhoneCode, NewToken, PhoneChangeTry, PhoneChanged,
    PhoneStanding, Redeemed, StaffCredentials, StoredCustomerToken, StoredStaffToken, TokenOwner,
};

/// Issued tokens. The two look-ups keep to their guard: a token of the other guard is not found.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TokenRepository: Send + Sync {
    /// The token of an employee with what his role allows, in one statement.
    async fn staff_token(&self, id: TokenId) -> Result<Option<StoredStaffToken>, StoreError>;

    /// The token of a customer who still exists.
    async fn customer_token(&self, id: TokenId) -> Result<Option<StoredCustomerToken>, StoreError>;

    /// Notes that an employee used his token, unless another request noted so since `unless_after`. Time since the
    /// last use counts as active when it began at `active_since` or later.
    async fn record_use(
        &self,
        token: TokenId,
        at: DateTime<Utc>,
        unless_after: DateTime<Utc>,
        active_since: DateTime<Utc>,
    ) -> Result<(), StoreError>;

    /// Ends one token of its owner; ending it twice is no error.
    async fn revoke(&self, owner: TokenOwner, token: TokenId) -> Result<(), StoreError>;

    /// Ends every token of the owner.
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
    async fn note_code(&self, code: NewPhoneCode) -> Result<bool, StoreError>;

    /// Uses up the code and moves the customer to the phone: his record, and what signs him in. Or counts a wrong try.
    /// However many customers prove a phone at the same time, one gets it.
    async fn change_phone(&self, attempt: PhoneChangeTry) -> Result<PhoneChanged, StoreError>;
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
    /// Rings the phone. The code is the last digits of the calling number, chosen by the provider and returned here.
    /// `ip` is the address of the customer, which the provider uses against abuse.
    async fn call_with_code(&self, phone: &Phone, ip: Option<IpAddr>) -> Result<String, SendError>;

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
