//! Login with a contact signed by a messenger.
//!
//! A mini-app runs inside a messenger. When its user shares their contact, the messenger signs the phone with the
//! secret token of the application's bot. The signature proves that the phone belongs to the user, so no code is
//! needed.

mod contact;
mod login;
mod proof;
mod registry;

pub use contact::{ContactHash, InitData, InvalidField, SignedAt, SignedContact, SignedPhone};
pub use login::MiniAppLogin;
pub use proof::{ProofError, Verifier};
pub use registry::MiniAppRegistry;

use std::fmt;

use kontor_kernel::{ExposeSecret, SecretCipher, SecretString, UnsealError};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Messenger with mini-apps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum MiniAppProvider {
    /// MAX, which signs the contacts that its users share.
    Max,
    /// Telegram, whose mini-apps get no proof of who owns a phone.
    Telegram,
}

impl MiniAppProvider {
    /// Returns `true` if its contacts prove who owns a phone.
    pub const fn signs_contacts(self) -> bool {
        matches!(self, Self::Max)
    }
}

/// Token of the bot behind a mini-app: the key of the messenger's signatures.
pub struct BotToken(SecretString);

/// Error: the text cannot be a bot token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bot token must be one word of at most 500 characters")]
pub struct InvalidBotToken;

impl BotToken {
    /// Maximum length, in bytes.
    pub const MAX: usize = 500;

    /// Trims white space, such as the line break at the end of a file, and checks the text.
    pub fn parse(text: &str) -> Result<Self, InvalidBotToken> {
        let text = text.trim();
        let word = (1..=Self::MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if word { Ok(Self(text.into())) } else { Err(InvalidBotToken) }
    }

    /// Returns the sealed form for storage.
    pub fn seal(&self, cipher: &dyn SecretCipher) -> String {
        cipher.seal(&self.0)
    }

    /// Opens the stored form.
    pub fn open(sealed: &str, cipher: &dyn SecretCipher) -> Result<Self, UnsealError> {
        cipher.open(sealed).map(Self)
    }

    fn bytes(&self) -> &[u8] {
        self.0.expose_secret().as_bytes()
    }
}

impl fmt::Debug for BotToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BotToken(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::Word;

    #[test]
    fn providers_are_known_by_name() {
        assert_eq!(MiniAppProvider::from_word("max"), Some(MiniAppProvider::Max));
        assert_eq!(MiniAppProvider::from_word("telegram"), Some(MiniAppProvider::Telegram));
        assert!(MiniAppProvider::Max.signs_contacts() && !MiniAppProvider::Telegram.signs_contacts());
        for name in ["", "MAX", "vk", "max "] {
            assert_eq!(MiniAppProvider::from_word(name), None, "{name}");
        }
    }

    #[test]
    fn a_token_is_one_word() {
        assert_eq!(BotToken::parse(" 12345:secret\n").unwrap().bytes(), b"12345:secret");
        for text in ["", " \n", "two words", "a\nb", "ключ", &"x".repeat(501)] {
            assert!(BotToken::parse(text).is_err(), "{text}");
        }
        assert!(!format!("{:?}", BotToken::parse("12345:secret").unwrap()).contains("secret"));
    }
}
