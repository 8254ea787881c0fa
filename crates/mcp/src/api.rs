//! Port to the API of the service, and its implementation by this process, called as the agent that sent the message.

use std::net::IpAddr;

use actix_web::ResponseError;
use actix_web::body::to_bytes;
use actix_web::http::header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, RETRY_AFTER};
use actix_web::http::{Method, StatusCode};
use bytes::Bytes;
use kontor_auth::model::Channel;
use kontor_kernel::TokenId;
use kontor_web::agent_gate::PREVIEW_HASH;
use kontor_web::idempotency::KEY;
use kontor_web::in_process::{InProcessCall, InProcessCaller};
use kontor_web::{ApiError, InProcess};
use serde_json::{Value, json};

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

/// Agent with its way to the API.
pub struct Agent<'a> {
    /// Sender of requests.
    pub in_process: &'a InProcess,
    /// Token of the agent.
    pub token: TokenId,
    /// Address of the agent, which limits by address count.
    pub address: IpAddr,
}

impl Api for Agent<'_> {
    async fn call(&self, request: ApiRequest) -> ApiAnswer {
        let ApiRequest { method, path, headers: sent, body, is_rehearsal } = request;
        let mut headers = HeaderMap::new();
        for (name, value) in [(KEY, sent.idempotency_key), (PREVIEW_HASH, sent.preview_hash), (IF_MATCH, sent.if_match)]
        {
            let Some(value) = value else { continue };
            let Ok(value) = HeaderValue::from_str(&value) else {
                return refused(
                    "`idempotency_key`, `preview_hash` and `etag` must have visible ASCII characters only.",
                );
            };
            headers.insert(name, value);
        }
        let mut bytes = Bytes::new();
        if let Some(body) = body {
            let Ok(value) = HeaderValue::from_str(&body.content_type) else {
                return refused("The content type is not valid.");
            };
            headers.insert(CONTENT_TYPE, value);
            bytes = body.bytes;
        }
        let call = InProcessCall {
            caller: InProcessCaller::Token(self.token),
            channel: Channel::Mcp,
            approval: None,
            is_rehearsal,
            method,
            path,
            headers,
            body: bytes,
            address: Some(self.address),
        };
        match self.in_process.call(call).await {
            Ok(response) => answer(response.status, &response.headers, &response.body),
            Err(error) => unanswered(&error).await,
        }
    }
}

fn answer(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ApiAnswer {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let retry_after = text(RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
    let etag = text(ETAG).map(str::to_owned);
    ApiAnswer { status, retry_after, etag, body: serde_json::from_slice(body).unwrap_or(Value::Null) }
}

/// Returns the error of a request without a response, as the API shows it.
async fn unanswered(error: &ApiError) -> ApiAnswer {
    let response = error.error_response();
    let (status, headers) = (response.status(), response.headers().clone());
    let body = to_bytes(response.into_body()).await.unwrap_or_default();
    answer(status, &headers, &body)
}

fn refused(message: &str) -> ApiAnswer {
    ApiAnswer { status: StatusCode::BAD_REQUEST, retry_after: None, etag: None, body: json!({ "message": message }) }
}
