//! What signing in with a contact from a mini-app needs from the outside.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, StoreError};

use crate::miniapp::MiniAppProvider;

/// The tokens of the bots behind the mini-apps of applications, sealed.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait MiniAppTokens: Send + Sync {
    /// The sealed token of the application's bot.
    async fn token(&self, application: ApplicationId, provider: MiniAppProvider) -> Result<Option<String>, StoreError>;

    /// Stores a sealed token in place of an earlier one; `false` when there is no such application.
    async fn put(
        &self,
        application: ApplicationId,
        provider: MiniAppProvider,
        sealed: String,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Forgets the token; `false` when there was none.
    async fn remove(&self, application: ApplicationId, provider: MiniAppProvider) -> Result<bool, StoreError>;
}

/// The cryptography of messengers' signatures.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait Hmac: Send + Sync {
    /// HMAC-SHA256 of a message.
    fn hmac_sha256(&self, key: &[u8], message: &[u8]) -> [u8; 32];
}
