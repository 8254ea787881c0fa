use kontor_auth::ports::Hmac;
use kontor_webhooks::ports::Signer;
use ring::hmac;

/// HMAC-SHA256.
#[derive(Debug, Clone, Copy, Default)]
pub struct HmacSigner;

fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message);
    let mut bytes = [0; 32];
    // The tag of SHA-256 has exactly this length.
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

impl Signer for HmacSigner {
    fn hmac_sha256(&self, key: &[u8], message: &[u8]) -> [u8; 32] {
        hmac_sha256(key, message)
    }
}

impl Hmac for HmacSigner {
    fn hmac_sha256(&self, key: &[u8], message: &[u8]) -> [u8; 32] {
        hmac_sha256(key, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 2 of RFC 4231.
    #[test]
    fn it_is_the_standard_function() {
        let mac = hmac_sha256(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(mac[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
        assert_eq!(mac[24..], [0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43]);
    }
}
