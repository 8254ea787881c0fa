use std::net::IpAddr;
use std::sync::Arc;

use kontor_kernel::{AppScope, Clock, Contact, CustomerScope, Random, SecretCipher, StoreError};

use crate::model::code::{self, OWN_DIGITS};
use crate::model::{
    AccessToken, CODE_ATTEMPTS, CODE_LIFETIME, CodeRedemption, Device, NewCode, NewToken, RedeemOutcome,
    TokenLifetimes, TokenOwner, TokenSecret,
};
use crate::ports::{CodeRepository, CodeSender, CustomerAccounts, TokenRepository};
use crate::{CustomerLoginError, LogoutExtent, SendCodeError};

/// Result of a customer login.
#[derive(Debug)]
pub struct IssuedCustomerToken {
    /// Customer, in the application they signed in to.
    pub scope: CustomerScope,
    /// Access token.
    pub token: AccessToken,
}

/// Login and logout of customers by one-time code.
pub struct CustomerSessions {
    /// Finds customers by their contacts.
    pub accounts: Arc<dyn CustomerAccounts>,
    /// Storage of codes.
    pub codes: Arc<dyn CodeRepository>,
    /// Storage of tokens.
    pub tokens: Arc<dyn TokenRepository>,
    /// Sends codes to customers.
    pub sender: Arc<dyn CodeSender>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random secrets.
    pub random: Arc<dyn Random>,
    /// Computes fingerprints of secrets.
    pub cipher: Arc<dyn SecretCipher>,
    /// Validity of issued tokens.
    pub lifetimes: TokenLifetimes,
}

impl CustomerSessions {
    /// Finds or creates the customer of a contact and sends them a code by phone or e-mail. If the provider does not
    /// accept the code, it is not stored and an earlier code stays valid.
    pub async fn send_code(&self, app: AppScope, contact: &Contact, ip: Option<IpAddr>) -> Result<(), SendCodeError> {
        self.accounts.find_or_create(app.project_id, contact, self.clock.now()).await?;
        let own = self.random.digits(OWN_DIGITS);
        let sent = match contact {
            Contact::Phone(phone) => self.sender.code_to_phone(phone, &own, ip).await?,
            Contact::Email(email) => {
                self.sender.email_code(email, &own).await?;
                own
            }
        };
        let sent = code::checked(sent)?;
        let now = self.clock.now();
        let code = NewCode {
            fingerprint: code::fingerprint(&*self.cipher, app.project_id, contact, &sent),
            attempts: CODE_ATTEMPTS,
            created_at: now,
            expires_at: now + CODE_LIFETIME,
        };
        Ok(self.codes.replace(app.project_id, contact, code).await?)
    }

    /// Exchanges a code for a token of the calling application.
    pub async fn log_in(
        &self,
        app: AppScope,
        contact: &Contact,
        code: &str,
        device: Option<Device>,
    ) -> Result<IssuedCustomerToken, CustomerLoginError> {
        let (secret, now) = (TokenSecret::generate(&*self.random), self.clock.now());
        let expires_at = now + self.lifetimes.customer;
        let token = NewToken { fingerprint: secret.fingerprint(&*self.cipher), device, created_at: now, expires_at };
        let redemption = CodeRedemption {
            project_id: app.project_id,
            application_id: app.application_id,
            contact: contact.clone(),
            fingerprint: code::fingerprint(&*self.cipher, app.project_id, contact, code.trim()),
            token,
        };
        match self.codes.redeem(redemption).await? {
            RedeemOutcome::SignedIn { counterparty_id, token_id } => Ok(IssuedCustomerToken {
                scope: CustomerScope { app, counterparty_id, token_id },
                token: secret.into_token(token_id, expires_at),
            }),
            RedeemOutcome::WrongCode => Err(CustomerLoginError::WrongCode),
            RedeemOutcome::NoValidCode => Err(CustomerLoginError::CodeNotRequested),
            RedeemOutcome::UnknownContact => Err(CustomerLoginError::UnknownContact),
        }
    }

