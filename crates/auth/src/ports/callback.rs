use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{AppScope, CallbackAttemptId, Phone, StoreError};

use crate::model::{
    AttemptChange, AttemptExchange, CallState, CallbackAttempt, CallbackNumber, CheckId, Exchanged, NewAttempt,
};

/// Why an attempt is not begun. Nothing is stored then.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// An attempt of the application had this nonce.
    #[error("the nonce was used")]
    NonceUsed,
    /// Another attempt of the project holds the phone.
    #[error("the phone is held until {until}")]
    PhoneHeld {
        /// When the phone is free again at the latest.
        until: DateTime<Utc>,
    },
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// For whom the provider is asked. Each kind keeps its own pause, so that an exchange right after a look still asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// A client looks at the attempt.
    Status,
    /// A client wants its token.
    Exchange,
}

/// Attempts to log in by calling a number.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CallbackAttempts: Send + Sync {
    /// Begins an attempt: takes its nonce for ever and its phone for a while. Of racing calls with one nonce, or for one
    /// phone of a project, one passes. The attempt is seen by nobody until it is opened.
    async fn begin(&self, attempt: NewAttempt) -> Result<CallbackAttemptId, ClaimError>;

    /// Opens an attempt that the provider has taken on.
    async fn open(&self, id: CallbackAttemptId, check: &CheckId, expires_at: DateTime<Utc>) -> Result<(), StoreError>;

    /// Gives up an attempt that the provider has not taken on, and frees the phone.
    async fn abandon(&self, id: CallbackAttemptId) -> Result<(), StoreError>;

    /// The opened attempt of an application with this session token.
    async fn find(&self, app: AppScope, session_fingerprint: &str) -> Result<Option<CallbackAttempt>, StoreError>;

    /// The opened attempt behind the provider's name of a call.
    async fn find_by_check(&self, check: &CheckId) -> Result<Option<CallbackAttempt>, StoreError>;

    /// Whether the provider may be asked now: not when it was asked for the same reason after `not_since`. Of racing
    /// calls one may.
    async fn may_ask(
        &self,
        id: CallbackAttemptId,
        asking: Asking,
        at: DateTime<Utc>,
        not_since: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Changes an attempt that is still pending and in its lifetime; any other stays as it is. The phone is free then.
    /// Gives the attempt as it stands afterwards.
    async fn change(
        &self,
        id: CallbackAttemptId,
        change: AttemptChange,
        at: DateTime<Utc>,
    ) -> Result<CallbackAttempt, StoreError>;

    /// Turns a verified attempt into a token: finds or creates the customer, stores the token and uses up the attempt,
    /// or changes nothing. However many exchanges race, one attempt gives one token.
    async fn exchange(&self, exchange: AttemptExchange) -> Result<Exchanged, StoreError>;
}

/// Why the provider does not help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallCheckError {
    /// It cannot be reached, is in trouble, or does not serve us.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
    /// It wants fewer calls, for this phone or at all.
    #[error("the provider limits: {0}")]
    RateLimited(String),
    /// It does not serve this phone.
    #[error("the provider does not serve the phone: {0}")]
    BadPhone(String),
}

/// A call that the provider expects now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedCall {
    /// The provider's name of it.
    pub check: CheckId,
    /// The number to be called.
    pub number: CallbackNumber,
}

/// Proves that somebody holds a phone: he calls a number from it.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CallVerifier: Send + Sync {
    /// Expects a call from the phone. Never repeated by itself: every time is another number.
    async fn expect_call(&self, phone: &Phone) -> Result<ExpectedCall, CallCheckError>;

    /// Whether the call came.
    async fn call_state(&self, check: &CheckId) -> Result<CallState, CallCheckError>;
}

/// What a message of the provider says about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallNotice {
    /// Which call.
    pub check: CheckId,
    /// What became of it.
    pub state: CallState,
}

/// Reads the messages that the provider sends by itself.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait CallNotices: Send + Sync {
    /// The signature that entries from the provider would have; `None` when nothing could be signed, because there is no
    /// account.
    fn signature(&self, entries: &[String]) -> Option<String>;

    /// What an entry says; `None` for entries about other things.
    fn read(&self, entry: &str) -> Option<CallNotice>;
}
