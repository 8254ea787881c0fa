use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{
    AppScope, CallbackAttemptId, CounterpartyId, ExposeSecret, Line, Phone, Random, SecretCipher, SecretString, TokenId,
};

use super::NewToken;

/// Lifetime of an attempt.
pub const CALLBACK_LIFETIME: TimeDelta = TimeDelta::minutes(5);
/// Minimum period in which a verified attempt can be exchanged.
pub const CALLBACK_EXCHANGE_TIME: TimeDelta = TimeDelta::minutes(2);
/// Period after the start of an attempt in which the phone accepts no other attempt.
pub const CALLBACK_COOLDOWN: TimeDelta = TimeDelta::minutes(1);
/// Length of a session token, in letters and digits.
const SESSION_TOKEN: usize = 64;

/// Nonce that the client generates for one attempt: 32 to 128 characters of `A-Za-z0-9_-`. Never shown by `Debug`.
#[derive(Debug, Clone)]
pub struct ClientNonce(SecretString);

/// Error: the text is not a nonce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 32 to 128 characters of A-Z, a-z, 0-9, _ and -")]
pub struct InvalidNonce;

impl ClientNonce {
    /// Checks the text; nothing is trimmed.
    pub fn parse(text: &str) -> Result<Self, InvalidNonce> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if (32..=128).contains(&text.len()) && text.bytes().all(known) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidNonce)
        }
    }

    /// Returns the stored form, bound to the application.
    pub(crate) fn fingerprint(&self, cipher: &dyn SecretCipher, app: AppScope) -> String {
        fingerprint(cipher, "callback-nonce", app, &self.0)
    }
}

/// Session token that the service generates for one attempt: opaque, at most 128 characters. Never shown by `Debug`.
#[derive(Debug, Clone)]
pub struct SessionToken(SecretString);

/// Error: the text cannot be a session token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 128 characters")]
pub struct InvalidSessionToken;

impl SessionToken {
    /// Checks the length only; the content is opaque.
    pub fn parse(text: &str) -> Result<Self, InvalidSessionToken> {
        if (1..=128).contains(&text.chars().count()) { Ok(Self(text.into())) } else { Err(InvalidSessionToken) }
    }

    /// Generates 64 random letters and digits.
    pub(crate) fn generate(random: &dyn Random) -> Self {
        Self(random.alphanumeric(SESSION_TOKEN).into())
    }

    /// Returns the value for the client.
    pub fn as_secret(&self) -> &SecretString {
        &self.0
    }

    /// Returns the stored form, bound to the application.
    pub(crate) fn fingerprint(&self, cipher: &dyn SecretCipher, app: AppScope) -> String {
        fingerprint(cipher, "callback-session", app, &self.0)
    }
}

fn fingerprint(cipher: &dyn SecretCipher, what: &str, app: AppScope, secret: &SecretString) -> String {
    cipher.keyed_fingerprint(&format!("{what}:{}:{}", app.project_id, app.application_id), secret.expose_secret())
}

/// The two secrets that together identify an attempt.
#[derive(Debug, Clone)]
pub struct CallbackCredentials {
    /// Session token from the response of `init`.
    pub session_token: SessionToken,
    /// Nonce that was sent to `init`.
    pub client_nonce: ClientNonce,
}

/// Provider's identifier of an expected call.
pub type CheckId = Line<100>;

/// Number to call: 3 to 20 digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackNumber(String);

/// Error: the text is not a number to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 3 to 20 digits")]
pub struct InvalidNumber;

impl CallbackNumber {
    /// Checks the text.
    pub fn parse(text: &str) -> Result<Self, InvalidNumber> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        if digits && (3..=20).contains(&text.len()) { Ok(Self(text.to_owned())) } else { Err(InvalidNumber) }
    }
}

impl fmt::Display for CallbackNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// State of an expected call at the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallState {
    /// The call has not arrived.
    Waiting,
    /// The call arrived from the phone.
    Confirmed,
    /// The provider has stopped waiting.
    Ended,
}

/// State of an attempt (`status` in the contract).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptState {
    /// The call is expected.
    Pending,
    /// The call arrived; the attempt can be exchanged.
    Verified,
    /// The attempt has ended: it expired, the provider stopped waiting, or it was exchanged.
    Expired,
}

/// Attempt whose number has been returned to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackAttempt {
    /// Identifier.
    pub id: CallbackAttemptId,
    /// Fingerprint of the nonce.
    pub nonce_fingerprint: String,
    /// Provider's identifier of the expected call.
    pub check: CheckId,
    /// State.
    pub state: AttemptState,
    /// Time at which the attempt expires.
    pub expires_at: DateTime<Utc>,
}

/// Change of a pending attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptChange {
    /// The attempt is verified and can be exchanged.
    Verified {
        /// New expiry time, never earlier than the old one.
        expires_at: DateTime<Utc>,
    },
    /// The attempt ends now.
    Expired,
}

impl CallbackAttempt {
    /// Returns the attempt in its state at this time: an attempt past its expiry time is expired.
    #[must_use]
    pub fn at(self, now: DateTime<Utc>) -> Self {
        if self.expires_at <= now { Self { state: AttemptState::Expired, ..self } } else { self }
    }

