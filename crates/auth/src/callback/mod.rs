//! Login by a call from the phone that is to be verified.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{AppScope, Clock, CustomerScope, Phone, Random, SecretCipher, StoreError};

use crate::model::{
    AttemptExchange, AttemptState, CALLBACK_COOLDOWN, CALLBACK_LIFETIME, CallState, CallbackAttempt,
    CallbackCredentials, CallbackNumber, ClientNonce, Device, ExchangeOutcome, NewAttempt, NewToken, SessionToken,
    TokenLifetimes, TokenSecret,
};
use crate::ports::{CallCheckError, CallNotificationParser, CallVerifier, CallbackAttempts, ClaimError, QueryPurpose};
use crate::{CallNotificationError, CallbackLoginError, IssuedCustomerToken};

/// Minimum interval between two status requests to the provider for one attempt and one purpose.
const MIN_QUERY_INTERVAL: TimeDelta = TimeDelta::seconds(1);

/// Login attempt that was just started.
#[derive(Debug)]
pub struct StartedAttempt {
    /// Session token, which the client sends together with its nonce from now on.
    pub session_token: SessionToken,
    /// Number to call.
    pub number: CallbackNumber,
    /// Expiry time of the attempt.
    pub expires_at: DateTime<Utc>,
}

/// Status of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackStatus {
    /// State.
    pub state: AttemptState,
    /// Expiry time of the attempt.
    pub expires_at: DateTime<Utc>,
    /// Current time.
    pub now: DateTime<Utc>,
    /// Reason why the provider could not be queried this time. The attempt continues.
    pub failure: Option<CallCheckError>,
}

impl CallbackStatus {
    /// Returns the remaining whole seconds, 0 once the attempt has expired.
    pub fn remaining_seconds(&self) -> i64 {
        match self.state {
            AttemptState::Expired => 0,
            AttemptState::Pending | AttemptState::Verified => (self.expires_at - self.now).num_seconds().max(0),
        }
    }
}

/// Login by calling a number: start, query the status, exchange for a token.
pub struct CallbackLogin {
    /// Storage of attempts.
    pub attempts: Arc<dyn CallbackAttempts>,
    /// Telephony provider.
    pub verifier: Arc<dyn CallVerifier>,
    /// Parser of the provider's notifications.
    pub notices: Arc<dyn CallNotificationParser>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random secrets.
    pub random: Arc<dyn Random>,
    /// Computes fingerprints of secrets.
    pub cipher: Arc<dyn SecretCipher>,
    /// Validity of issued tokens.
    pub lifetimes: TokenLifetimes,
}

impl CallbackLogin {
    /// Starts an attempt. Nonce and phone are claimed before the provider is called, so concurrent calls reach it once.
    /// If the provider refuses, the phone is released and the nonce stays used. No customer is created.
    pub async fn init(
        &self,
        app: AppScope,
        phone: &Phone,
        nonce: &ClientNonce,
    ) -> Result<StartedAttempt, CallbackLoginError> {
        let (session_token, now) = (SessionToken::generate(&*self.random), self.clock.now());
        let attempt = NewAttempt {
            app,
            phone: phone.clone(),
            nonce_fingerprint: nonce.fingerprint(&*self.cipher, app),
            session_fingerprint: session_token.fingerprint(&*self.cipher, app),
            created_at: now,
            expires_at: now + CALLBACK_LIFETIME,
            phone_held_until: now + CALLBACK_COOLDOWN,
        };
        let id = self.attempts.begin(attempt).await.map_err(|refused| match refused {
            ClaimError::NonceUsed => CallbackLoginError::SessionAlreadyStarted,
            ClaimError::PhoneHeld { until } => CallbackLoginError::ChallengeAlreadyActive { until },
            ClaimError::Store(error) => error.into(),
        })?;
        match self.verifier.expect_call(phone).await {
            Ok(call) => {
                let expires_at = self.clock.now() + CALLBACK_LIFETIME;
                self.attempts.open(id, &call.check, expires_at).await?;
                Ok(StartedAttempt { session_token, number: call.number, expires_at })
            }
            Err(reason) => {
                self.attempts.abandon(id).await?;
                Err(CallbackLoginError::NotStarted(reason))
            }
        }
    }

