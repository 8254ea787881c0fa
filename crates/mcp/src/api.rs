//! Port to the API of the service.

use actix_web::http::{Method, StatusCode};
use bytes::Bytes;
use serde_json::Value;

/// Request to the API, made with the token of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiRequest {
    /// Method.
    pub method: Method,
    /// Path and query string.
    pub path: String,
    /// Headers.
    pub headers: Headers,
    /// Body, if the operation has one.
    pub body: Option<ApiBody>,
    /// `true` to get the response without the effect.
    pub is_rehearsal: bool,
}

/// Headers of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers {
    /// Value of `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// Value of `Preview-Hash`.
    pub preview_hash: Option<String>,
    /// Value of `If-Match`.
    pub if_match: Option<String>,
}

/// Body of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiBody {
    /// Value of the header `Content-Type`.
    pub content_type: String,
    /// Content.
    pub bytes: Bytes,
}

impl ApiRequest {
    /// Creates a request that reads a path.
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), headers: Headers::default(), body: None, is_rehearsal: false }
    }
}

/// Response of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiAnswer {
    /// Status.
    pub status: StatusCode,
    /// Seconds to wait before the next attempt.
    pub retry_after: Option<u64>,
    /// Value of the header `ETag`: version of the record.
    pub etag: Option<String>,
    /// JSON body; `null` without one.
    pub body: Value,
}

/// API of the service, called as the agent.
pub trait Api {
    /// Makes a request. Failures without a response are answers, too: `503` or `504`.
    fn call(&self, request: ApiRequest) -> impl Future<Output = ApiAnswer>;
}
