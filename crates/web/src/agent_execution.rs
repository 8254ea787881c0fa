//! Execution of approved calls of agents.
//!
//! An approved call is a request of this process to its own API, made for the agent's token. So its permissions, the
//! policy and the limits are checked again. It has the idempotency key of the proposal: effect, key and result are one
//! commit, and however often it is continued after a crash, it is carried out at most once.

use actix_web::http::Method;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, IF_MATCH};
use bytes::Bytes;
use kontor_auth::model::{AgentAction, AgentResult, canonical};
use kontor_auth::{AgentActionService, AgentResponse};
use serde_json::Value;

use super::ApiError;
use super::idempotency::{KEY, REPLAYED};
use super::in_process::{InProcess, InProcessCall, InProcessCaller, InProcessResponse};

/// Builds exactly the request that was approved: body, key and version.
fn request(action: &AgentAction) -> Result<InProcessCall, ApiError> {
    let (proposal, call) = (&action.proposal, &action.proposal.call);
    let value = |text: &str| HeaderValue::from_str(text).map_err(|error| ApiError::internal(&error));
    let mut headers = HeaderMap::new();
    headers.insert(KEY, value(&proposal.key())?);
    if let Some(tag) = &call.if_match {
        headers.insert(IF_MATCH, value(tag)?);
    }
    let body = call.body.as_ref().map(canonical).unwrap_or_default();
    if !body.is_empty() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    Ok(InProcessCall {
        caller: InProcessCaller::Token(proposal.token_id),
        channel: proposal.channel,
        approval: Some(proposal.public_id),
        is_rehearsal: false,
        method: Method::from_bytes(call.method.as_bytes()).map_err(|error| ApiError::internal(&error))?,
        path: if call.query.is_empty() { call.path.clone() } else { format!("{}?{}", call.path, call.query) },
        headers,
        body: Bytes::from(body),
        address: None,
    })
}

/// Reads the outcome from a response.
fn outcome(response: &InProcessResponse) -> AgentResponse {
    let parsed: Option<Value> = serde_json::from_slice(&response.body).ok();
    let code = parsed.as_ref().and_then(|body| body.pointer("/error/code")).and_then(Value::as_str);
    let result = AgentResult {
        status: response.status.as_u16(),
        code: code.map(str::to_owned),
        body: parsed.is_some().then(|| String::from_utf8_lossy(&response.body).into_owned()),
    };
    AgentResponse { result, is_replayed: response.headers.contains_key(REPLAYED) }
}

/// Makes the request. A later attempt that fails is made once more: an earlier one may have had its effect after this one
/// looked up the key, and have caused the failure. Then the key is found now.
async fn attempt(in_process: &InProcess, call: InProcessCall, is_first: bool) -> Result<InProcessResponse, ApiError> {
    let response = in_process.call(call.clone()).await?;
    let is_final = is_first || !response.status.is_client_error() || response.headers.contains_key(REPLAYED);
    if is_final { Ok(response) } else { in_process.call(call).await }
}

/// Executes or continues an approved call and stores the result. Without a response the call stays approved, and the
/// worker continues it after its lease.
pub async fn execute(
    in_process: &InProcess,
    service: &AgentActionService,
    action: AgentAction,
) -> Result<(), ApiError> {
    let public_id = action.proposal.public_id;
    let is_first = action.execution.as_ref().is_none_or(|execution| execution.attempts <= 1);
    match attempt(in_process, request(&action)?, is_first).await {
        Ok(response) => Ok(service.finish(&action, outcome(&response)).await?),
        Err(error) => {
            tracing::warn!(?error, %public_id, "an approved call of an agent has no response yet; it is continued");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use actix_web::http::StatusCode;
    use actix_web::web::{self, Data};
    use actix_web::{App, HttpResponse};
    use kontor_auth::model::Channel;
    use kontor_kernel::TokenId;

    /// Fails once because of the effect of an earlier attempt.
    async fn overtaken(count: Data<AtomicU32>) -> HttpResponse {
        let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
        if is_first { HttpResponse::PreconditionFailed().finish() } else { HttpResponse::Created().finish() }
    }

    #[tokio::test]
    async fn a_later_attempt_that_fails_looks_up_the_key_again() {
        for (is_first, expected) in [(true, StatusCode::PRECONDITION_FAILED), (false, StatusCode::CREATED)] {
            let (sender, queue) = InProcess::channel();
            let application =
                || App::new().app_data(Data::new(AtomicU32::new(0))).route("/", web::post().to(overtaken));
            let thread = queue.serve(application).unwrap();
            let call = InProcessCall {
                caller: InProcessCaller::Token(TokenId::new(7).unwrap()),
                channel: Channel::Api,
                approval: None,
                is_rehearsal: false,
                method: Method::POST,
                path: "/".to_owned(),
                headers: HeaderMap::new(),
                body: Bytes::new(),
                address: None,
            };
            assert_eq!(attempt(&sender, call, is_first).await.unwrap().status, expected);
            thread.stop().await;
        }
    }

    #[test]
    fn the_outcome_names_the_code_of_a_refusal() {
        let response = |status, body: &'static str, replayed: bool| {
            let mut headers = HeaderMap::new();
            if replayed {
                headers.insert(REPLAYED, HeaderValue::from_static("true"));
            }
            outcome(&InProcessResponse { status, headers, body: Bytes::from_static(body.as_bytes()) })
        };
        let refused = response(StatusCode::PRECONDITION_FAILED, r#"{"error": {"code": "precondition_failed"}}"#, false);
        assert_eq!((refused.result.status, refused.result.code.as_deref()), (412, Some("precondition_failed")));
        assert!(!refused.is_replayed && refused.result.body.is_some());
        let done = response(StatusCode::CREATED, r#"{"brand": {}}"#, true);
        assert_eq!((done.result.code, done.is_replayed), (None, true));
        assert_eq!(response(StatusCode::OK, "no JSON", false).result.body, None);
    }
}