    /// Returns the status of the attempt. A pending attempt is checked with the provider, at a limited rate.
    pub async fn status(
        &self,
        app: AppScope,
        credentials: &CallbackCredentials,
    ) -> Result<CallbackStatus, CallbackLoginError> {
        let attempt = self.known(app, credentials).await?;
        let (attempt, failure) = self.ask(attempt, QueryPurpose::Status).await?;
        let now = self.clock.now();
        let attempt = attempt.at(now);
        Ok(CallbackStatus { state: attempt.state, expires_at: attempt.expires_at, now, failure })
    }

    /// Exchanges a verified attempt for a token of the calling application. A pending attempt is first checked with the
    /// provider, and stays pending if the call has not arrived.
    pub async fn exchange(
        &self,
        app: AppScope,
        credentials: &CallbackCredentials,
        device: Option<Device>,
    ) -> Result<IssuedCustomerToken, CallbackLoginError> {
        let attempt = self.known(app, credentials).await?;
        let (attempt, failure) = self.ask(attempt, QueryPurpose::Exchange).await?;
        let now = self.clock.now();
        let attempt = attempt.at(now);
        match (attempt.state, failure) {
            (AttemptState::Verified, _) => {}
            (AttemptState::Expired, _) => return Err(CallbackLoginError::Expired),
            (AttemptState::Pending, None) => return Err(CallbackLoginError::NotVerified),
            (AttemptState::Pending, Some(why)) => return Err(CallbackLoginError::VerificationUnavailable(why)),
        }
        let (secret, expires_at) = (TokenSecret::generate(&*self.random), now + self.lifetimes.customer);
        let token = NewToken { fingerprint: secret.fingerprint(&*self.cipher), device, created_at: now, expires_at };
        match self.attempts.exchange(AttemptExchange { attempt: attempt.id, app, token }).await? {
            ExchangeOutcome::SignedIn { counterparty_id, token_id } => Ok(IssuedCustomerToken {
                scope: CustomerScope { app, counterparty_id, token_id },
                token: secret.into_token(token_id, expires_at),
            }),
            ExchangeOutcome::NotVerified => Err(CallbackLoginError::Expired),
            ExchangeOutcome::SeveralCustomers => Err(CallbackLoginError::PhoneIdentityConflict),
        }
    }

    /// Processes notifications of the provider. Entries about unknown calls and other subjects are ignored.
    pub async fn notified(&self, entries: &[String], signature: &str) -> Result<(), CallNotificationError> {
        let expected = self.notices.signature(entries);
        if !expected.is_some_and(|expected| self.cipher.same(&expected, &signature.to_ascii_lowercase())) {
            return Err(CallNotificationError::Forged);
        }
        for notice in entries.iter().filter_map(|entry| self.notices.read(entry)) {
            if let Some(attempt) = self.attempts.find_by_check(&notice.check).await? {
                self.store_call_state(attempt, notice.state).await?;
            }
        }
        Ok(())
    }

    /// Returns the attempt in its current state if both secrets match.
    async fn known(
        &self,
        app: AppScope,
        credentials: &CallbackCredentials,
    ) -> Result<CallbackAttempt, CallbackLoginError> {
        let session = credentials.session_token.fingerprint(&*self.cipher, app);
        let nonce = credentials.client_nonce.fingerprint(&*self.cipher, app);
        let found = self.attempts.find(app, &session).await?;
        let own = found.filter(|attempt| self.cipher.same(&attempt.nonce_fingerprint, &nonce));
        own.map(|attempt| attempt.at(self.clock.now())).ok_or(CallbackLoginError::UnknownAttempt)
    }

    async fn ask(
        &self,
        attempt: CallbackAttempt,
        asking: QueryPurpose,
    ) -> Result<(CallbackAttempt, Option<CallCheckError>), StoreError> {
        let now = self.clock.now();
        if attempt.state != AttemptState::Pending
            || !self.attempts.may_ask(attempt.id, asking, now, now - MIN_QUERY_INTERVAL).await?
        {
            return Ok((attempt, None));
        }
        match self.verifier.call_state(&attempt.check).await {
            Ok(call) => Ok((self.store_call_state(attempt, call).await?, None)),
            Err(failure) => Ok((attempt, Some(failure))),
        }
    }

    async fn store_call_state(&self, attempt: CallbackAttempt, call: CallState) -> Result<CallbackAttempt, StoreError> {
        let now = self.clock.now();
        match attempt.apply_call_state(call, now) {
            Some(change) => self.attempts.change(attempt.id, change, now).await,
            None => Ok(attempt),
        }
    }
}
