use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{AppScope, CallbackAttemptId, Phone, StoreError};

use crate::model::{
    AttemptChange, AttemptExchange, CallState, CallbackAttempt, CallbackNumber, CheckId, ExchangeOutcome, NewAttempt,
};

/// Reason why an attempt is not started. Nothing is stored then.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// The application has already used this nonce.
    #[error("the nonce is already used")]
    NonceUsed,
    /// Another attempt of the project holds the phone.
    #[error("another attempt reserves the phone until {until}")]
    PhoneHeld {
        /// Latest time at which the phone becomes free.
        until: DateTime<Utc>,
    },
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Purpose of a provider query. Each purpose has its own minimum interval, so that an exchange right after a status
/// request still queries the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryPurpose {
    /// A client reads the status of the attempt.
    Status,
    /// A client requests its token.
    Exchange,
}

/// Storage of attempts to log in by calling a number.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CallbackAttempts: Send + Sync {
    /// Stores an attempt and claims its nonce permanently and its phone for a while. Of concurrent calls with one
    /// nonce, or for one phone of a project, one succeeds. The attempt is not visible until it is opened.
    async fn begin(&self, attempt: NewAttempt) -> Result<CallbackAttemptId, ClaimError>;

    /// Opens an attempt that the provider has accepted.
    async fn open(&self, id: CallbackAttemptId, check: &CheckId, expires_at: DateTime<Utc>) -> Result<(), StoreError>;

    /// Abandons an attempt that the provider has not accepted, and releases the phone.
    async fn abandon(&self, id: CallbackAttemptId) -> Result<(), StoreError>;

    /// Returns the opened attempt of an application with this session token.
    async fn find(&self, app: AppScope, session_fingerprint: &str) -> Result<Option<CallbackAttempt>, StoreError>;

    /// Returns the opened attempt with this call identifier of the provider.
    async fn find_by_check(&self, check: &CheckId) -> Result<Option<CallbackAttempt>, StoreError>;

    /// Returns `true` if the provider may be queried now: it was not queried for the same purpose after `not_since`. Of
    /// concurrent calls one gets `true`.
    async fn may_ask(
        &self,
        id: CallbackAttemptId,
        asking: QueryPurpose,
        at: DateTime<Utc>,
        not_since: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Changes an attempt that is pending and unexpired, and releases its phone; any other attempt stays unchanged.
    /// Returns the attempt after the change.
    async fn change(
        &self,
        id: CallbackAttemptId,
        change: AttemptChange,
        at: DateTime<Utc>,
    ) -> Result<CallbackAttempt, StoreError>;

    /// Exchanges a verified attempt for a token: finds or creates the customer, stores the token and uses up the
    /// attempt, or changes nothing. Also under concurrent calls, one attempt gives one token.
    async fn exchange(&self, exchange: AttemptExchange) -> Result<ExchangeOutcome, StoreError>;
}

/// Error of the provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallCheckError {
    /// The provider cannot be reached, fails, or does not serve this account.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
    /// The provider limits calls, for this phone or in total.
    #[error("the provider limits the rate: {0}")]
    RateLimited(String),
    /// The provider does not serve this phone.
    #[error("the provider does not serve the phone: {0}")]
    BadPhone(String),
}

/// Call that the provider expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedCall {
    /// Provider's identifier of the call.
    pub check: CheckId,
    /// Number to call.
    pub number: CallbackNumber,
}

/// Verifies possession of a phone by a call from it.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CallVerifier: Send + Sync {
    /// Requests a call from the phone. Never retried automatically: every request gives another number.
    async fn expect_call(&self, phone: &Phone) -> Result<ExpectedCall, CallCheckError>;

    /// Returns the state of the call.
    async fn call_state(&self, check: &CheckId) -> Result<CallState, CallCheckError>;
}

/// Notification of the provider about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallNotification {
    /// Provider's identifier of the call.
    pub check: CheckId,
    /// State of the call.
    pub state: CallState,
}

/// Parses the notifications of the provider.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait CallNotificationParser: Send + Sync {
    /// Returns the signature that entries of the provider would have; `None` if no account is configured.
    fn signature(&self, entries: &[String]) -> Option<String>;

    /// Parses an entry; `None` for entries about other subjects.
    fn read(&self, entry: &str) -> Option<CallNotification>;
}
