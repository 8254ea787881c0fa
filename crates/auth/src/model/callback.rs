use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{
    AppScope, CallbackAttemptId, CounterpartyId, ExposeSecret, Line, Phone, Random, SecretCipher, SecretString, TokenId,
};

use super::NewToken;

/// How long an attempt lives.
pub const CALLBACK_LIFETIME: TimeDelta = TimeDelta::minutes(5);
/// How long a confirmed attempt can be exchanged at least.
pub const CALLBACK_EXCHANGE_TIME: TimeDelta = TimeDelta::minutes(2);
/// How long after the start of an attempt its phone takes no other one.
pub const CALLBACK_COOLDOWN: TimeDelta = TimeDelta::minutes(1);
/// How many letters and digits a session token has.
const SESSION_TOKEN: usize = 64;

/// What the client made up for one attempt: 32 to 128 characters of `A-Za-z0-9_-`. Never shown by `Debug`.
#[derive(Debug, Clone)]
pub struct ClientNonce(SecretString);

/// A text that is no nonce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 32 to 128 characters of A-Z, a-z, 0-9, _ and -")]
pub struct InvalidNonce;

impl ClientNonce {
    /// Checks; nothing is trimmed.
    pub fn parse(text: &str) -> Result<Self, InvalidNonce> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if (32..=128).contains(&text.len()) && text.bytes().all(known) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidNonce)
        }
    }

    /// The stored form, bound to the application.
    pub(crate) fn fingerprint(&self, cipher: &dyn SecretCipher, app: AppScope) -> String {
        fingerprint(cipher, "callback-nonce", app, &self.0)
    }
}

/// What the service made up for one attempt: opaque, at most 128 characters. Never shown by `Debug`.
#[derive(Debug, Clone)]
pub struct SessionToken(SecretString);

/// A text that no attempt could have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 128 characters")]
pub struct InvalidSessionToken;

impl SessionToken {
    /// Checks the length alone: what is inside is nobody's business but ours.
    pub fn parse(text: &str) -> Result<Self, InvalidSessionToken> {
        if (1..=128).contains(&text.chars().count()) { Ok(Self(text.into())) } else { Err(InvalidSessionToken) }
    }

    /// 64 random letters and digits.
    pub(crate) fn generate(random: &dyn Random) -> Self {
        Self(random.alphanumeric(SESSION_TOKEN).into())
    }

    /// The token as the client keeps it.
    pub fn as_secret(&self) -> &SecretString {
        &self.0
    }

    /// The stored form, bound to the application.
    pub(crate) fn fingerprint(&self, cipher: &dyn SecretCipher, app: AppScope) -> String {
        fingerprint(cipher, "callback-session", app, &self.0)
    }
}

fn fingerprint(cipher: &dyn SecretCipher, what: &str, app: AppScope, secret: &SecretString) -> String {
    cipher.keyed_fingerprint(&format!("{what}:{}:{}", app.project_id, app.application_id), secret.expose_secret())
}

/// The two secrets that name an attempt together.
#[derive(Debug, Clone)]
pub struct CallbackCredentials {
    /// From the answer to `init`.
    pub session_token: SessionToken,
    /// The one that was sent to `init`.
    pub client_nonce: ClientNonce,
}

/// The provider's name of one expected call.
pub type CheckId = Line<100>;

/// A number to be called: 3 to 20 digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackNumber(String);

/// A text that is no number to be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 3 to 20 digits")]
pub struct InvalidNumber;

impl CallbackNumber {
    /// Checks.
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

/// What the provider knows of an expected call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallState {
    /// The call has not come.
    Waiting,
    /// The call came from the phone.
    Confirmed,
    /// The provider waits no longer.
    Over,
}

/// Where an attempt stands (`status` in the contract).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptState {
    /// The call is expected.
    Pending,
    /// The call came; the attempt waits for its exchange.
    Verified,
    /// The attempt is of no more use: its time is over, the provider gave up, or it was exchanged.
    Expired,
}

