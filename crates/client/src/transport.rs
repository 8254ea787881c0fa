//! Requests, and their repetition.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, IF_MATCH};
use reqwest::{Method, RequestBuilder, StatusCode};

use crate::error::{Error, Refusal};
use crate::values::Secret;

/// Repetition of requests that the service did not answer, or answered with `429` or `503`.
///
/// Reads are repeated, and writes with an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Maximum number of requests, the first included.
    pub attempts: u32,
    /// Pause before the second request if the response has no `Retry-After`. It doubles with each further request.
    pub pause: Duration,
    /// Longest pause. If `Retry-After` is longer, the refusal is returned at once.
    pub longest_pause: Duration,
}

impl Retries {
    /// No repetition.
    pub const NONE: Self = Self { attempts: 1, pause: Duration::ZERO, longest_pause: Duration::ZERO };

    /// Returns the pause before the next request, or `None` if the error is final.
    fn pause(&self, attempt: u32, error: &Error) -> Option<Duration> {
        let doubled = self.pause.saturating_mul(1 << (attempt - 1).min(16)).min(self.longest_pause);
        match error {
            // After a timeout of the whole call another attempt would make the caller wait as long again.
            Error::Unreachable { source, .. } => (source.is_connect() || !source.is_timeout()).then_some(doubled),
            Error::Refused(refusal) => {
                let in_progress = refusal.code.as_deref() == Some("idempotency_in_progress");
                let again = in_progress || matches!(refusal.status, 429 | 503);
                again.then(|| refusal.retry_after.unwrap_or(doubled)).filter(|pause| *pause <= self.longest_pause)
            }
            Error::WaitsForApproval { .. } | Error::Unreadable { .. } | Error::Invalid(_) => None,
        }
    }
}

impl Default for Retries {
    fn default() -> Self {
        Self { attempts: 3, pause: Duration::from_millis(200), longest_pause: Duration::from_secs(10) }
    }
}

/// Credentials of a surface.
#[derive(Clone, Default)]
pub(crate) struct Credentials {
    pub app_token: Option<Secret>,
    pub bearer: Option<Secret>,
    pub backend: Option<(String, Secret)>,
}

/// Body of a request.
pub(crate) enum Body {
    Json(Vec<u8>),
    Form(Vec<(String, String)>),
}

/// A request, as often as it is sent.
pub(crate) struct Request {
    pub method: Method,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub body: Option<Body>,
    pub key: Option<String>,
    pub if_match: Option<String>,
    /// `true` if the request changes nothing.
    pub reads: bool,
    /// `true` if it is sent with the credentials of a backend.
    pub as_backend: bool,
}

/// A response with a status of success.
pub(crate) struct Received {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// HTTP client with address and credentials.
#[derive(Clone)]
pub(crate) struct Transport {
    pub http: reqwest::Client,
    pub base: Arc<str>,
    pub timeout: Duration,
    pub retries: Retries,
    pub credentials: Credentials,
}

impl Transport {
    /// Sends a request, again if it is safe and an attempt is left.
    pub async fn exchange(&self, request: &Request) -> Result<Received, Error> {
        let safe = request.reads || request.key.is_some();
        let mut attempt = 1;
        loop {
            let error = match self.send(request).await {
                Ok(received) => return Ok(received),
                Err(error) => error,
            };
            let pause =
                if safe && attempt < self.retries.attempts { self.retries.pause(attempt, &error) } else { None };
            let Some(pause) = pause else { return Err(error) };
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    async fn send(&self, request: &Request) -> Result<Received, Error> {
        let call = self.http.request(request.method.clone(), format!("{}{}", self.base, request.path));
        let mut call = self.authorized(call.timeout(self.timeout), request.as_backend);
        if !request.query.is_empty() {
            call = call.query(&request.query);
        }
        if let Some(key) = &request.key {
            call = call.header("Idempotency-Key", key);
        }
        if let Some(version) = &request.if_match {
            call = call.header(IF_MATCH, version);
        }
        call = match &request.body {
            Some(Body::Json(json)) => call.header(CONTENT_TYPE, "application/json").body(json.clone()),
            Some(Body::Form(pairs)) => call.form(pairs),
            None => call,
        };
        let key = request.key.as_deref();
        let response = call.send().await.map_err(|error| Error::of_http(error, key))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.bytes().await.map_err(|error| Error::of_http(error, key))?.to_vec();
        if status == StatusCode::ACCEPTED
            && let Some(waiting) = Error::waiting(&body, key)
        {
            return Err(waiting);
        }
        if status.is_success() {
            return Ok(Received { status: status.as_u16(), headers, body });
        }
        Err(Error::Refused(Box::new(Refusal::read(status.as_u16(), &headers, &body, key))))
    }

    fn authorized(&self, mut call: RequestBuilder, as_backend: bool) -> RequestBuilder {
        if let (true, Some((id, secret))) = (as_backend, &self.credentials.backend) {
            return call.basic_auth(id, Some(secret.expose()));
        }
        if let Some(token) = &self.credentials.app_token {
            call = call.header("Token", token.expose());
        }
        match &self.credentials.bearer {
            Some(token) => call.bearer_auth(token.expose()),
            None => call,
        }
    }
}
