//! Random bytes and protection of secrets, as ports.

use uuid::Uuid;

use crate::SecretString;

/// Source of unpredictable bytes.
pub trait Random: Send + Sync {
    /// Fills the buffer. An implementation that cannot must not return.
    fn fill(&self, bytes: &mut [u8]);
}

/// Random values derived from the bytes.
impl dyn Random + '_ {
    /// Returns a random (version 4) UUID.
    pub fn uuid(&self) -> Uuid {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// Returns random letters and digits, 5.95 bits each. Bytes that would bias the choice are discarded.
    pub fn alphanumeric(&self, length: usize) -> String {
        const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        self.draw(ALPHABET, length)
    }

    /// Returns random decimal digits.
    pub fn digits(&self, length: usize) -> String {
        self.draw(b"0123456789", length)
    }

    fn draw(&self, alphabet: &[u8], length: usize) -> String {
        let fair = 256 - 256 % alphabet.len();
        let mut text = String::with_capacity(length);
        let mut block = [0; 64];
        while text.len() < length {
            self.fill(&mut block);
            let letters = block.iter().map(|byte| usize::from(*byte)).filter(|value| *value < fair);
            let wanted = length - text.len();
            text.extend(letters.filter_map(|v| alphabet.get(v % alphabet.len())).map(|l| char::from(*l)).take(wanted));
        }
        text
    }
}

/// Error: this key cannot open the sealed value. Another key sealed it, or it was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sealed value cannot be opened with this service key")]
pub struct UnsealError;

/// Hashing, comparing and sealing of secrets.
pub trait SecretCipher: Send + Sync {
    /// Returns the fingerprint of a secret with enough entropy (tokens): SHA-256 in lower hex, 64 characters.
    fn fingerprint(&self, secret: &str) -> String;

    /// Returns the fingerprint of a short secret (one-time codes). It is keyed with the service key and bound to
    /// `context`, so that a stolen table cannot be searched: 64 characters of lower hex.
    fn keyed_fingerprint(&self, context: &str, secret: &str) -> String;

    /// Compares two fingerprints in constant time.
    fn same(&self, left: &str, right: &str) -> bool;

    /// Encrypts a secret that must be read back (signing keys).
    fn seal(&self, secret: &SecretString) -> String;

    /// Decrypts a value sealed by [`SecretCipher::seal`].
    fn open(&self, sealed: &str) -> Result<SecretString, UnsealError>;
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    struct Counting(AtomicU8);

    impl Random for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            for byte in bytes {
                *byte = self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn texts_have_the_asked_length_and_alphabet() {
        let source: &dyn Random = &Counting(AtomicU8::new(200));
        let text = source.alphanumeric(97);
        assert_eq!(text.len(), 97);
        assert!(text.bytes().all(|b| b.is_ascii_alphanumeric()));
        assert!(source.digits(6).bytes().all(|b| b.is_ascii_digit()));
        assert_eq!(source.uuid().get_version_num(), 4);
    }

    #[test]
    fn every_letter_is_equally_likely() {
        let count = |text: &str, letter: char| text.chars().filter(|found| *found == letter).count();
        // Each byte value occurs once; values that would favour the first letters are discarded.
        let source: &dyn Random = &Counting(AtomicU8::new(0));
        let text = source.alphanumeric(248);
        assert!(('0'..='9').chain('A'..='Z').chain('a'..='z').all(|letter| count(&text, letter) == 4), "{text}");
        let source: &dyn Random = &Counting(AtomicU8::new(0));
        let text = source.digits(250);
        assert!(('0'..='9').all(|digit| count(&text, digit) == 25), "{text}");
    }
}
