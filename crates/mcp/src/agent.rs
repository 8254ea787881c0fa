//! API of this process, called as the agent that sent the message.

use std::net::IpAddr;

use actix_web::ResponseError;
use actix_web::body::to_bytes;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, RETRY_AFTER};
use bytes::Bytes;
use kontor_auth::model::Channel;
use kontor_kernel::TokenId;
use kontor_web::agent_gate::PREVIEW_HASH;
use kontor_web::idempotency::KEY;
use kontor_web::in_process::{InProcessCall, InProcessCaller};
use kontor_web::{ApiError, InProcess};
use serde_json::{Value, json};

use crate::api::{Api, ApiAnswer, ApiRequest};

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