    /// Returns the change that follows from the provider's call state. Only a pending, unexpired attempt can change, so
    /// a repeated, late or out-of-order notification has no effect.
    pub fn apply_call_state(&self, call: CallState, now: DateTime<Utc>) -> Option<AttemptChange> {
        let pending = self.state == AttemptState::Pending && self.expires_at > now;
        match call {
            CallState::Confirmed if pending => {
                Some(AttemptChange::Verified { expires_at: self.expires_at.max(now + CALLBACK_EXCHANGE_TIME) })
            }
            CallState::Ended if pending => Some(AttemptChange::Expired),
            CallState::Waiting | CallState::Confirmed | CallState::Ended => None,
        }
    }
}

/// Attempt to store before the provider is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAttempt {
    /// Calling application, to which the attempt belongs.
    pub app: AppScope,
    /// Phone that must call.
    pub phone: Phone,
    /// Fingerprint of the nonce.
    pub nonce_fingerprint: String,
    /// Fingerprint of the session token.
    pub session_fingerprint: String,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Expiry time assumed before the provider has answered.
    pub expires_at: DateTime<Utc>,
    /// Time until which the phone accepts no other attempt, unless this one ends earlier.
    pub phone_held_until: DateTime<Utc>,
}

/// Exchange of a verified attempt for a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptExchange {
    /// Attempt.
    pub attempt: CallbackAttemptId,
    /// Calling application.
    pub app: AppScope,
    /// Token to store; its creation time is the time of the exchange.
    pub token: NewToken,
}

/// Outcome of the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeOutcome {
    /// The attempt is used up and the token is stored.
    SignedIn {
        /// Customer of the phone, existing or new.
        counterparty_id: CounterpartyId,
        /// Identifier of the stored token.
        token_id: TokenId,
    },
    /// The attempt is no longer verified: it expired or was exchanged in the meantime.
    NotVerified,
    /// Several customers of the project have the phone; nothing was changed.
    SeveralCustomers,
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::testing::CountingRandom;

    #[test]
    fn a_nonce_has_32_to_128_characters_of_its_alphabet() {
        for good in ["a".repeat(32), "Z_-9".repeat(32)] {
            assert!(ClientNonce::parse(&good).is_ok(), "{good}");
        }
        for bad in ["a".repeat(31), "a".repeat(129), "a".repeat(31) + "+", "a".repeat(31) + " ", "ё".repeat(32)] {
            assert_eq!(ClientNonce::parse(&bad).unwrap_err(), InvalidNonce, "{bad}");
        }
    }

    #[test]
    fn a_session_token_has_up_to_128_characters_and_is_not_shown() {
        assert!(SessionToken::parse(&"ё".repeat(128)).is_ok());
        for bad in [String::new(), "a".repeat(129)] {
            assert_eq!(SessionToken::parse(&bad).unwrap_err(), InvalidSessionToken);
        }
        let token = SessionToken::generate(&CountingRandom::new());
        assert_eq!(token.as_secret().expose_secret().len(), 64);
        assert!(!format!("{token:?}").contains(token.as_secret().expose_secret()));
        let nonce = ClientNonce::parse(&"n".repeat(40)).unwrap();
        assert!(!format!("{nonce:?}").contains("nnn"));
    }

    #[test]
    fn a_number_is_digits() {
        assert_eq!(CallbackNumber::parse("78005008275").unwrap().to_string(), "78005008275");
        for bad in ["", "12", "+78005008275", "123456789012345678901"] {
            assert!(CallbackNumber::parse(bad).is_err(), "{bad}");
        }
    }

    fn attempt(state: AttemptState) -> CallbackAttempt {
        CallbackAttempt {
            id: CallbackAttemptId::new(1).unwrap(),
            nonce_fingerprint: "n".to_owned(),
            check: CheckId::parse("1-2").unwrap(),
            state,
            expires_at: DateTime::UNIX_EPOCH + CALLBACK_LIFETIME,
        }
    }

    #[test]
    fn a_confirmed_attempt_gets_time_for_its_exchange() {
        let pending = attempt(AttemptState::Pending);
        let at = |seconds| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let confirmed = |seconds| pending.apply_call_state(CallState::Confirmed, at(seconds));
        assert_eq!(confirmed(10), Some(AttemptChange::Verified { expires_at: at(300) }));
        assert_eq!(confirmed(299), Some(AttemptChange::Verified { expires_at: at(419) }));
        assert_eq!(confirmed(300), None);
        assert_eq!(pending.apply_call_state(CallState::Waiting, at(1)), None);
        assert_eq!(pending.apply_call_state(CallState::Ended, at(1)), Some(AttemptChange::Expired));
        assert_eq!(pending.apply_call_state(CallState::Ended, at(300)), None);
    }

    #[test]
    fn decided_attempts_stay_and_all_attempts_expire() {
        for state in [AttemptState::Verified, AttemptState::Expired] {
            for call in [CallState::Waiting, CallState::Confirmed, CallState::Ended] {
                assert_eq!(attempt(state).apply_call_state(call, DateTime::UNIX_EPOCH), None);
            }
        }
        for state in [AttemptState::Pending, AttemptState::Verified, AttemptState::Expired] {
            let (last, end) = (TimeDelta::seconds(299), CALLBACK_LIFETIME);
            assert_eq!(attempt(state).at(DateTime::UNIX_EPOCH + last).state, state);
            assert_eq!(attempt(state).at(DateTime::UNIX_EPOCH + end).state, AttemptState::Expired);
        }
    }
}
