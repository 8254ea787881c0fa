use std::sync::Arc;

use kontor_kernel::{ApplicationId, Clock, SecretCipher};

use super::{BotToken, MiniAppProvider};
use crate::MiniAppRegistryError;
use crate::ports::MiniAppTokens;

/// Configuration of the bots behind the mini-apps of an application, for operators.
pub struct MiniAppRegistry {
    /// Bots of applications.
    pub bots: Arc<dyn MiniAppTokens>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Seals the tokens of bots.
    pub cipher: Arc<dyn SecretCipher>,
}

impl MiniAppRegistry {
    /// Sets the bot token whose signed contacts can sign in to the application. Replaces an earlier token.
    pub async fn set(
        &self,
        application: ApplicationId,
        provider: MiniAppProvider,
        token: &BotToken,
    ) -> Result<(), MiniAppRegistryError> {
        if !provider.signs_contacts() {
            return Err(MiniAppRegistryError::NotSupported);
        }
        let stored = self.bots.put(application, provider, token.seal(&*self.cipher), self.clock.now()).await?;
        if stored { Ok(()) } else { Err(MiniAppRegistryError::UnknownApplication) }
    }

    /// Removes the bot token. Tokens of signed-in customers stay valid.
    pub async fn remove(
        &self,
        application: ApplicationId,
        provider: MiniAppProvider,
    ) -> Result<(), MiniAppRegistryError> {
        if self.bots.remove(application, provider).await? { Ok(()) } else { Err(MiniAppRegistryError::NotSet) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockMiniAppTokens;
    use chrono::DateTime;
    use kontor_kernel::FixedClock;
    use kontor_kernel::testing::PlainCipher;

    fn registry(bots: MockMiniAppTokens) -> MiniAppRegistry {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        MiniAppRegistry { bots: Arc::new(bots), clock, cipher: Arc::new(PlainCipher) }
    }

    #[tokio::test]
    async fn a_token_is_stored_sealed() {
        let (application, token) = (ApplicationId::new(8).unwrap(), BotToken::parse("1:x").unwrap());
        let mut bots = MockMiniAppTokens::new();
        bots.expect_put().withf(|_, _, sealed, _| sealed == "sealed:1:x").once().returning(|_, _, _, _| Ok(true));
        bots.expect_remove().once().returning(|_, _| Ok(false));
        let registry = registry(bots);
        registry.set(application, MiniAppProvider::Max, &token).await.unwrap();
        let refused = registry.set(application, MiniAppProvider::Telegram, &token).await;
        assert!(matches!(refused, Err(MiniAppRegistryError::NotSupported)));
        let absent = registry.remove(application, MiniAppProvider::Max).await;
        assert!(matches!(absent, Err(MiniAppRegistryError::NotSet)));
    }

    #[tokio::test]
    async fn an_application_must_exist() {
        let mut bots = MockMiniAppTokens::new();
        bots.expect_put().returning(|_, _, _, _| Ok(false));
        let (application, token) = (ApplicationId::new(8).unwrap(), BotToken::parse("1:x").unwrap());
        let refused = registry(bots).set(application, MiniAppProvider::Max, &token).await;
        assert!(matches!(refused, Err(MiniAppRegistryError::UnknownApplication)));
    }
}
