//! Stand-ins for unit tests of business rules, behind the feature `mocks`.

use crate::{Permission, ProjectId, Random, SecretCipher, SecretString, Staff, TokenId, Unsealable, UserId};

/// A source of bytes that are anything but random: each byte is one more than the one before.
pub struct CountingRandom(std::sync::atomic::AtomicU8);

impl CountingRandom {
    /// Starts at zero.
    pub const fn new() -> Self {
        Self(std::sync::atomic::AtomicU8::new(0))
    }
}

impl Default for CountingRandom {
    fn default() -> Self {
        Self::new()
    }
}

impl Random for CountingRandom {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

/// Keeps secrets in plain sight, so that a test can see what was stored.
pub struct PlainCipher;

impl SecretCipher for PlainCipher {
    fn fingerprint(&self, secret: &str) -> String {
        format!("plain:{secret}")
    }

    fn keyed_fingerprint(&self, context: &str, secret: &str) -> String {
        format!("plain:{context}:{secret}")
    }

    fn same(&self, left: &str, right: &str) -> bool {
        left == right
    }

    fn seal(&self, secret: &SecretString) -> String {
        format!("sealed:{}", crate::ExposeSecret::expose_secret(secret))
    }

    fn open(&self, sealed: &str) -> Result<SecretString, Unsealable> {
        sealed.strip_prefix("sealed:").map(SecretString::from).ok_or(Unsealable)
    }
}

/// An employee of project 1 with these permissions.
///
/// # Panics
/// Never: the identifiers are valid.
#[expect(clippy::expect_used, reason = "constant identifiers")]
pub fn staff_with(permissions: impl IntoIterator<Item = Permission>) -> Staff {
    Staff {
        project_id: ProjectId::new(1).expect("valid"),
        user_id: UserId::new(1).expect("valid"),
        token_id: TokenId::new(1).expect("valid"),
        permissions: permissions.into_iter().collect(),
    }
}
