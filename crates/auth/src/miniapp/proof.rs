//! Verification of contacts signed by a messenger, and parsing of the launch data of a mini-app.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{SecretCipher, hex};

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

/// Pairs of a text such as `auth_date=1771409719&user=%7B...%7D&hash=...`, decoded once.
pub(super) struct LaunchData {
    pairs: BTreeMap<String, String>,
    hash: String,
}

impl LaunchData {
    /// Splits at `&`, and each pair at its first `=`. Returns `None` for a text that no messenger produces: a pair
    /// without `=`, a duplicate key, invalid encoding, a line break, `=` in a key, or no hash.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut pairs = BTreeMap::new();
        for pair in text.split('&') {
            let (key, value) = pair.split_once('=')?;
            let (key, value) = (decode(key)?, decode(value)?);
            // Otherwise other pairs would have the same signed message.
            let is_ambiguous = key.contains(['=', '\n']) || value.contains('\n');
            if is_ambiguous || pairs.insert(key, value).is_some() {
                return None;
            }
        }
        let hash = pairs.remove("hash")?;
        Some(Self { pairs, hash })
    }

    /// Returns the signature in lower case.
    pub(super) fn hash(&self) -> String {
        self.hash.to_ascii_lowercase()
    }

    /// Returns the signed message: lines `key=value`, sorted by key.
    pub(super) fn message(&self) -> String {
        let lines: Vec<String> = self.pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
        lines.join("\n")
    }

    /// Returns the time of the signature.
    pub(super) fn auth_date(&self) -> Option<&str> {
        self.pairs.get("auth_date").map(String::as_str)
    }

    /// Returns the user identifier from the JSON object `user`.
    pub(super) fn user_id(&self) -> Option<u64> {
        let user: serde_json::Value = serde_json::from_str(self.pairs.get("user")?).ok()?;
        user.get("id")?.as_u64()
    }
}

/// Decodes `%41` and `+` as in a query string.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => digit(rest.next()?)? << 4 | digit(rest.next()?)?,
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_once_and_split_at_the_first_equals_sign() {
        let launch = LaunchData::read("b=https%3A%2F%2Fx.ru%3Fa%3D1%26b&hash=AB&a=x=y%253D+z").unwrap();
        assert_eq!(launch.message(), "a=x=y%3D z\nb=https://x.ru?a=1&b");
        assert_eq!(launch.hash(), "ab");
    }

    #[test]
    fn malformed_launch_data_is_refused() {
        let cases =
            ["", "&", "a=1", "hash", "a=1&hash=x&hash=x", "a=1&a=1&hash=x", "a&hash=x", "a=%zz&hash=x", "a=%4&hash=x"];
        let ambiguous = ["a=1%0Ab=2&hash=x", "a%0Ab=1&hash=x", "a%3D1=2&hash=x"];
        let others = ["a=%ff&hash=x", "a=1&&hash=x", "%68ash=x&hash=x"];
        for text in cases.into_iter().chain(others).chain(ambiguous) {
            assert!(LaunchData::read(text).is_none(), "{text}");
        }
        assert!(LaunchData::read("a=&hash=").is_some());
    }

    #[test]
    fn the_user_is_named_by_a_whole_number() {
        let id = |user: &str| LaunchData::read(&format!("hash=x&user={user}")).unwrap().user_id();
        assert_eq!(id("%7B%22id%22%3A67890%7D"), Some(67_890));
        for user in ["", "{}", "[]", "67890", "{\"id\":\"67890\"}", "{\"id\":1.5}", "{\"id\":-1}", "{\"id\":null}"] {
            assert_eq!(id(user), None, "{user}");
        }
        assert_eq!(LaunchData::read("hash=x").unwrap().user_id(), None);
    }
}
