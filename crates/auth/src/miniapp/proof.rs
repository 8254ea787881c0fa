//! Verification of contacts signed by a messenger.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{SecretCipher, hex};

use super::init_data::LaunchData;
use super::{BotToken, SignedAt, SignedContact};
use crate::ports::Hmac;

/// Reason why a contact proves nothing. It is logged and not reported to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The launch data cannot be parsed.
    #[error("the launch data cannot be parsed")]
    InitData,
    /// The launch data is signed with another token, or was changed.
    #[error("the launch data is not signed with the bot token")]
    InitDataSignature,
    /// The launch data has no user or no time.
    #[error("the launch data must have a user and a time")]
    NoUser,
    /// The contact is signed with another token or for another user, or was changed.
    #[error("the contact is not signed with the bot token for this user")]
    ContactSignature,
    /// The launch data or the contact was signed too long ago, or in the future.
    #[error("signed too long ago or in the future")]
    Age,
}

/// Verifies signed contacts as MAX documents it:
/// - the launch data is signed with the HMAC-SHA256 of the bot's token under the key `WebAppData`;
/// - the contact (`authDate`, `phone`, and `userId` of the launch data) is signed with the bot's token itself.
pub struct Verifier {
    hmac: Arc<dyn Hmac>,
    cipher: Arc<dyn SecretCipher>,
    lifetime: TimeDelta,
}

impl Verifier {
    /// Creates a verifier. `lifetime` is the maximum age of either signature.
    pub fn new(hmac: Arc<dyn Hmac>, cipher: Arc<dyn SecretCipher>, lifetime: TimeDelta) -> Self {
        Self { hmac, cipher, lifetime }
    }

    /// Verifies that the user who started the mini-app shared this contact recently.
    pub fn verify(&self, contact: &SignedContact, token: &BotToken, now: DateTime<Utc>) -> Result<(), ProofError> {
        let launch = LaunchData::read(contact.init_data.as_str()).ok_or(ProofError::InitData)?;
        let key = self.hmac.hmac_sha256(b"WebAppData", token.bytes());
        if !self.signed(&key, &launch.message(), &launch.hash()) {
            return Err(ProofError::InitDataSignature);
        }
        let started_at = launch.auth_date().and_then(|digits| SignedAt::parse(digits).ok());
        let (Some(user), Some(started_at)) = (launch.user_id(), started_at) else { return Err(ProofError::NoUser) };

        let (phone, signed_at) = (contact.phone.as_str(), &contact.signed_at);
        let by_bot = |phone: &str| {
            let message = format!("authDate={}\nphone={phone}\nuserId={user}", signed_at.digits());
            self.signed(token.bytes(), &message, contact.hash.as_str())
        };
        // MAX shows phones with the plus and signs them without it.
        if !by_bot(phone) && !phone.strip_prefix('+').is_some_and(by_bot) {
            return Err(ProofError::ContactSignature);
        }
        let fresh = |moment: DateTime<Utc>| (TimeDelta::zero()..=self.lifetime).contains(&(now - moment));
        if fresh(started_at.moment()) && fresh(signed_at.moment()) { Ok(()) } else { Err(ProofError::Age) }
    }

    fn signed(&self, key: &[u8], message: &str, hash: &str) -> bool {
        let expected = hex(&self.hmac.hmac_sha256(key, message.as_bytes()));
        self.cipher.same(&expected, hash)
    }
}
