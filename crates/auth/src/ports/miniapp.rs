//! Ports of the login with a contact from a mini-app.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, StoreError};

use crate::miniapp::MiniAppProvider;

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
