//! Calls of agents that need approval: their wire form, and the execution of approved ones.
//!
//! An approved call is a request of this process to its own API, made for the agent's token. So its permissions, the
//! policy and the limits are checked again. It has the idempotency key of the proposal: effect, key and result are one
//! commit, and however often it is continued after a crash, it is carried out at most once.

use actix_web::http::Method;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, IF_MATCH};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use kontor_auth::model::{AgentAction, AgentCall, AgentResult, Reason, canonical};
use kontor_auth::{AgentActionService, AgentResponse, ShownAgentAction};
use kontor_kernel::Word;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::ApiError;
use super::envelope::one;
use super::idempotency::{KEY, REPLAYED};
use super::in_process::{InProcess, InProcessCall, InProcessCaller, InProcessResponse};

/// Arguments of a call.
#[derive(Serialize, ToSchema)]
pub struct AgentCallArguments {
    /// Query string, without the question mark.
    query: String,
    /// JSON text of the body, with the keys of objects in order. `null` if there is no body.
    body: Option<String>,
    /// Version of the record that the call is bound to: it fails if the record has changed.
    if_match: Option<String>,
    /// Hash of the preview that the agent has seen, from its header `Preview-Hash`.
    preview_hash: Option<String>,
}

impl From<AgentCall> for AgentCallArguments {
    fn from(call: AgentCall) -> Self {
        let body = call.body.as_ref().map(canonical);
        Self { query: call.query, body, if_match: call.if_match, preview_hash: call.preview_hash }
    }
}

/// Call of an agent.
#[derive(Serialize, ToSchema)]
pub struct AgentActionRecord {
    /// Id of the call, used in paths.
    #[serde(rename = "publicId")]
    public_id: Uuid,
    /// Id of the agent.
    agent_id: i64,
    /// `api` or `mcp`.
    channel: &'static str,
    /// `true` if the policy demanded approval, `false` for a call that was executed or refused at once.
    needs_approval: bool,
    /// `proposed`, `approved`, `refused`, `expired`, `executed`, `failed` or `reported`.
    state: &'static str,
    /// Method and path template of the operation.
    #[schema(examples("PUT /api/inventories/{id}"))]
    operation: String,
    /// `write`, `money` or `destructive`.
    class: &'static str,
    /// Path of the call.
    path: String,
    /// SHA-256 of the call in lower hex: method, path, query, body and headers.
    arguments_hash: String,
    /// `null` for callers without the permission `approve-agent-actions`, except for the agent itself, and for calls
    /// that needed no approval.
    arguments: Option<AgentCallArguments>,
    /// Version of the policy that decided.
    policy_version: i64,
    proposed_at: DateTime<Utc>,
    /// End of the time for approval.
    expires_at: DateTime<Utc>,
    /// Id of the employee who approved or refused the call.
    decided_by: Option<i64>,
    decided_at: Option<DateTime<Utc>>,
    /// Reason of a refusal.
    reason: Option<String>,
    /// Number of times that the execution was begun. For a failure that needed no approval: the number of failures that
    /// this entry counts, if the agent has more than 200 within an hour.
    attempts: i32,
    started_at: Option<DateTime<Utc>>,
    finished_at: Option<DateTime<Utc>>,
    /// Time from the beginning to the end of the execution, in milliseconds.
    duration_ms: Option<i64>,
    /// HTTP status of the response to the executed call.
    status_code: Option<u16>,
    /// Code of the error, if the call failed with one.
    error_code: Option<String>,
    /// JSON text of the response, if it is shorter than 256 KiB. Shown to the same callers as `arguments`.
    result: Option<String>,
    /// Time at which the agent got the result.
    reported_at: Option<DateTime<Utc>>,
}

impl From<ShownAgentAction> for AgentActionRecord {
    fn from(shown: ShownAgentAction) -> Self {
        let ShownAgentAction { action, state, shows_arguments } = shown;
        let (proposal, execution, decision) = (action.proposal, action.execution, action.decision);
        let attempts = execution.as_ref().map_or(0, |execution| execution.attempts);
        let started_at = execution.as_ref().map(|execution| execution.started_at);
        let (finished_at, result) = execution.and_then(|execution| execution.finished).unzip();
        let duration = started_at.zip(finished_at).map(|(start, end)| end - start);
        let shows_call = shows_arguments && proposal.needs_approval;
        Self {
            public_id: proposal.public_id,
            agent_id: proposal.agent_id.get(),
            channel: proposal.channel.word(),
            needs_approval: proposal.needs_approval,
            state: state.word(),
            operation: proposal.call.operation(),
            class: proposal.class.word(),
            path: proposal.call.path.clone(),
            arguments_hash: proposal.arguments_hash,
            arguments: shows_call.then(|| proposal.call.into()),
            policy_version: proposal.policy_version,
            proposed_at: proposal.proposed_at,
            expires_at: proposal.expires_at,
            decided_by: decision.as_ref().map(|decision| decision.by.get()),
            decided_at: decision.as_ref().map(|decision| decision.at),
            reason: decision.and_then(|decision| decision.reason).as_ref().map(Reason::as_str).map(str::to_owned),
            attempts,
            started_at,
            finished_at,
            duration_ms: duration.map(|duration| duration.num_milliseconds()),
            status_code: result.as_ref().map(|result| result.status),
            error_code: result.as_ref().and_then(|result| result.code.clone()),
            result: result.and_then(|result| result.body).filter(|_| shows_arguments),
            reported_at: action.reported_at,
        }
    }
}

one!(
    /// A call of an agent.
    pub AgentActionResponse { agent_action: AgentActionRecord }
);

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
