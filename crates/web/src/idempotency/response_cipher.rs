use std::sync::Arc;

use kontor_kernel::Random;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf;

/// Encrypts a replayable response with a key derived from a secret of the client. The key is not stored, so the sealed
/// bytes and the service key are not enough to decrypt it.
pub struct ResponseCipher {
    key: LessSafeKey,
}

impl ResponseCipher {
    /// Derives the key from the client's secret and from a value that only this service can compute.
    ///
    /// # Panics
    /// Never: every length is a constant that the algorithms accept.
    #[expect(clippy::expect_used, reason = "the lengths are constants that the algorithms accept")]
    pub fn new(ours: &str, secret: &str) -> Self {
        let mut key = [0_u8; 32];
        hkdf::Salt::new(hkdf::HKDF_SHA256, ours.as_bytes())
            .extract(secret.as_bytes())
            .expand(&[b"kontor answer v1"], hkdf::HKDF_SHA256)
            .and_then(|material| material.fill(&mut key))
            .expect("32 bytes are a valid length");
        Self { key: LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("32 bytes are an AES-256 key")) }
    }

    /// Encrypts a response.
    ///
    /// # Panics
    /// Never: responses are short.
    #[expect(clippy::expect_used, reason = "sealing fails only past 64 GiB")]
    pub fn seal(&self, random: &Arc<dyn Random>, mut plain: Vec<u8>) -> Vec<u8> {
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce);
        self.key
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut plain)
            .expect("an answer is short");
        let mut sealed = nonce.to_vec();
        sealed.append(&mut plain);
        sealed
    }

    /// Decrypts data sealed with the same two secrets.
    pub fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, body) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut body = body.to_vec();
        let length = self.key.open_in_place(nonce, Aad::empty(), &mut body).ok()?.len();
        body.truncate(length);
        Some(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::testing::CountingRandom;

    #[test]
    fn only_both_secrets_open_what_was_sealed() {
        let random: Arc<dyn Random> = Arc::new(CountingRandom::new());
        let sealed = ResponseCipher::new("ours", "theirs").seal(&random, b"token".to_vec());
        assert!(!sealed.windows(5).any(|part| part == b"token"));
        assert_eq!(ResponseCipher::new("ours", "theirs").open(&sealed).unwrap(), b"token");
        assert!(ResponseCipher::new("ours", "other").open(&sealed).is_none());
        assert!(ResponseCipher::new("other", "theirs").open(&sealed).is_none());
        assert!(ResponseCipher::new("ours", "theirs").open(&sealed[..7]).is_none());
    }
}
