use std::sync::Arc;

use kontor_kernel::{AppScope, Clock, Contact, CustomerScope, Random, SecretCipher};

use super::{BotToken, MiniAppProvider, SignedContact, Verifier};
use crate::model::{Device, NewToken, TokenLifetimes, TokenSecret};
use crate::ports::{CustomerAccounts, MiniAppTokens};
use crate::{ContactLoginError, IssuedCustomerToken};

/// Login of customers with a contact signed by a messenger.
pub struct MiniAppLogin {
    /// Bots of applications.
    pub bots: Arc<dyn MiniAppTokens>,
    /// Finds customers by their contacts.
    pub accounts: Arc<dyn CustomerAccounts>,
    /// Verifies signed contacts.
    pub verifier: Verifier,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random secrets.
    pub random: Arc<dyn Random>,
    /// Computes fingerprints of secrets.
    pub cipher: Arc<dyn SecretCipher>,
    /// Validity of issued tokens.
    pub lifetimes: TokenLifetimes,
}

impl MiniAppLogin {
    /// Refuses a messenger that does not sign contacts.
    pub fn require(&self, provider: MiniAppProvider) -> Result<(), ContactLoginError> {
        if provider.signs_contacts() { Ok(()) } else { Err(ContactLoginError::NotSupported) }
    }

    /// Signs in the customer of a proven phone. The customer is found like in a login by code, or created. A fresh
    /// contact is accepted repeatedly, since a response may be lost. Each login issues a token.
    pub async fn log_in(
        &self,
        app: AppScope,
        provider: MiniAppProvider,
        contact: &SignedContact,
        device: Option<Device>,
    ) -> Result<IssuedCustomerToken, ContactLoginError> {
        self.require(provider)?;
        let sealed = self.bots.token(app.application_id, provider).await?;
        let bot = BotToken::open(&sealed.ok_or(ContactLoginError::NotConfigured)?, &*self.cipher)?;
        let now = self.clock.now();
        self.verifier.verify(contact, &bot, now)?;
        let phone = Contact::Phone(contact.phone.normalized()?);

        let secret = TokenSecret::generate(&*self.random);
        let expires_at = now + self.lifetimes.customer;
        let token = NewToken { fingerprint: secret.fingerprint(&*self.cipher), device, created_at: now, expires_at };
        let (counterparty_id, token_id) = self.accounts.sign_in_customer(app, &phone, token).await?;
        Ok(IssuedCustomerToken {
            scope: CustomerScope { app, counterparty_id, token_id },
            token: secret.into_token(token_id, expires_at),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::miniapp::{ContactHash, InitData, ProofError, SignedAt, SignedPhone};
    use crate::ports::{MockCustomerAccounts, MockHmac, MockMiniAppTokens};
    use chrono::{DateTime, TimeDelta};
    use kontor_kernel::testing::{CountingRandom, PlainCipher, app_scope};
    use kontor_kernel::{ContactError, CounterpartyId, FixedClock, TokenId};

    /// Every signature is all zeros.
    fn login(token: Option<&'static str>, accounts: MockCustomerAccounts) -> MiniAppLogin {
        let mut bots = MockMiniAppTokens::new();
        bots.expect_token().returning(move |application, provider| {
            assert_eq!((application.get(), provider), (8, MiniAppProvider::Max));
            Ok(token.map(str::to_owned))
        });
        let mut hmac = MockHmac::new();
        hmac.expect_hmac_sha256().returning(|_, _| [0; 32]);
        let (clock, cipher) = (FixedClock::at(DateTime::from_timestamp(60, 0).unwrap()), Arc::new(PlainCipher));
        MiniAppLogin {
            bots: Arc::new(bots),
            accounts: Arc::new(accounts),
            verifier: Verifier::new(Arc::new(hmac), cipher.clone(), TimeDelta::hours(1)),
            clock: Arc::new(clock),
            random: Arc::new(CountingRandom::new()),
            cipher,
            lifetimes: TokenLifetimes::default(),
        }
    }

    fn contact(phone: &str) -> SignedContact {
        let hash = "0".repeat(64);
        SignedContact {
            phone: SignedPhone::parse(phone).unwrap(),
            signed_at: SignedAt::parse("30").unwrap(),
            init_data: InitData::parse(&format!("auth_date=1&user={{\"id\":5}}&hash={hash}")).unwrap(),
            hash: ContactHash::parse(&hash).unwrap(),
        }
    }

    #[tokio::test]
    async fn a_proven_phone_signs_in() {
        let mut accounts = MockCustomerAccounts::new();
        accounts
            .expect_sign_in_customer()
            .withf(|scope, contact, token| {
                (*scope, contact.as_str()) == (app_scope(2, 8), "79001234567") && token.created_at.timestamp() == 60
            })
            .once()
            .returning(|_, _, _| Ok((CounterpartyId::new(4).unwrap(), TokenId::new(6).unwrap())));
        let login = login(Some("sealed:1:x"), accounts);
        let device = Some(Device::parse("Phone").unwrap());
        let signed =
            login.log_in(app_scope(2, 8), MiniAppProvider::Max, &contact("+7 900 123-45-67"), device).await.unwrap();
        assert_eq!((signed.scope.counterparty_id.get(), signed.scope.token_id.get()), (4, 6));
    }

    #[tokio::test]
    async fn refusals_are_distinguished() {
        let refused = async |token, provider, contact: SignedContact| {
            let login = login(token, MockCustomerAccounts::new());
            login.log_in(app_scope(2, 8), provider, &contact, None).await.unwrap_err()
        };
        let (max, good) = (MiniAppProvider::Max, contact("79001234567"));
        let unsupported = refused(None, MiniAppProvider::Telegram, good.clone()).await;
        assert!(matches!(unsupported, ContactLoginError::NotSupported));
        assert!(matches!(refused(None, max, good.clone()).await, ContactLoginError::NotConfigured));
        assert!(matches!(refused(Some("torn"), max, good.clone()).await, ContactLoginError::UnsealError(_)));
        let forged = SignedContact { hash: ContactHash::parse(&"1".repeat(64)).unwrap(), ..good };
        let doubt = refused(Some("sealed:1:x"), max, forged).await;
        assert!(matches!(doubt, ContactLoginError::NotProven(ProofError::ContactSignature)));
        let abroad = refused(Some("sealed:1:x"), max, contact("+49 40 123456")).await;
        assert!(matches!(abroad, ContactLoginError::UnusablePhone(ContactError::Phone)));
    }
}
