use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{ApplicationId, Contact, CounterpartyId, ProjectId, SecretCipher, TokenId};

use super::NewToken;
use crate::ports::SendError;

/// Validity of a one-time code.
pub const CODE_LIFETIME: TimeDelta = TimeDelta::minutes(5);
/// Number of wrong attempts that invalidate a one-time code.
pub const CODE_ATTEMPTS: u16 = 5;
/// Number of digits of codes that the service generates: those of e-mails and SMS.
pub(crate) const OWN_DIGITS: usize = 6;

/// Returns the stored form of a code, bound to the contact it was sent to.
pub(crate) fn fingerprint(cipher: &dyn SecretCipher, project: ProjectId, contact: &Contact, code: &str) -> String {
    cipher.keyed_fingerprint(&format!("one-time-code:{project}:{contact}"), code)
}

/// Checks a code reported by the provider: 4 to 10 digits.
pub(crate) fn checked(sent: String) -> Result<String, SendError> {
    if (4..=10).contains(&sent.len()) && sent.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(sent)
    } else {
        Err(SendError::Unavailable("the code is not 4 to 10 digits".to_owned()))
    }
}

/// Code that was sent and can be redeemed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCode {
    /// Keyed fingerprint of the code.
    pub fingerprint: String,
    /// Number of wrong attempts that invalidate it.
    pub attempts: u16,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
}

/// Attempt to redeem a code for a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRedemption {
    /// Project of the calling application.
    pub project_id: ProjectId,
    /// Calling application, to which the token will belong.
    pub application_id: ApplicationId,
    /// Contact to which the code was sent.
    pub contact: Contact,
    /// Keyed fingerprint of the entered code.
    pub fingerprint: String,
    /// Token to store if the code is right; its creation time is the time of the attempt.
    pub token: NewToken,
}

/// Outcome of redeeming a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedeemOutcome {
    /// The code was right; it is used up and the token is stored.
    SignedIn {
        /// Customer of the contact.
        counterparty_id: CounterpartyId,
        /// Identifier of the stored token.
        token_id: TokenId,
    },
    /// Wrong code; the number of remaining attempts is reduced.
    WrongCode,
    /// No valid code: it was not requested, was used, has expired or has no attempts left.
    NoValidCode,
    /// No customer of the project has this contact.
    UnknownContact,
}
