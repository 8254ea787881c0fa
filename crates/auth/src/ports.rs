//! What access control needs from the outside.

use std::net::IpAddr;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{Email, Phone, SecretString, StoreError, TokenId};

use crate::model::{StoredCustomerToken, StoredStaffToken, TokenOwner};

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
