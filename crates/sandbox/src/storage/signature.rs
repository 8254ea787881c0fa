//! Check of AWS Signature Version 4. The request time is not checked, because the clock of the sandbox can be moved.

use actix_web::HttpRequest;
use actix_web::web::Query;
use kontor_kernel::hex;
use ring::digest::{SHA256, digest};
use ring::hmac::{self, HMAC_SHA256, Key};

use super::Account;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Reason why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureError {
    /// No signature, or an unreadable one.
    Missing,
    /// The access key is unknown.
    UnknownKey,
    /// The request is signed with another key, or the signature is of another request.
    Wrong,
    /// The body is not the one that was signed.
    OtherBody,
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |text, byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => text + &char::from(byte).to_string(),
        byte => text + &format!("%{byte:02X}"),
    })
}

fn header<'a>(call: &'a HttpRequest, name: &str) -> Option<&'a str> {
    call.headers().get(name)?.to_str().ok()
}

/// Returns the value after `name=` among the comma-separated parts of the header.
fn part<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let parts = header.strip_prefix(ALGORITHM)?.split(',');
    parts.map(str::trim).find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

fn canonical_query(call: &HttpRequest) -> Option<String> {
    let pairs = Query::<Vec<(String, String)>>::from_query(call.query_string()).ok()?.into_inner();
    let mut pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.sort_unstable();
    Some(pairs.join("&"))
}

fn canonical_headers(call: &HttpRequest, names: &str) -> String {
    names.split(';').fold(String::new(), |text, name| {
        let values: Vec<String> = call
            .headers()
            .get_all(name)
            .filter_map(|value| value.to_str().ok())
            .map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        text + &format!("{name}:{}\n", values.join(","))
    })
}

/// Checks the signature of a request with this body.
pub fn check(call: &HttpRequest, body: &[u8], account: &Account) -> Result<(), SignatureError> {
    let authorization = header(call, "authorization").ok_or(SignatureError::Missing)?;
    let signed = || {
        let credential = part(authorization, "Credential")?;
        Some((credential, part(authorization, "SignedHeaders")?, part(authorization, "Signature")?))
    };
    let (credential, names, signature) = signed().ok_or(SignatureError::Missing)?;
    let (access_key, scope) = credential.split_once('/').ok_or(SignatureError::Missing)?;
    if access_key != account.access_key {
        return Err(SignatureError::UnknownKey);
    }
    let date = scope.split('/').next().unwrap_or_default();
    let moment = header(call, "x-amz-date").filter(|moment| moment.starts_with(date)).ok_or(SignatureError::Missing)?;
    if scope != format!("{date}/{}/s3/aws4_request", account.region) {
        return Err(SignatureError::Wrong);
    }
    let content = header(call, "x-amz-content-sha256").ok_or(SignatureError::Missing)?;
    let query = canonical_query(call).ok_or(SignatureError::Missing)?;
    let request =
        [call.method().as_str(), call.uri().path(), &query, &canonical_headers(call, names), names, content].join("\n");
    let text = [ALGORITHM, moment, scope, &sha256(request.as_bytes())].join("\n");
    let secret = format!("AWS4{}", account.secret_key);
    let key = scope.split('/').fold(secret.into_bytes(), |key, word| {
        hmac::sign(&Key::new(HMAC_SHA256, &key), word.as_bytes()).as_ref().to_vec()
    });
    if hex(hmac::sign(&Key::new(HMAC_SHA256, &key), text.as_bytes()).as_ref()) != signature {
        return Err(SignatureError::Wrong);
    }
    let same = content == "UNSIGNED-PAYLOAD" || content == sha256(body);
    if same { Ok(()) } else { Err(SignatureError::OtherBody) }
}