    /// Revokes the token of the call, or all tokens of the customer in every application of the project.
    pub async fn log_out(&self, customer: CustomerScope, extent: LogoutExtent) -> Result<(), StoreError> {
        let owner = TokenOwner::Customer(customer.counterparty_id);
        match extent {
            LogoutExtent::ThisDevice => self.tokens.revoke(owner, customer.token_id).await,
            LogoutExtent::AllDevices => self.tokens.revoke_all(owner).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::{MockCodeRepository, MockCodeSender, MockCustomerAccounts, MockTokenRepository, SendError};
    use chrono::{DateTime, TimeDelta};
    use kontor_kernel::testing::{CountingRandom, PlainCipher, app_scope};
    use kontor_kernel::{CounterpartyId, ExposeSecret, FixedClock, TokenId};

    fn sessions(codes: MockCodeRepository, sender: MockCodeSender) -> CustomerSessions {
        let mut accounts = MockCustomerAccounts::new();
        accounts.expect_find_or_create().returning(|_, _, _| Ok(CounterpartyId::new(4).unwrap()));
        CustomerSessions {
            accounts: Arc::new(accounts),
            codes: Arc::new(codes),
            tokens: Arc::new(MockTokenRepository::new()),
            sender: Arc::new(sender),
            clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
            random: Arc::new(CountingRandom::new()),
            cipher: Arc::new(PlainCipher),
            lifetimes: TokenLifetimes::default(),
        }
    }

    fn phone() -> Contact {
        Contact::parse("79001234567").unwrap()
    }

    #[tokio::test]
    async fn the_code_of_a_call_is_the_providers() {
        let mut sender = MockCodeSender::new();
        sender.expect_code_to_phone().returning(|_, _, _| Ok("0042".to_owned()));
        let mut codes = MockCodeRepository::new();
        codes
            .expect_replace()
            .withf(|_, _, code| {
                code.fingerprint == "plain:one-time-code:2:79001234567:0042"
                    && code.expires_at == DateTime::UNIX_EPOCH + TimeDelta::minutes(5)
                    && code.attempts == 5
            })
            .once()
            .returning(|_, _, _| Ok(()));
        sessions(codes, sender).send_code(app_scope(2, 8), &phone(), None).await.unwrap();
    }

    #[tokio::test]
    async fn the_code_of_a_message_is_ours() {
        let mut sender = MockCodeSender::new();
        sender.expect_code_to_phone().returning(|_, proposed, _| Ok(proposed.to_owned()));
        let mut codes = MockCodeRepository::new();
        codes
            .expect_replace()
            .withf(|_, _, code| code.fingerprint.ends_with("79001234567:012345"))
            .once()
            .returning(|_, _, _| Ok(()));
        sessions(codes, sender).send_code(app_scope(2, 8), &phone(), None).await.unwrap();
    }

    #[tokio::test]
    async fn the_code_of_a_mail_is_the_stored_one() {
        let mut sender = MockCodeSender::new();
        sender.expect_email_code().withf(|_, code| code == "012345").returning(|_, _| Ok(()));
        let mut codes = MockCodeRepository::new();
        codes
            .expect_replace()
            .withf(|_, _, code| code.fingerprint.ends_with("anna@x.ru:012345"))
            .once()
            .returning(|_, _, _| Ok(()));
        sessions(codes, sender).send_code(app_scope(2, 8), &Contact::parse("Anna@x.ru").unwrap(), None).await.unwrap();
    }

    #[tokio::test]
    async fn an_unsent_code_is_not_stored() {
        for answer in [Err(SendError::Refused("no money".to_owned())), Ok(String::new()), Ok("call me".to_owned())] {
            let mut sender = MockCodeSender::new();
            sender.expect_code_to_phone().returning(move |_, _, _| answer.clone());
            let refused = sessions(MockCodeRepository::new(), sender).send_code(app_scope(2, 8), &phone(), None).await;
            assert!(matches!(refused, Err(SendCodeError::CodeNotSent(_))));
        }
    }

    #[tokio::test]
    async fn a_right_code_gives_a_token_for_a_year() {
        let mut codes = MockCodeRepository::new();
        codes.expect_redeem().withf(|tried| tried.fingerprint.ends_with(":0042")).returning(|_| {
            Ok(RedeemOutcome::SignedIn {
                counterparty_id: CounterpartyId::new(4).unwrap(),
                token_id: TokenId::new(6).unwrap(),
            })
        });
        let sessions = sessions(codes, MockCodeSender::new());
        let signed = sessions.log_in(app_scope(2, 8), &phone(), " 0042 ", None).await.unwrap();
        assert_eq!(
            (signed.scope.counterparty_id.get(), signed.scope.token_id.get(), signed.scope.app),
            (4, 6, app_scope(2, 8))
        );
        assert_eq!(signed.token.expires_at, DateTime::UNIX_EPOCH + TimeDelta::days(365));
        assert!(signed.token.value.expose_secret().starts_with("6|"));
    }

    #[tokio::test]
    async fn refusals_are_distinguished() {
        let refused = async |answer: RedeemOutcome| {
            let mut codes = MockCodeRepository::new();
            codes.expect_redeem().returning(move |_| Ok(answer));
            sessions(codes, MockCodeSender::new()).log_in(app_scope(2, 8), &phone(), "1", None).await.unwrap_err()
        };
        assert!(matches!(refused(RedeemOutcome::WrongCode).await, CustomerLoginError::WrongCode));
        assert!(matches!(refused(RedeemOutcome::NoValidCode).await, CustomerLoginError::CodeNotRequested));
        assert!(matches!(refused(RedeemOutcome::UnknownContact).await, CustomerLoginError::UnknownContact));
    }
}
