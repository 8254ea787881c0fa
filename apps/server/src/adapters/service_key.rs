use std::sync::Arc;

use kontor_kernel::{ExposeSecret, Random, SecretCipher, SecretString, UnsealError, hex};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::{digest, hkdf, hmac};
use subtle::ConstantTimeEq as _;

/// Hashes and encrypts secrets with keys derived from the service key.
pub struct ServiceKey {
    sealing: LessSafeKey,
    hashing: hmac::Key,
    random: Arc<dyn Random>,
}

impl ServiceKey {
    /// Derives the keys. Equal service keys can decrypt each other's sealed values.
    ///
    /// # Panics
    /// Never: every length is a constant that the algorithms accept.
    #[expect(clippy::expect_used, reason = "the lengths are constants that the algorithms accept")]
    pub fn new(service_key: &SecretString, random: Arc<dyn Random>) -> Self {
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"kontor service key v1");
        let root = salt.extract(service_key.expose_secret().as_bytes());
        let derive = |purpose: &'static [u8]| {
            let mut key = [0_u8; 32];
            root.expand(&[purpose], hkdf::HKDF_SHA256)
                .and_then(|material| material.fill(&mut key))
                .expect("32 bytes are a valid length");
            key
        };
        let sealing = UnboundKey::new(&AES_256_GCM, &derive(b"sealing")).expect("32 bytes are an AES-256 key");
        let hashing = hmac::Key::new(hmac::HMAC_SHA256, &derive(b"hashing"));
        Self { sealing: LessSafeKey::new(sealing), hashing, random }
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

impl SecretCipher for ServiceKey {
    fn fingerprint(&self, secret: &str) -> String {
        hex(digest::digest(&digest::SHA256, secret.as_bytes()).as_ref())
    }

    fn keyed_fingerprint(&self, context: &str, secret: &str) -> String {
        // The length separates the context from the secret.
        let message = format!("{}:{context}{secret}", context.len());
        hex(hmac::sign(&self.hashing, message.as_bytes()).as_ref())
    }

    fn same(&self, left: &str, right: &str) -> bool {
        left.as_bytes().ct_eq(right.as_bytes()).into()
    }

    #[expect(clippy::expect_used, reason = "sealing fails only past 64 GiB")]
    fn seal(&self, secret: &SecretString) -> String {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce);
        let mut sealed = secret.expose_secret().as_bytes().to_vec();
        self.sealing
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
            .expect("a secret is short");
        format!("v1.{}{}", hex(&nonce), hex(&sealed))
    }

    fn open(&self, sealed: &str) -> Result<SecretString, UnsealError> {
        let mut bytes = sealed.strip_prefix("v1.").and_then(unhex).ok_or(UnsealError)?;
        if bytes.len() < NONCE_LEN {
            return Err(UnsealError);
        }
        let mut body = bytes.split_off(NONCE_LEN);
        let nonce = Nonce::try_assume_unique_for_key(&bytes).map_err(|_| UnsealError)?;
        let secret = self.sealing.open_in_place(nonce, Aad::empty(), &mut body).map_err(|_| UnsealError)?;
        std::str::from_utf8(secret).map(SecretString::from).map_err(|_| UnsealError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::testing::CountingRandom;

    fn key(text: &str) -> ServiceKey {
        ServiceKey::new(&text.into(), Arc::new(CountingRandom::new()))
    }

    #[test]
    fn a_sealed_secret_opens_with_the_same_key_only() {
        let sealed = key("one").seal(&"whsec_x".into());
        assert!(!sealed.contains("whsec"));
        assert_eq!(key("one").open(&sealed).unwrap().expose_secret(), "whsec_x");
        assert!(key("two").open(&sealed).is_err());
        assert!(key("one").open(&sealed.replace("v1.0", "v1.1")).is_err());
        assert!(key("one").open("v1.").is_err());
    }

    #[test]
    fn fingerprints_compare_whole() {
        let cipher = key("one");
        let expected = "2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90";
        assert_eq!(cipher.fingerprint("alice"), expected);
        assert!(cipher.same(expected, &cipher.fingerprint("alice")));
        assert!(!cipher.same(expected, &expected[..63]));
        assert_ne!(cipher.keyed_fingerprint("a", "b"), key("two").keyed_fingerprint("a", "b"));
        assert_ne!(cipher.keyed_fingerprint("ab", "c"), cipher.keyed_fingerprint("a", "bc"));
    }
}