/// An attempt whose number has been shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackAttempt {
    /// Its number.
    pub id: CallbackAttemptId,
    /// The stored form of its nonce.
    pub nonce_fingerprint: String,
    /// The provider's name of the expected call.
    pub check: CheckId,
    /// Where it stands.
    pub state: AttemptState,
    /// The end of its life.
    pub expires_at: DateTime<Utc>,
}

/// What becomes of a pending attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptChange {
    /// It is verified and can be exchanged until then.
    Verified {
        /// The new end of its life, never earlier than the old one.
        expires_at: DateTime<Utc>,
    },
    /// It ends now.
    Expired,
}

impl CallbackAttempt {
    /// The attempt as it stands at a moment: time ends what nothing else has ended.
    #[must_use]
    pub fn at(self, now: DateTime<Utc>) -> Self {
        if self.expires_at <= now { Self { state: AttemptState::Expired, ..self } } else { self }
    }

    /// What the provider's word makes of it: only a pending attempt in its lifetime can change, so whatever comes
    /// twice, late or out of order changes nothing.
    pub fn hears(&self, call: CallState, now: DateTime<Utc>) -> Option<AttemptChange> {
        let pending = self.state == AttemptState::Pending && self.expires_at > now;
        match call {
            CallState::Confirmed if pending => {
                Some(AttemptChange::Verified { expires_at: self.expires_at.max(now + CALLBACK_EXCHANGE_TIME) })
            }
            CallState::Over if pending => Some(AttemptChange::Expired),
            CallState::Waiting | CallState::Confirmed | CallState::Over => None,
        }
    }
}

/// An attempt that is about to be set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAttempt {
    /// The calling application, to which it belongs for ever.
    pub app: AppScope,
    /// The phone that has to call.
    pub phone: Phone,
    /// The stored form of the nonce.
    pub nonce_fingerprint: String,
    /// The stored form of the session token.
    pub session_fingerprint: String,
    /// Now.
    pub created_at: DateTime<Utc>,
    /// The end of its life, as far as it is known before the provider has answered.
    pub expires_at: DateTime<Utc>,
    /// Until then the phone takes no other attempt, unless this one ends before.
    pub phone_held_until: DateTime<Utc>,
}

/// A verified attempt that is to become a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptExchange {
    /// The attempt.
    pub attempt: CallbackAttemptId,
    /// The calling application.
    pub app: AppScope,
    /// The token to store; its moment of creation is the moment of the exchange.
    pub token: NewToken,
}

/// What became of the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchanged {
    /// The attempt is used up and the token is stored.
    SignedIn {
        /// The customer of the phone, found or new.
        counterparty_id: CounterpartyId,
        /// The stored token.
        token_id: TokenId,
    },
    /// The attempt is not verified any more: its time is over, or it was exchanged meanwhile.
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
        let confirmed = |seconds| pending.hears(CallState::Confirmed, at(seconds));
        assert_eq!(confirmed(10), Some(AttemptChange::Verified { expires_at: at(300) }));
        assert_eq!(confirmed(299), Some(AttemptChange::Verified { expires_at: at(419) }));
        assert_eq!(confirmed(300), None);
        assert_eq!(pending.hears(CallState::Waiting, at(1)), None);
        assert_eq!(pending.hears(CallState::Over, at(1)), Some(AttemptChange::Expired));
        assert_eq!(pending.hears(CallState::Over, at(300)), None);
    }

    #[test]
    fn what_was_decided_stays_and_time_ends_everything() {
        for state in [AttemptState::Verified, AttemptState::Expired] {
            for call in [CallState::Waiting, CallState::Confirmed, CallState::Over] {
                assert_eq!(attempt(state).hears(call, DateTime::UNIX_EPOCH), None);
            }
        }
        for state in [AttemptState::Pending, AttemptState::Verified, AttemptState::Expired] {
            let (last, end) = (TimeDelta::seconds(299), CALLBACK_LIFETIME);
            assert_eq!(attempt(state).at(DateTime::UNIX_EPOCH + last).state, state);
            assert_eq!(attempt(state).at(DateTime::UNIX_EPOCH + end).state, AttemptState::Expired);
        }
    }
}
