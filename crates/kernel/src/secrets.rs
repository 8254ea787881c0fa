//! Protection of secrets, as a port.

use crate::SecretString;

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
