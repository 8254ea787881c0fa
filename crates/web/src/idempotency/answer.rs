//! Stored responses that can be replayed, and their encryption.

use std::sync::Arc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LOCATION};
use actix_web::{HttpMessage, HttpResponse};
use bytes::Bytes;
use kontor_kernel::Random;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf;

use super::{EXPIRES, REPLAYED};
use crate::ApiError;
use crate::request_id::RequestId;

/// Maximum size of a stored body, in bytes. The content of a longer response can be read again.
const MAX_BODY_BYTES: usize = 256 << 10;
/// Headers stored with a response.
const HEADERS: [HeaderName; 3] = [CONTENT_TYPE, LOCATION, ETAG];

/// Stored response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredAnswer {
    status: StatusCode,
    /// Values in the order of [`HEADERS`].
    headers: [Option<HeaderValue>; 3],
    body: Bytes,
}

impl StoredAnswer {
    /// Returns the same response, marked as replayed.
    pub fn replayed(&self, end: HeaderValue) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        for (name, value) in HEADERS.into_iter().zip(&self.headers) {
            if let Some(value) = value {
                response.insert_header((name, value.clone()));
            }
        }
        response.insert_header((REPLAYED, "true")).insert_header((EXPIRES, end));
        response.body(self.body.clone())
    }

    /// Encodes as bytes: status, one line for each header, the body.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.status.as_str().as_bytes().to_vec();
        for value in &self.headers {
            bytes.push(b'\n');
            bytes.extend(value.as_ref().map(HeaderValue::as_bytes).unwrap_or_default());
        }
        bytes.push(b'\n');
        bytes.extend(&self.body);
        bytes
    }

    /// Decodes the bytes of [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut parts = bytes.splitn(2 + HEADERS.len(), |byte| *byte == b'\n');
        let status = StatusCode::from_bytes(parts.next()?).ok()?;
        let mut header = || {
            let value = parts.next()?;
            (!value.is_empty()).then(|| HeaderValue::from_bytes(value).ok()).flatten()
        };
        let headers = [header(), header(), header()];
        Some(Self { status, headers, body: Bytes::copy_from_slice(parts.next()?) })
    }
}

/// Copies a response for storage. A streamed response, or one that is too long, is not stored.
pub(super) fn capture<B: MessageBody + 'static>(
    response: ServiceResponse<B>,
) -> (ServiceResponse<BoxBody>, Option<StoredAnswer>) {
    let (request, response) = response.into_parts();
    let (response, body) = response.into_parts();
    let body = match body.try_into_bytes() {
        Ok(body) => body,
        Err(body) => return (ServiceResponse::new(request, response.set_body(BoxBody::new(body))), None),
    };
    // A structured refusal gets its request id only when it leaves the server, so the stored copy needs it here.
    let named = match response.error().and_then(|error| error.as_error::<ApiError>()) {
        Some(ApiError::Named(named)) => {
            let extensions = request.extensions();
            let id = extensions.get::<RequestId>().map(|id| id.0.as_str());
            Some(Bytes::from(named.body(id).to_string()))
        }
        _ => None,
    };
    let answer = StoredAnswer {
        status: response.status(),
        headers: HEADERS.map(|name| response.headers().get(name).cloned()),
        body: named.unwrap_or_else(|| body.clone()),
    };
    let answer = Some(answer).filter(|answer| answer.body.len() <= MAX_BODY_BYTES);
    (ServiceResponse::new(request, response.set_body(BoxBody::new(body))), answer)
}

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
    fn stored_values_read_back() {
        let body = Bytes::from_static(b"{\"a\":\n\n1}");
        let json = HeaderValue::from_static("application/json");
        for headers in [[None, None, None], [Some(json.clone()), None, Some(HeaderValue::from_static("\"brand-1-2\""))]]
        {
            let answer = StoredAnswer { status: StatusCode::CREATED, headers, body: body.clone() };
            assert_eq!(StoredAnswer::from_bytes(&answer.to_bytes()).unwrap(), answer);
        }
        assert!(StoredAnswer::from_bytes(b"201\n\n").is_none());
    }

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
