use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{ApplicationId, Contact, CounterpartyId, ProjectId, SecretCipher, TokenId};

use super::NewToken;
use crate::ports::SendError;

/// How long a one-time code is valid.
pub const CODE_LIFETIME: TimeDelta = TimeDelta::minutes(5);
/// How many wrong tries end a one-time code.
pub const CODE_ATTEMPTS: u16 = 5;
/// How many digits a code has that we choose: those of e-mails and SMS.
pub(crate) const OWN_DIGITS: usize = 6;

/// The stored form of a code, bound to the contact it was sent to.
pub(crate) fn fingerprint(cipher: &dyn SecretCipher, project: ProjectId, contact: &Contact, code: &str) -> String {
    cipher.keyed_fingerprint(&format!("one-time-code:{project}:{contact}"), code)
}

/// A code as the provider reports it, unless it cannot be one.
pub(crate) fn checked(sent: String) -> Result<String, SendError> {
    if (4..=10).contains(&sent.len()) && sent.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(sent)
    } else {
        Err(SendError::Unavailable("the code is not 4 to 10 digits".to_owned()))
    }
}

/// A code that went out and may be redeemed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCode {
    /// Keyed fingerprint of the code.
    pub fingerprint: String,
    /// How many wrong tries end it.
    pub attempts: u16,
    /// Now.
    pub created_at: DateTime<Utc>,
    /// The end of its validity.
    pub expires_at: DateTime<Utc>,
}

/// A try to turn a code into a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRedemption {
    /// The project of the calling application.
    pub project_id: ProjectId,
    /// The calling application, to which the token will belong.
    pub application_id: ApplicationId,
    /// Who claims to have got the code.
    pub contact: Contact,
    /// Keyed fingerprint of the code he gave.
    pub fingerprint: String,
    /// The token to store if the code is right; its moment of creation is the moment of the try.
    pub token: NewToken,
}

/// What became of the try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redeemed {
    /// The code was right; it is used up and the token is stored.
    SignedIn {
        /// The customer of the contact.
        counterparty_id: CounterpartyId,
        /// The stored token.
        token_id: TokenId,
    },
    /// The code was wrong; one try less is left.
    WrongCode,
    /// No code was requested, or it was used, expired or tried too often.
    NoLiveCode,
    /// No customer of the project has this contact.
    UnknownContact,
}
