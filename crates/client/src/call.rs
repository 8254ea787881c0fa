//! A call of one operation.

use std::pin::Pin;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use reqwest::header::ETAG;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, header};
use crate::transport::{Body, Request, Transport};

/// A call of one operation. It is sent when it is awaited.
///
/// Writes have an idempotency key: a random UUID, unless the caller gives one.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<T> {
    transport: Transport,
    request: Result<Request, Error>,
    read: fn(&[u8]) -> Result<T, serde_json::Error>,
}

/// Response with its headers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer<T> {
    /// Body.
    pub body: T,
    /// HTTP status, such as `202` for a payment with unknown outcome.
    pub status: u16,
    /// Version of the record, for [`Call::if_match`].
    pub etag: Option<String>,
    /// `true` if the service returned the stored answer of an earlier request with the same key.
    pub replayed: bool,
    /// Identifier of the request in the log of the service.
    pub request_id: Option<String>,
}

impl<T: DeserializeOwned> Call<T> {
    pub(crate) fn new(transport: Transport, method: Method, path: &str) -> Self {
        let reads = method == Method::GET || method == Method::HEAD;
        let request = checked(path).map(|path| Request {
            key: if reads { None } else { new_key() },
            method,
            path,
            query: Vec::new(),
            body: None,
            if_match: None,
            reads,
            as_backend: false,
        });
        Self { transport, request, read: from_json }
    }

    /// Reads the body as a file.
    pub fn file(self) -> Call<Vec<u8>> {
        Call { transport: self.transport, request: self.request, read: |body| Ok(body.to_vec()) }
    }
}

impl<T> Call<T> {
    /// Sends this key. Use the same key to repeat a write that an earlier process may have sent.
    pub fn idempotency_key(self, key: impl Into<String>) -> Self {
        self.change(|request| request.key = Some(key.into()))
    }

    /// Sends no idempotency key. A write is then sent once only.
    pub fn without_idempotency_key(self) -> Self {
        self.change(|request| request.key = None)
    }

    /// Returns the idempotency key that will be sent.
    pub fn key(&self) -> Option<&str> {
        self.request.as_ref().ok().and_then(|request| request.key.as_deref())
    }

    /// Changes the record only if it still has this version.
    pub fn if_match(self, etag: impl Into<String>) -> Self {
        self.change(|request| request.if_match = Some(etag.into()))
    }

    /// Sends a body as JSON.
    pub fn json(mut self, body: &(impl Serialize + ?Sized)) -> Self {
        match serde_json::to_vec(body) {
            Ok(json) => self.change(|request| request.body = Some(Body::Json(json))),
            Err(error) => {
                self.request = Err(Error::Invalid(error.to_string()));
                self
            }
        }
    }

    /// Sends the fields of a struct as query string.
    pub fn query(self, query: &impl Serialize) -> Self {
        self.pairs(query, |request, pairs| request.query = pairs)
    }

    pub(crate) fn form(self, body: &impl Serialize) -> Self {
        self.pairs(body, |request, pairs| request.body = Some(Body::Form(pairs)))
    }

    /// Marks a `POST` that changes nothing.
    pub(crate) fn reads(self) -> Self {
        self.change(|request| {
            request.key = None;
            request.reads = true;
        })
    }

    pub(crate) fn by_backend(self) -> Self {
        self.change(|request| request.as_backend = true)
    }

    fn pairs(mut self, fields: &impl Serialize, put: impl FnOnce(&mut Request, Vec<(String, String)>)) -> Self {
        match serde_json::to_value(fields) {
            Ok(fields) => self.change(|request| put(request, pairs(fields))),
            Err(error) => {
                self.request = Err(Error::Invalid(error.to_string()));
                self
            }
        }
    }

    fn change(mut self, change: impl FnOnce(&mut Request)) -> Self {
        if let Ok(request) = &mut self.request {
            change(request);
        }
        self
    }

    /// Sends the call and returns the response with its headers.
    pub async fn send(self) -> Result<Answer<T>, Error> {
        let request = self.request?;
        let received = self.transport.exchange(&request).await?;
        let body = (self.read)(&received.body).map_err(|error| Error::Unreadable {
            status: received.status,
            reason: error.to_string(),
            key: request.key,
        })?;
        Ok(Answer {
            body,
            status: received.status,
            etag: header(&received.headers, ETAG.as_str()),
            replayed: header(&received.headers, "idempotent-replayed").is_some(),
            request_id: header(&received.headers, "x-request-id"),
        })
    }
}

impl<T: Send + 'static> IntoFuture for Call<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.send().await?.body) })
    }
}

fn from_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(body)
}

/// Returns the fields of an object as pairs. Lists are repeated, `null` is left out.
fn pairs(fields: Value) -> Vec<(String, String)> {
    let Value::Object(fields) = fields else { return Vec::new() };
    let mut pairs = Vec::new();
    for (name, value) in fields {
        let values = if let Value::Array(values) = value { values } else { vec![value] };
        let texts = values.into_iter().filter(|value| !value.is_null()).map(|value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        });
        pairs.extend(texts.map(|text| (name.clone(), text)));
    }
    pairs
}

/// Returns a new idempotency key; `None` if the system has no random numbers.
#[expect(clippy::disallowed_methods, reason = "a client has no ports")]
fn new_key() -> Option<String> {
    let mut bytes = [0_u8; 16];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes).ok()?;
    Some(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string())
}

/// Returns a path that stays as it is written. Parsers of URLs remove the segments `.` and `..`, escaped ones, too, and
/// read `\` as `/`; they ignore tabs, line breaks and spaces at the end.
fn checked(path: &str) -> Result<String, Error> {
    let written = path.split(['?', '#']).next().unwrap_or_default();
    let mut segments = written.split('/').map(|segment| segment.to_ascii_lowercase().replace("%2e", "."));
    let climbs = segments.any(|segment| segment == "." || segment == "..");
    if path.starts_with('/') && !climbs && !written.contains(|sign: char| sign <= ' ' || sign == '\\') {
        return Ok(path.to_owned());
    }
    let rule = "the path must begin with `/` and have no segment `.` or `..`, space or `\\`";
    Err(Error::Invalid(format!("{path:?}: {rule}")))
}

/// Returns a text as one segment of a path. [`Call::new`] refuses `.` and `..`, which cannot be escaped.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_as_it_is_written() {
        for path in ["/", "/api/tasks?from=../x", "/api/a.b/...", "/api/%2Ea", "//other.example/x"] {
            assert_eq!(checked(path).unwrap(), path);
        }
        for path in [
            "",
            "api",
            "@other.example/",
            ".other.example/",
            "/api/../x",
            "/api/.?page=1",
            "/api/..#x",
            "/api/%2e%2E/x",
            "/api/.%2e",
            "/api\\..\\x",
            "/api/.\t./x",
            "/api/.. ",
        ] {
            assert!(matches!(checked(path), Err(Error::Invalid(_))), "{path}");
        }
    }

    #[test]
    fn a_segment_adds_no_other() {
        assert_eq!(segment("a/../b"), "a%2F%2E%2E%2Fb");
        for text in [".", ".."] {
            assert!(checked(&format!("/api/pages/{}", segment(text))).is_err(), "{text}");
        }
    }
}
